// The results of evaluators and of the judge: for a row on both sides, and for one trial.

// Two digits, or three if that is all of the score: 0.825.
const score = (value) => value === null ? "–" : value.toFixed(Number(value.toFixed(3)) !== Number(value.toFixed(2)) && Math.abs(value - value.toFixed(3)) < 1e-9 ? 3 : 2);

function judged(said) {
  const side = (one) => `${score(one.score)} over ${many(one.judged, "trial")}` + (one.not_judged ? `, 🟡 ${one.not_judged} not judged (${one.reason})` : "");
  const spread = said.interval ? ` (95% interval of the difference ${said.interval.map((end) => end.toFixed(2)).join(" to ")})` : "";
  return [
    el("p", null, said.warns && "⚠️ Worse: ", `base ${side(said.base)}; head ${side(said.head)}${spread}.`),
    said.criteria.length > 0 && table("Criteria on both sides", ["criterion", "base", "head", "judge’s reason for head’s lowest score"],
      said.criteria.map((one) => [one.criterion, score(one.base), score(one.head), one.reason])),
  ];
}

function opinions(found) {
  const lines = found.evaluators.map(scored);
  if (found.judge) lines.push(opinion("judge", found.judge.weighted_score, "", found.judge.reason, found.judge.judgement));
  return lines.length > 0 && list(lines);
}

function scored(one) {
  const told = (name, texts) => texts.length > 0 && el("div", null, `${name}: `, texts.join("; "));
  return [...opinion(one.name, one.score, one.verdict.replace("_", " "), one.reason, one.judgement),
    told("hits", one.hits), told("misses", one.misses), one.members && one.members.length > 0 && list(one.members.map(scored))];
}

function opinion(name, value, verdict, reason, judgement) {
  const criteria = judgement ? judgement.criteria : [];
  return [el("strong", null, name), ` ${score(value)} ${verdict}`, reason && el("div", { class: "first" }, reason),
    criteria.length > 0 && list(criteria.map((one) => [`${one.id} ${score(one.score)}`, one.required && " (required)", one.reason && `: ${one.reason}`])),
    ...(judgement ? [judgement.confidence !== null && el("div", null, `confidence ${score(judgement.confidence)}`),
      judgement.issues.length > 0 && el("div", null, "issues: ", judgement.issues.join("; ")),
      judgement.highlights.length > 0 && el("div", null, "highlights: ", judgement.highlights.join("; "))] : [])];
}
