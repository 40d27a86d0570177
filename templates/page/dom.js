"use strict";
// The page is made of elements and texts, never of markup: no data can become a tag, an attribute or a script.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (present(child)) node.append(child);
  }
  return node;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const many = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
const badge = (state, text) => el("span", { class: `badge ${state}` }, text);
const present = (child) => child !== null && child !== undefined && child !== false && child !== "";

// A section without content is left out.
const section = (title, ...children) => {
  const shown = children.flat(Infinity).filter(present);
  return shown.length > 0 && el("section", null, el("h2", null, title), shown);
};

// What stands between backticks on one line is code.
const coded = (text) => text.split(/`([^`\n]+)`/).map((part, place) => place % 2 ? el("code", null, part) : part);

const list = (lines) => el("ul", null, lines.map((line) => el("li", null, line)));

function table(caption, heads, rows, kind = "stacks") {
  return framed(caption, kind, heads, el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, place) =>
    place === 0 ? el("th", { scope: "row" }, cell) : el("td", { "data-head": heads[place] }, cell))))));
}

// Where a table that "stacks" would be too narrow each row is a block of its own, and `data-head` names its cells.
const framed = (caption, kind, heads, body) => scrolled(caption, el("table", { class: kind }, el("caption", { class: "unseen" }, caption),
  el("thead", null, el("tr", null, heads.map((head) => head instanceof Element ? head : el("th", { scope: "col" }, head)))), body));

// What is wider than the page scrolls by itself, with the keyboard too.
const scrolled = (label, child) => el("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": label }, child);

// A button that copies a text.
function copyButton(label, text) {
  if (!text) return null;
  const said = el("span", { "aria-live": "polite", class: "quiet" });
  const copy = () => navigator.clipboard.writeText(text).then(() => "Copied", () => "Not copied: the browser refuses it");
  return [el("button", { type: "button", class: "copy", click: async () => { said.textContent = await copy(); } }, label), said];
}
