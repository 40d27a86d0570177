// The page of one row: why it is what it is, and all its trials.

function scenario(row) {
  const changed = data.changes.filter((file) => !file.scenarios.length || file.scenarios.includes(row.scenario));
  const siblings = data.rows.filter((other) => other.scenario === row.scenario);
  return [
    el("h1", null, row.scenario, el("span", { class: "quiet" }, ` × ${row.agent}`)),
    siblings.length > 1 && el("nav", { "aria-label": "Agents of this scenario" }, siblings.map((other) =>
      el("a", { class: "chip", href: `#${other.path}`, "aria-current": other === row ? "page" : null }, `${other.sign} ${other.agent}`))),
    el("p", { class: "lead" }, badge(row.badge, `${row.sign} ${row.words}`), ` ${row.reason}`),
    el("p", null, [`base ${row.base}, head ${row.head}`, row.effect_text, ...row.facts].filter(Boolean).join(" · ")),
    row.task && el("p", null, el("strong", null, "Task: "), row.task),
    row.causes.length > 0 && section("Likely cause", list(row.causes.map(coded))),
    row.effect && effectPlot(row.effect, row.effect_text),
    row.trials.length > 0 && el("p", null, el("a", { class: "action", href: pair(row) }, "Base and head side by side")),
    row.definitions.length > 0 && section("Changed definitions", list(row.definitions)),
    row.evidence && evidence(row.evidence, row.parting),
    row.judge && section("Judged by a model", judged(row.judge)),
    row.diagnosis.length > 0 && section("Hints from the metrics", list(row.diagnosis)),
    changed.length > 0 && section("What this pull request changed", changedFiles(changed)),
    row.trials.length > 0 && section("Trials", dots(row)),
    row.gates.length > 0 && section("Gates × trials", gateGrid(row)),
    row.metrics.length > 0 && section("Metrics", metricsOf(row)),
    row.trends.length > 0 && section("Over base’s commits", trendTable(row.trends, "This row over base’s commits")),
    row.subcommands.length > 0 && section("Subcommands", subcommands(row)),
  ];
}

function metricsOf(row) {
  const tested = row.metrics.some((metric) => metric.tested);
  const cells = (metric) => [metric.name + (metric.warns ? " ⚠️" : ""), metric.base, metric.head,
    ...(tested ? [metric.tested] : []), strips(metric.name, metric.key, row.trials)];
  return [table("Metrics on both sides", ["metric", "base", "head", ...(tested ? ["head against base"] : []), "each trial (base above head)"], row.metrics.map(cells)),
    tested && el("p", { class: "quiet" }, "Head against base: the ratio of geometric means (×) or the difference of means, with its 95 % t interval; n: the trials of base, its history among them, and of head that have the metric. Times are compared with base’s trials of this run alone.")];
}

// The trials that show the row best: the evidence's own, and one of the other side that ended differently.
function pair(row, base, head) {
  const of = (side) => row.trials.filter((trial) => trial.side === side);
  const evident = Number(row.evidence?.trial.split("/").at(-1)) || 0;
  const first = of("head").find((trial) => trial.index === evident) || of("head").find((trial) => trial.decides === "fail") || of("head")[0];
  const other = of("base").find((trial) => first && trial.decides !== first.decides && trial.decides !== "not measured") || of("base")[0];
  return `#${row.path}/${base ?? other?.index ?? 0}-${head ?? first?.index ?? 0}`;
}

function evidence(found, parting) {
  const calls = found.calls.flatMap((call) => [`$ ${call.command}`, ...call.message.split("\n").map((text) => `  ${text}`),
    `  [${call.exit_code === null ? "no exit code" : `exit ${call.exit_code}`}]`]);
  const way = found.divergence;
  return section("Evidence",
    found.gate && el("p", null, "Gate: ", el("strong", null, found.gate)),
    found.base_message && [el("p", null, "Of base it says:"), el("pre", null, found.base_message), el("p", null, "Of head:")],
    found.message && el("pre", null, found.message),
    calls.length > 0 && [el("p", null, "Tool output:"), el("pre", null, calls.join("\n"))],
    way && [el("p", null, `First divergence at step ${way.step}; - is base, + is head:`),
      el("pre", null, parting.split("\n").map((text) => el("span", { class: { "-": "base", "+": "head" }[text[0]] }, `${text}\n`)))],
    found.reproduce && [el("p", null, "Reproduce:"), el("pre", null, found.reproduce)],
    found.clears_when && el("p", null, `Clears when ${found.clears_when}.`));
}

const SIGNS = { pass: "✓", fail: "✗", "not measured": "–" };

function dots(row) {
  const dot = (trial) => {
    const words = `${trial.side} trial ${trial.index}: ${trial.decides}` + (trial.decides === trial.outcome ? "" : ` (its outcome: ${trial.outcome})`);
    const link = trial.side === "base" ? pair(row, trial.index) : pair(row, undefined, trial.index);
    return el("a", { class: `dot ${trial.decides.replace(" ", "-")}`, href: link, "aria-label": words, title: `${words}\n${trial.reason}` }, SIGNS[trial.decides]);
  };
  return ["base", "head"].map((side) => {
    const trials = row.trials.filter((trial) => trial.side === side);
    return el("div", { class: "dots", role: "group", "aria-label": `Trials on ${side}` }, el("span", { class: "side" }, side),
      trials.length ? trials.map(dot) : "none");
  });
}

function gateGrid(row) {
  const heads = row.trials.map((trial) => `${trial.side[0]}${trial.index}`);
  const cell = (passed) => passed === null ? "·" : el("span", { class: passed ? "plus" : "minus" }, passed ? "✓" : "✗",
    el("span", { class: "unseen" }, passed ? "passed" : "failed"));
  return [table("Gates and trials", ["gate", "base", "head", ...heads], row.gates.map((gate, place) => [gate.gate, gate.base.join("/"), gate.head.join("/"),
    ...row.trials.map((trial) => cell(trial.gates[place]))]), "grid"), el("p", { class: "quiet" }, "b1: first trial on base; h1: first trial on head.")];
}

function subcommands(row) {
  const kinds = ["count", "errors", "retries", "help"];
  const arrow = (one, kind) => one.base[kind] === one.head[kind] ? String(one.head[kind]) : `${one.base[kind]} → ${one.head[kind]}`;
  return [table("Subcommands of the target", ["subcommand", "calls", "errors", "retries", "help"],
    row.subcommands.map((one) => [one.name || "(none)", ...kinds.map((kind) => arrow(one, kind))])),
  el("p", { class: "quiet" }, `Sums over ${many(row.trials.filter((trial) => trial.side === "base").length, "trial")} on base and ` +
    `${row.trials.filter((trial) => trial.side === "head").length} on head.`)];
}
