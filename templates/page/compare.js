// Two trials side by side, aligned step by step.

async function compare(row, chosen) {
  const trials = Object.fromEntries(["base", "head"].map((side) =>
    [side, row.trials.find((trial) => trial.side === side && trial.index === chosen[side])]));
  const found = {};
  for (const side of ["base", "head"]) found[side] = trials[side] && await record(trialId(row, side, chosen[side]));
  const both = found.base && found.head;
  const sides = (title, show) => {
    const parts = ["base", "head"].map((side) => found[side] && show(found[side]));
    return section(title, parts.some(present) && el("div", { class: "pair" }, ["base", "head"].map((side, place) =>
      el("div", null, el("h3", null, side), parts[place] || el("p", { class: "quiet" }, "none")))));
  };
  return [
    el("h1", null, el("a", { href: `#${row.path}` }, row.scenario), el("span", { class: "quiet" }, ` × ${row.agent}, side by side`)),
    row.task && el("p", null, el("strong", null, "Task: "), row.task),
    el("div", { class: "pair" }, ["base", "head"].map((side) => ending(row, side, trials, chosen, found[side]))),
    stepTable(found, both),
    sides("Gates", gates),
    sides("Evaluators and judge", opinions),
    sides("Calls of the tool under test", invocations),
    sides("What the agent changed in its workspace", changes),
  ];
}

function stepTable(found, both) {
  const aligned = align(found.base?.steps || [], found.head?.steps || []);
  if (!aligned.length) return null;
  const number = both ? parting(found.base.calls, found.head.calls) : null;
  const parts = both ? lineOf(aligned, number) : -1;
  const told = number === null ? "▼ First difference (the calls of the tool under test are the same)" : `▼ First difference, at step ${number}`;
  return section("Step by step",
    el("p", { class: "quiet" }, "A step is a call of the tool under test; its number is the one in the comment."),
    el("p", { class: "tools" },
      both && (parts < 0 ? "Both sides made the same calls, with the same results. " : el("button", { type: "button", click: () => goTo(document.getElementById("divergence")) }, "Go to the first divergence")),
      [[true, "Expand all"], [false, "Collapse all"]].map(([open, label]) => el("button", { type: "button", click: () =>
        document.querySelectorAll("#main details").forEach((fold) => { fold.open = open; }) }, label))),
    el("table", { class: "steps" }, el("caption", { class: "unseen" }, "Steps of both trials"),
      el("thead", null, el("tr", null, ["base", "head"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", null, aligned.map(([base, head], place) => [
        place === parts && el("tr", { id: "divergence", tabindex: -1 }, el("td", { colspan: 2 }, told)),
        el("tr", { class: place === parts ? "parts" : leaves([base, head]) && both ? "differs" : null }, step(base, "base"), step(head, "head"))]))));
}

function goTo(node) {
  node.scrollIntoView({ block: "center" });
  node.focus();
}

// Time, calls, tokens and cost, as far as they are known.
function spent(trial) {
  const words = { duration_s: "", command_count: " calls", error_count: " failed", tokens_in: " tokens in", tokens_out: " tokens out", cost_usd: "" };
  return Object.entries(words).filter(([key]) => trial.metrics[key] && trial.metrics[key] !== "0").map(([key, word]) => trial.metrics[key] + word).join(" · ");
}

function ending(row, side, trials, chosen, found) {
  const trial = trials[side];
  const others = row.trials.filter((other) => other.side === side);
  const go = (event) => { location.hash = pair(row, ...["base", "head"].map((one) => one === side ? Number(event.target.value) : chosen[one])); };
  return el("div", { class: "card" },
    el("h2", null, side),
    others.length > 0 && el("label", null, `Trial on ${side} `, el("select", { change: go }, others.map((other) =>
      el("option", { value: other.index, selected: other === trial }, `${other.index}: ${other.decides}`)))),
    trial ? [el("p", null, badge(trial.decides.replace(" ", "-"), `${SIGNS[trial.decides]} ${trial.decides}`), " ", coded(trial.reason)), el("p", { class: "quiet" }, spent(trial))] : el("p", null, "no trial on this side"),
    found && found.warnings.length > 0 && list(found.warnings.map((text) => `warning: ${text}`)),
    trial && !found && leftOut(row, trial));
}

function leftOut(row, trial) {
  const folder = data.folders[trial.side];
  const place = `${folder ? `${folder}/` : ""}trials/${row.path}/${trial.index}/`;
  const words = "Transcript omitted to keep this page small. ";
  return el("p", { class: "quiet" }, words, folder ? ["It is in ", el("a", { href: encodeURI(`./${place}`) }, place)] : `In the stored run it is ${place}`);
}

function step(one, side) {
  if (!one) return el("td", { class: "none" }, el("span", { class: "unseen" }, "no such step"));
  const ended = one.ended && el("span", { class: `ended ${one.ok === false ? "minus" : "plus"}` }, ` → ${one.ended}`);
  const number = one.calls.length > 0 && el("span", { class: "step-number" }, `step ${one.calls.join(", ")} `);
  const at = one.at !== null && el("span", { class: "at" }, `${one.at.toFixed(1)} s `);
  const text = one.text.trimEnd();
  const first = text.split("\n", 1)[0];
  const size = many(text.split("\n").length, "line");
  const open = (one.kind === "message" && text.length < 600) || !text.includes("\n");
  return el("td", { class: one.kind, "data-head": side }, el("div", null, number, at, one.kind === "call" ? el("code", null, one.title) : el("strong", null, one.title), ended),
    text && (open ? el("p", { class: one.kind === "message" ? "said" : "first" }, text) : el("details", null, el("summary", null, el("span", { class: "first" }, first), ` (${size})`), el("pre", null, text))));
}

const gates = (found) => found.gates.length > 0 && list(found.gates.map((gate) => [el("span", { class: gate.passed ? "plus" : "minus" }, gate.passed ? "✓ " : "✗ "), coded(gate.label),
  gate.required ? "" : " (not required)", !gate.passed && el("pre", null, coded(gate.message))]));

const invocations = (found) => found.calls.length > 0 && el("ol", null, found.calls.map((call) => el("li", null, el("code", null, call.command),
  el("span", { class: call.status === "ok" ? "plus" : "minus" }, ` → ${call.exit_code === null ? call.status : `exit ${call.exit_code}`}`),
  call.duration_s !== null && el("span", { class: "at" }, ` ${call.duration_s.toFixed(1)} s`),
  call.message && el("div", { class: "first" }, call.message))));

const changes = (found) => found.diff.trim() !== "" && folded("diff", found.diff);
