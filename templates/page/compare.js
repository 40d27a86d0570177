// Two trials side by side, aligned step by step.

async function compare(row, chosen) {
  const trials = Object.fromEntries(["base", "head"].map((side) =>
    [side, row.trials.find((trial) => trial.side === side && trial.index === chosen[side])]));
  const ids = { base: `base/${row.path}/${chosen.base}`, head: `head/${row.path}/${chosen.head}` };
  const found = { base: trials.base && await record(ids.base), head: trials.head && await record(ids.head) };
  const aligned = align(found.base?.steps || [], found.head?.steps || []);
  const both = found.base && found.head;
  const parts = both ? aligned.findIndex(leaves) : -1;
  return [
    el("h1", null, el("a", { href: `#${row.path}` }, row.scenario), el("span", { class: "quiet" }, ` × ${row.agent}, side by side`)),
    el("div", { class: "pair" }, ["base", "head"].map((side) => ending(row, side, trials, chosen, found[side]))),
    section("Step by step",
      el("p", { class: "tools" },
        both && (parts < 0 ? "Both sides went the same way. " : el("button", { type: "button", click: () => {
          const place = document.getElementById("divergence");
          place.scrollIntoView({ block: "center" });
          place.focus();
        } }, "Go to the first divergence")),
        [[true, "Expand all"], [false, "Collapse all"]].map(([open, label]) => el("button", { type: "button", click: () =>
          document.querySelectorAll("#main details").forEach((fold) => { fold.open = open; }) }, label))),
      el("table", { class: "steps" }, el("caption", { class: "unseen" }, "Steps of both trials"),
        el("thead", null, el("tr", null, ["step", "base", "head"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", null, aligned.map(([base, head], place) => [
          place === parts && el("tr", { id: "divergence", tabindex: -1 }, el("td", { colspan: 3 }, "▼ First divergence")),
          el("tr", { class: place === parts ? "parts" : leaves([base, head]) && both ? "differs" : null },
            el("th", { scope: "row" }, String(place + 1)), step(base, "base"), step(head, "head"))])))),
    ...[["Gates", gates], ["Evaluators and judge", opinions], ["Invocations of the target", invocations], ["What the agent changed in its workspace", changes]].map(([title, show]) =>
      section(title, el("div", { class: "pair" }, ["base", "head"].map((side) =>
        el("div", null, el("h3", null, side), found[side] ? show(found[side]) : el("p", { class: "quiet" }, "nothing to show")))))),
  ];
}

function ending(row, side, trials, chosen, found) {
  const trial = trials[side];
  const others = row.trials.filter((other) => other.side === side);
  const go = (event) => { location.hash = pair(row, ...["base", "head"].map((one) => one === side ? Number(event.target.value) : chosen[one])); };
  return el("div", { class: "card" },
    el("h2", null, side),
    others.length > 0 && el("label", null, `Trial on ${side} `, el("select", { change: go }, others.map((other) =>
      el("option", { value: other.index, selected: other === trial }, `${other.index}: ${other.decides}`)))),
    trial ? el("p", null, badge(trial.decides.replace(" ", "-"), `${SIGNS[trial.decides]} ${trial.decides}`), ` ${trial.reason}`) : el("p", null, "no trial on this side"),
    found && found.warnings.length > 0 && list(found.warnings.map((text) => `warning: ${text}`)),
    trial && !found && leftOut(row, trial));
}

function leftOut(row, trial) {
  const folder = data.folders[trial.side];
  const place = `${folder ? `${folder}/` : ""}trials/${row.path}/${trial.index}/`;
  const words = "Its record is left out, as this page is kept below 5 MB. ";
  return el("p", { class: "quiet" }, words, folder ? ["It is kept in ", el("a", { href: encodeURI(`./${place}`) }, place)] : `In the stored run it is ${place}`);
}

// Two steps match if both sides did the same thing; the agent's messages may differ in wording.
const alike = (one, other) => one.kind === other.kind && (one.kind === "end" || one.title === other.title);
const leaves = ([base, head]) => !(base && head) ? [base, head].some((one) => one && one.kind === "call") : base.kind !== "message" && (base.title !== head.title || base.ok !== head.ok);

function align(base, head) {
  const width = head.length + 1;
  if (base.length * head.length > 1e6) return Array.from({ length: Math.max(base.length, head.length) }, (_, place) => [base[place], head[place]]);
  const common = new Uint32Array((base.length + 1) * width); // longest common subsequence of the rests
  for (let b = base.length - 1; b >= 0; b--) for (let h = head.length - 1; h >= 0; h--) {
    common[b * width + h] = alike(base[b], head[h]) ? common[(b + 1) * width + h + 1] + 1 : Math.max(common[(b + 1) * width + h], common[b * width + h + 1]);
  }
  const lines = [];
  let b = 0, h = 0;
  while (b < base.length || h < head.length) {
    if (b < base.length && h < head.length && alike(base[b], head[h])) lines.push([base[b++], head[h++]]);
    else if (h >= head.length || (b < base.length && common[(b + 1) * width + h] >= common[b * width + h + 1])) lines.push([base[b++], null]);
    else lines.push([null, head[h++]]);
  }
  return lines;
}

function step(one, side) {
  if (!one) return el("td", { class: "none" }, el("span", { class: "unseen" }, "no such step"));
  const ended = one.ended && el("span", { class: `ended ${one.ok === false ? "minus" : "plus"}` }, ` → ${one.ended}`);
  const at = one.at !== null && el("span", { class: "at" }, `${one.at.toFixed(1)} s `);
  const text = one.text.trimEnd();
  const first = text.split("\n", 1)[0];
  const size = many(text.split("\n").length, "line");
  const open = (one.kind === "message" && text.length < 600) || !text.includes("\n");
  return el("td", { class: one.kind, "data-head": side }, el("div", null, at, one.kind === "call" ? el("code", null, one.title) : el("strong", null, one.title), ended),
    text && (open ? el("p", { class: one.kind === "message" ? "said" : "first" }, text) : el("details", null, el("summary", null, el("span", { class: "first" }, first), ` (${size})`), el("pre", null, text))));
}

const gates = (found) => found.gates.length ? list(found.gates.map((gate) => [el("span", { class: gate.passed ? "plus" : "minus" }, gate.passed ? "✓ " : "✗ "), gate.label,
  gate.required ? "" : " (not required)", !gate.passed && el("pre", null, gate.message)])) : el("p", { class: "quiet" }, "none");

const invocations = (found) => found.calls.length ? el("ol", null, found.calls.map((call) => el("li", null, el("code", null, call.command),
  el("span", { class: call.status === "ok" ? "plus" : "minus" }, ` → ${call.exit_code === null ? call.status : `exit ${call.exit_code}`}`),
  call.message && el("div", { class: "first" }, call.message)))) : el("p", { class: "quiet" }, "none");

function changes(found) {
  if (!found.diff.trim()) return el("p", { class: "quiet" }, "nothing");
  return folded("diff", found.diff);
}
