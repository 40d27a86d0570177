// The trials of a row: a line for each, and its gates.

const SIGNS = { pass: "✓", fail: "✗", "not measured": "–" };

const TRIAL_COLUMNS = [["duration_s", "time"], ["command_count", "calls"], ["error_count", "failed calls"], ["turns", "turns"],
  ["tokens_in", "tokens in"], ["tokens_out", "tokens out"], ["cost_usd", "cost"]];

// Each trial with its outcome and reason; time, calls, tokens and cost only if a trial has them.
function trialTable(row) {
  const columns = TRIAL_COLUMNS.filter(([key]) => row.trials.some((trial) => Object.hasOwn(trial.metrics, key)));
  return table("Trials", ["trial", "outcome", ...columns.map(([, title]) => title), "why"], row.trials.map((trial) => [
    el("a", { href: `#${trialId(row, trial.side, trial.index)}` }, `${trial.side} ${trial.index}`),
    badge(trial.decides.replace(" ", "-"), `${SIGNS[trial.decides]} ${trial.decides}`),
    ...columns.map(([key]) => trial.metrics[key] ?? "–"),
    coded(trial.decides === trial.outcome ? trial.reason : `its outcome: ${trial.outcome}. ${trial.reason}`)]));
}

function gateGrid(row) {
  const heads = row.trials.map((trial) => `${trial.side[0]}${trial.index}`);
  const cell = (passed) => passed === null ? "·" : el("span", { class: passed ? "plus" : "minus" }, passed ? "✓" : "✗",
    el("span", { class: "unseen" }, passed ? "passed" : "failed"));
  return [table("Gates and trials", ["gate", "base", "head", ...heads], row.gates.map((gate, place) => [el("span", null, coded(gate.gate)), gate.base.join("/"), gate.head.join("/"),
    ...row.trials.map((trial) => cell(trial.gates[place]))]), "grid"), el("p", { class: "quiet" }, "b1: first trial on base; h1: first trial on head.")];
}
