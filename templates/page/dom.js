"use strict";
// The page is made of elements and texts, never of markup: no data can become a tag, an attribute or a script.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") node.append(child);
  }
  return node;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const data = read("data");
let records = null; // parsed when the first one is asked for: it is most of the file

async function record(id) {
  records ??= read("records");
  if (!Object.hasOwn(records, id)) return null;
  const bytes = Uint8Array.from(atob(records[id]), (character) => character.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text());
}

const many = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
const badge = (state, text) => el("span", { class: `badge ${state}` }, text);
const section = (title, ...children) => el("section", null, el("h2", null, title), ...children);
const list = (lines) => el("ul", null, lines.map((line) => el("li", null, line)));

function table(caption, heads, rows, kind = "stacks") {
  return framed(caption, kind, heads, el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, place) =>
    place === 0 ? el("th", { scope: "row" }, cell) : el("td", { "data-head": heads[place] }, cell))))));
}

// Where a table that "stacks" would be too narrow each row is a block of its own, and `data-head` names its cells.
const framed = (caption, kind, heads, body) => scrolled(caption, el("table", { class: kind }, el("caption", { class: "unseen" }, caption),
  el("thead", null, el("tr", null, heads.map((head) => el("th", { scope: "col" }, head)))), body));

// What is wider than the page scrolls by itself, with the keyboard too.
const scrolled = (label, child) => el("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": label }, child);
