// The keyboard: single keys that move through the report, and the dialog that lists them.

const KEYS = [["/", "search"], ["j", "next row"], ["k", "previous row"], ["n", "next failing row; between two trials: next difference"],
  ["Enter", "open the row"], ["?", "this list"], ["Esc", "leave the search, close this list"]];
let keysOn = true; // people who speak to their computer may need to turn single keys off

function showKeys() {
  const dialog = el("dialog", { "aria-labelledby": "keys", close: () => dialog.remove() },
    el("h2", { id: "keys" }, "Keyboard shortcuts"),
    el("dl", { class: "keys" }, KEYS.map(([key, does]) => [el("dt", null, el("kbd", null, key)), el("dd", null, does)])),
    el("p", null, el("label", null, el("input", { type: "checkbox", checked: keysOn, change: (event) => { keysOn = event.target.checked; } }), " Use these keys")),
    el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

// Focuses the row after or before the focused one, in the table of the overview.
function moveInTable(offset) {
  const links = [...document.querySelectorAll(".to-row")];
  const now = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const chosen = links[now < 0 ? (offset > 0 ? 0 : links.length - 1) : now + offset];
  if (chosen) goTo(chosen);
}

function nextFailing() {
  const marks = [...document.querySelectorAll("#divergence, .differs")];
  if (marks.length) {
    const now = marks.findIndex((mark) => mark === document.activeElement);
    const chosen = marks[(now + 1) % marks.length];
    chosen.tabIndex = -1;
    return goTo(chosen);
  }
  const failing = data.rows.filter((row) => !QUIET.includes(row.state));
  const after = failing.find((row) => data.rows.indexOf(row) > data.rows.indexOf(current)) || failing[0];
  if (after) location.hash = after.path;
}

function focusSearch() {
  const field = document.getElementById("search");
  if (field) return field.focus();
  focusNext = "search";
  location.hash = "";
}

const ACTIONS = { "/": focusSearch, "?": showKeys, n: nextFailing,
  j: () => current ? next(1) : moveInTable(1), k: () => current ? next(-1) : moveInTable(-1) };

addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape" && typing) return event.target.blur();
  const action = Object.hasOwn(ACTIONS, event.key) && ACTIONS[event.key];
  if (!action || !keysOn || !data || typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  action();
});
