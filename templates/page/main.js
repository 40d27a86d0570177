// Which page the address asks for: `#` or `#?filters`, `#scenario`, `#scenario/agent`, `#scenario/agent/BASE-HEAD`,
// or a trial by its id in result.json: `#head/scenario/agent/1`, beside the trial of the other side that shows most.

function route() {
  const hash = location.hash.slice(1);
  if (hash === "" || hash.startsWith("?")) return [overview(new URLSearchParams(hash.slice(1)))];
  const [name, agent, chosen] = parts(hash);
  const trial = named(hash);
  if (trial) return [compare(...trial), trial[0]];
  const row = data.rows.find((one) => {
    const [scenarioName, agentName] = parts(one.path);
    return scenarioName === name && (agent === undefined || agentName === agent);
  });
  if (!row) return [[el("h1", null, "There is no such page"), el("p", null, el("a", { href: "#" }, "All scenarios"))]];
  const indices = /^(\d+)-(\d+)$/.exec(chosen || "");
  return indices ? [compare(row, { base: Number(indices[1]), head: Number(indices[2]) }), row] : [scenario(row), row];
}

function named(hash) {
  const [side, name, agent, index] = parts(hash);
  const row = data.rows.find((one) => parts(one.path).join("/") === `${name}/${agent}`);
  const found = row && row.trials.find((trial) => trial.side === side && trial.index === Number(index));
  if (!found) return null;
  const [base, head] = pair(row, ...(side === "base" ? [found.index] : [undefined, found.index])).split("/").at(-1).split("-");
  return [row, { base: Number(base), head: Number(head) }];
}

function parts(path) {
  return path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

let latest = 0;
let current; // the row whose page is shown
let focusNext = "main"; // the id of what gets the focus on the next page

async function show(moved) {
  const mine = ++latest;
  const main = document.getElementById("main");
  const [page, row] = route();
  const made = await page;
  if (mine !== latest) return; // a newer page was asked for meanwhile
  current = row;
  fill(main, null, [main.replaceChildren() ?? "", made]);
  document.title = row ? `${row.scenario} × ${row.agent} · ${data.title}` : data.title;
  if (moved) {
    scrollTo(0, 0);
    (document.getElementById(focusNext) || main).focus({ preventScroll: true });
    focusNext = "main";
  }
}

const next = (offset) => {
  const row = data.rows[data.rows.indexOf(current) + offset];
  if (row) location.hash = row.path;
};

async function start() {
  data = await unpacked(raw("data"));
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  fill(document.getElementById("top"), null, [el("nav", { "aria-label": "Report" }, el("a", { href: "#", class: "home" }, "Tidegate"),
    el("button", { type: "button", click: () => next(-1) }, "‹ Previous"), el("button", { type: "button", click: () => next(1) }, "Next ›"),
    el("button", { type: "button", "aria-label": "Keyboard shortcuts", click: showKeys }, "?"))]);
  fill(document.getElementById("bottom"), null, [el("p", { class: "quiet" }, "Made by Tidegate. This file works offline.")]);
  addEventListener("hashchange", () => show(true));
  addEventListener("beforeprint", () => unfoldForPrint(true));
  addEventListener("afterprint", () => unfoldForPrint(false));
  await show(false);
  performance.mark("shown");
}

// On paper nothing is folded; afterwards the folds are as before.
function unfoldForPrint(open) {
  for (const fold of document.querySelectorAll(open ? "details:not([open])" : "details[data-printed]")) {
    fold.open = open;
    fold.toggleAttribute("data-printed", open);
  }
}

start().catch((error) => {
  document.getElementById("main").replaceChildren(el("h1", null, "This report cannot be shown"),
    el("p", null, `The browser reports: ${error.message}. Use a browser of 2023 or later; comment.md and result.json contain the same result.`));
});
