// Files as diffs.

const DIFF_HEAD = /^(diff |index |---|\+\+\+|new |deleted |@@)/;

function folded(title, diff, open = false) {
  const kind = (text) => DIFF_HEAD.test(text) ? "quiet" : { "+": "plus", "-": "minus" }[text[0]];
  const lines = diff.trimEnd().split("\n");
  return el("details", { open }, el("summary", null, `${title} (${many(lines.length, "line")})`),
    el("pre", null, lines.map((text) => el("span", { class: kind(text) }, `${text}\n`))));
}

// Definitions first: they are what both sides are measured by. A single short file needs no fold.
function changedFiles(files) {
  const open = files.length === 1 && files[0].diff.length < 3000;
  const titles = { definition: "Definitions (base’s judge both sides)", watched: "Code under test (each side has its own)" };
  return Object.entries(titles).map(([role, title]) => {
    const found = files.filter((file) => file.role === role);
    return found.length > 0 && [el("h3", null, title), found.map((file) => folded(file.path, file.diff, open))];
  });
}
