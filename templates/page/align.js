// Aligns the steps of two trials, and finds where they part.

// Two steps match if both sides did the same thing; the agent's messages may differ in wording.
// Ids, times and other noise are not in `same`.
const alike = (one, other) => one.kind === other.kind && (one.kind === "end" || one.same === other.same);
const leaves = ([base, head]) => !(base && head) ? [base, head].some((one) => one && one.kind === "call") : base.kind !== "message" && (base.same !== head.same || base.ok !== head.ok);

// The number of the first call of the tool under test that differs, as in the comment: in the command or how it ends,
// or else in its output. Null if none does.
function parting(base, head) {
  const way = (call) => call && JSON.stringify([call.same[0], call.status === "ok", call.exit_code]);
  const answered = (call) => call && JSON.stringify(call.same);
  for (const key of [way, answered]) {
    for (let number = 0; number < Math.max(base.length, head.length); number++) {
      if (key(base[number]) !== key(head[number])) return number + 1;
    }
  }
  return null;
}

// The line with that step. Without a number, or where the transcript lacks the step, the first line that differs; -1 if none does.
function lineOf(aligned, number) {
  const exact = number === null ? -1 : aligned.findIndex((sides) => sides.some((one) => one?.calls.includes(number)));
  return exact < 0 ? aligned.findIndex(leaves) : exact;
}

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
