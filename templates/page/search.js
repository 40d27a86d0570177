// Search in names, gates and transcripts. Transcripts are opened once the page is shown and the browser has nothing else
// to do, block by block, so that the first search need not wait for them.

let indexing = null; // the promise of `index`
let index = null; // [{ path, id, text, lower }], one a trial

const haystack = (row) => row.haystack ??= [row.scenario, row.agent, row.words, row.reason, row.task, row.evidence?.message, row.evidence?.gate,
  ...row.gates.map((gate) => gate.gate), ...row.causes.map((place) => data.causes[place].says)].join("\n").toLowerCase();

const searchable = (found) => [found.prompt, ...found.steps.flatMap((step) => [step.title, step.text]),
  ...found.calls.flatMap((call) => [call.command, call.message]), ...found.gates.flatMap((gate) => [gate.label, gate.message]), found.diff].join("\n");

function indexed() {
  indexing ??= (async () => {
    blocks ??= JSON.parse(raw("records"));
    const found = [];
    for (const [ids, packed] of blocks) {
      const records = await unpacked(packed);
      for (const id of ids) {
        const text = searchable(records[id]);
        found.push({ path: id.split("/").slice(1, -1).join("/"), id, text, lower: text.toLowerCase() });
      }
    }
    index = found;
    performance.mark("indexed");
  })();
  return indexing;
}

// Rows and trials that have all words: path → trials found in their transcripts, none if the row itself has all words.
function searched(words) {
  const hits = new Map();
  const rows = new Map(data.rows.map((row) => [row.path, haystack(row)]));
  for (const [path, text] of rows) if (words.every((word) => text.includes(word))) hits.set(path, []);
  if (!words.length) return hits;
  for (const trial of index || []) {
    const missing = words.filter((word) => !rows.get(trial.path)?.includes(word));
    if (missing.length && missing.every((word) => trial.lower.includes(word))) {
      if (!hits.has(trial.path)) hits.set(trial.path, []);
      hits.get(trial.path).push({ id: trial.id, excerpt: excerpt(trial, missing[0]) });
    }
  }
  return hits;
}

function excerpt(trial, word) {
  const at = trial.lower.indexOf(word);
  const start = Math.max(trial.text.lastIndexOf("\n", at) + 1, at - 50);
  const end = trial.text.indexOf("\n", at);
  const stop = Math.min(end < 0 ? trial.text.length : end, at + word.length + 60);
  return [trial.text.slice(start, at), el("mark", null, trial.text.slice(at, at + word.length)), trial.text.slice(at + word.length, stop)];
}

function hitLine(hits) {
  if (!hits?.length) return null;
  const [first] = hits;
  const [side, , , number] = first.id.split("/");
  return el("div", { class: "why" }, "in the transcript of ", el("a", { href: `#${first.id}` }, `${side} ${number}`),
    hits.length > 1 && ` and ${many(hits.length - 1, "other trial")}`, ": ", el("span", { class: "first" }, first.excerpt));
}
