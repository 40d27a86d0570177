// The timeline of a trial: its calls as bars over the time since the agent started.

const TALL = 30;

// Where a call's end is not recorded it is taken to last until the next step.
function spans(found) {
  const timed = found.steps.filter((step) => step.at !== null);
  return timed.map((step, place) => ({ step, from: step.at, to: step.until ?? (step.kind === "call" ? timed[place + 1]?.at : step.at) ?? step.at }));
}

const lasted = (found) => Math.max(0, ...spans(found).map((span) => span.to));

// `end`: the seconds at the right edge, the same for both sides.
function timeline(side, found, end) {
  const all = spans(found);
  if (end <= 0 || !all.length) return null;
  const at = (time) => Number((100 * time / end).toFixed(3));
  const calls = all.filter((span) => span.step.kind === "call");
  const inCalls = calls.reduce((sum, span) => sum + span.to - span.from, 0);
  const slowest = calls.reduce((most, span) => most && most.to - most.from >= span.to - span.from ? most : span, null);
  const words = `${lasted(found).toFixed(1)} s, ${inCalls.toFixed(1)} s of it in ${many(calls.length, "call")}`;
  const bar = ({ step, from, to }) => {
    const label = `${from.toFixed(1)} s: ${step.title}${step.kind === "call" ? ` → ${step.ended} (${(to - from).toFixed(1)} s)` : ""}`;
    const kind = step.kind !== "call" ? step.kind : step.ok === false ? "failed" : step.calls.length ? "tool" : "other";
    const wide = Math.max(at(to) - at(from), 0.5);
    return svg("rect", { class: kind, x: Math.min(at(from), 100 - wide), y: step.kind === "call" ? 4 : 10, width: wide, height: step.kind === "call" ? 22 : 10 }, svg("title", null, label));
  };
  return el("div", { class: "time" }, el("h3", null, side),
    svg("svg", { class: "timeline", viewBox: `0 0 100 ${TALL}`, preserveAspectRatio: "none", role: "img", "aria-label": `Timeline of ${side}: ${words}` },
      svg("line", { class: "axis", x1: 0, x2: 100, y1: 15, y2: 15 }), all.map(bar)),
    el("p", { class: "quiet" }, words, slowest && [`; longest: `, el("code", null, slowest.step.title.slice(0, 80)), ` ${(slowest.to - slowest.from).toFixed(1)} s`]));
}

function timelines(found) {
  const end = Math.max(...["base", "head"].map((side) => found[side] ? lasted(found[side]) : 0));
  const shown = ["base", "head"].map((side) => found[side] && timeline(side, found[side], end)).filter(Boolean);
  return section("Timeline", shown, shown.length > 0 && el("p", { class: "quiet legend" }, el("span", { class: "tool" }, "call of the tool"),
    el("span", { class: "failed" }, "failed call"), el("span", { class: "other" }, "other call"), el("span", { class: "message" }, "message")));
}
