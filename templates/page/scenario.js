// The page of one row: why it is what it is, and all its trials.

function scenario(row) {
  const changed = data.changes.filter((file) => !file.scenarios.length || file.scenarios.includes(row.scenario));
  const siblings = data.rows.filter((other) => other.scenario === row.scenario);
  return [
    el("h1", null, row.scenario, el("span", { class: "quiet" }, ` × ${row.agent}`)),
    siblings.length > 1 && el("nav", { "aria-label": "Agents of this scenario" }, siblings.map((other) =>
      el("a", { class: "chip", href: `#${other.path}`, "aria-current": other === row ? "page" : null }, `${other.sign} ${other.agent}`))),
    el("p", { class: "lead" }, badge(row.badge, `${row.sign} ${row.words}`), " ", coded(row.reason)),
    el("p", null, [`base ${row.base}, head ${row.head}`, row.effect_text, ...row.facts].filter(Boolean).join(" · ")),
    row.effect && effectPlot(row.effect, row.effect_text),
    section(row.causes.length > 1 ? "Likely causes" : "Likely cause", row.causes.map((place) => causeCard(data.causes[place]))),
    whatToDo(fixes(row.causes.map((place) => data.causes[place]))),
    section("Task", row.task && el("pre", null, row.task), row.trials.length > 0 && wholePrompt(row)),
    el("p", { class: "tools" }, row.trials.length > 0 && el("a", { class: "action", href: pair(row) }, "Base and head side by side"),
      copyButton("Copy for an agent", row.for_agent), copyButton("Copy reproduce", row.recipe)),
    section("From the merge on", row.definitions.length > 0 && list(row.definitions.map(coded))),
    row.evidence && evidence(row, row.evidence),
    row.judge && section("Judged by a model", judged(row.judge)),
    section("Hints from the metrics", row.diagnosis.length > 0 && list(row.diagnosis.map(coded))),
    section("What this pull request changed", changedFiles(changed)),
    row.trials.length > 0 && section("Trials", trialTable(row)),
    row.gates.length > 0 && section("Gates × trials", gateGrid(row)),
    row.metrics.length > 0 && section("Metrics", metricTable("Metrics on both sides", row.metrics)),
  ];
}

// The prompt as the agent received it. It is part of the transcript, so it is read when it is asked for.
function wholePrompt(row) {
  const text = el("pre", null, "…");
  const read = async (event) => {
    if (!event.target.open || text.textContent !== "…") return;
    const [base, head] = row.pair;
    const found = await record(head ? trialId(row, "head", head) : trialId(row, "base", base));
    text.textContent = found?.prompt || "No prompt is stored with this trial.";
  };
  return el("details", { toggle: read }, el("summary", null, "Whole prompt"), text);
}


// The address of two trials side by side; those that show the row best, unless others are named.
const pair = (row, base = row.pair[0], head = row.pair[1]) => `#${row.path}/${base}-${head}`;

function evidence(row, found) {
  const calls = found.calls.flatMap((call) => [`$ ${call.command}`, ...call.message.split("\n").map((text) => `  ${text}`),
    `  [${call.exit_code === null ? "no exit code" : `exit ${call.exit_code}`}]`]);
  return section("Evidence",
    found.gate && el("p", null, "Failed check: ", el("strong", null, coded(found.gate))),
    found.base_message && [el("p", null, "On base:"), el("pre", null, coded(found.base_message)), el("p", null, "On head:")],
    found.message && el("pre", null, coded(found.message)),
    calls.length > 0 && [el("p", null, "Tool output:"), el("pre", null, calls.join("\n"))],
    row.parting && [el("p", null, `First difference (step ${found.divergence.step}; − base, + head):`),
      el("pre", null, row.parting.split("\n").map((text) => el("span", { class: { "-": "base", "+": "head" }[text[0]] }, `${text}\n`)))],
    (row.recipe || found.reproduce) && [el("p", null, "Reproduce:"), el("pre", null, row.recipe || found.reproduce)],
    found.clears_when && el("p", null, "Clears when ", coded(found.clears_when), "."));
}
