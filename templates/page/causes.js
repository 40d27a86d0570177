// Likely causes: what changed, where, and which lines still use it.

function causeCard(cause, rows = []) {
  return el("div", { class: "cause" },
    el("p", { class: "lead" }, coded(cause.says)),
    cause.where && el("p", null, "Changed in ", el("code", null, cause.where), ":"),
    cause.diff && el("pre", null, cause.diff.split("\n").map((text) => el("span", { class: { "-": "minus", "+": "plus" }[text[0]] }, `${text}\n`))),
    Object.entries(cause.named).map(([place, text]) => el("p", null, "Still used in ", el("code", null, place), text && [": ", el("code", null, text)])),
    rows.length > 0 && el("p", { class: "quiet" }, "Explains ", rows.map((row, place) => [place > 0 && ", ", el("a", { href: `#${row.path}` }, `${row.scenario} × ${row.agent}`)])));
}

const fixes = (causes) => causes.filter((cause) => cause.fix).map((cause) => `To fix: ${cause.fix}`);

const whatToDo = (steps) => section("What to do", steps.length > 1 ? list(steps.map(coded)) : steps.map((text) => el("p", null, coded(text))));

function causesOfAll() {
  const rows = Object.fromEntries(data.rows.map((row) => [row.path, row]));
  const cards = data.causes.map((cause) => causeCard(cause, cause.paths.map((path) => rows[path]).filter(Boolean)));
  return section(cards.length > 1 ? "Likely causes" : "Likely cause", cards);
}
