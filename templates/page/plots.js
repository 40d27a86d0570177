// Plots, as SVG: the effect of a row with its interval, and a metric's trials as strips.

const WIDTH = 120;

function effectPlot(effect, text) {
  const at = (difference) => (10 + ((difference + 1) / 2) * (WIDTH - 20)).toFixed(1);
  const [low, high] = effect.interval;
  const kind = high < 0 ? "worse" : low > 0 ? "better" : "same";
  return svg("svg", { class: `plot ${kind}`, viewBox: `0 0 ${WIDTH} 22`, width: WIDTH, height: 22, role: "img", "aria-label": text },
    svg("title", null, text),
    svg("line", { class: "axis", x1: at(-1), x2: at(1), y1: 18, y2: 18 }),
    svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 2, y2: 20 }),
    svg("line", { class: "whisker", x1: at(low), x2: at(high), y1: 10, y2: 10 }),
    [low, high].map((end) => svg("line", { class: "whisker", x1: at(end), x2: at(end), y1: 6, y2: 14 })),
    svg("circle", { class: "estimate", cx: at(effect.difference), cy: 10, r: 4 }));
}

function strips(name, key, trials) {
  const shown = trials.filter((trial) => Object.hasOwn(trial.metrics, key));
  const values = shown.map((trial) => trial.metrics[key][0]);
  const low = Math.min(0, ...values);
  const high = Math.max(...values, low + 1e-9);
  const wide = 260;
  const at = (value) => (8 + ((value - low) / (high - low)) * (wide - 16)).toFixed(1);
  const seen = {};
  const dots = shown.map((trial) => {
    const [value, text] = trial.metrics[key];
    const place = `${trial.side} ${at(value)}`;
    const above = (seen[place] = (seen[place] || 0) + 1) - 1;
    const middle = trial.side === "base" ? 11 : 29;
    const y = middle + (above % 2 ? 1 : -1) * Math.min(Math.ceil(above / 2) * 2, 7);
    return svg("circle", { class: trial.side, cx: at(value), cy: y, r: 3 }, svg("title", null, `${trial.side} trial ${trial.index}: ${text}`));
  });
  const label = `${name}: ${many(shown.length, "trial")}, each a dot, base above head`;
  return svg("svg", { class: "strips", viewBox: `0 0 ${wide} 40`, width: wide, height: 34, role: "img", "aria-label": label },
    [11, 29].map((y) => svg("line", { class: "axis", x1: 4, x2: wide - 4, y1: y, y2: y })), dots);
}

// How likely each drop is to be found: a bar for each, with its share above it.
function powerPlot(bars) {
  const label = `Detection power: ${bars.map((bar) => `${bar.drop}: ${bar.text}`).join(", ")}`;
  const wide = 62;
  const tall = 70;
  return svg("svg", { class: "power", viewBox: `0 0 ${bars.length * wide} ${tall + 38}`, width: bars.length * wide, height: tall + 38, role: "img", "aria-label": label },
    svg("title", null, label),
    bars.map((bar, place) => {
      const high = Math.max(bar.share * tall, 1);
      const middle = (place + 0.5) * wide;
      return [svg("rect", { x: middle - 18, y: (18 + tall - high).toFixed(1), width: 36, height: high.toFixed(1) }),
        svg("text", { x: middle, y: (13 + tall - high).toFixed(1) }, bar.text),
        svg("text", { class: "drop", x: middle, y: tall + 34 }, bar.drop)];
    }),
    svg("line", { class: "axis", x1: 4, x2: bars.length * wide - 4, y1: tall + 18, y2: tall + 18 }));
}

// A number over base's commits as a line, and head's as a dot behind it. A rate's axis is the whole of it.
function sparkline(trend, wide = 110) {
  const tall = 26;
  const ends = trend.name === "success" || /_rate$/.test(trend.name) ? [0, 1] : [0, Math.max(...trend.values, trend.head ?? 0) || 1];
  const x = (place) => (5 + (place / trend.values.length) * (wide - 10)).toFixed(1);
  const y = (value) => (tall - 4 - ((value - ends[0]) / (ends[1] - ends[0])) * (tall - 8)).toFixed(1);
  const label = `${trend.title} over ${many(trend.values.length, "commit")} of base: from ${trend.texts[0]} to ${trend.texts.at(-1)}; this head: ${trend.head_text}`;
  return svg("svg", { class: "spark", viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": label },
    svg("title", null, label),
    svg("polyline", { points: trend.values.map((value, place) => `${x(place)},${y(value)}`).join(" ") }),
    wide > 200 && trend.values.map((value, place) => svg("circle", { class: "base", cx: x(place), cy: y(value), r: 2.5 },
      svg("title", null, `${trend.shas[place].slice(0, 12)}: ${trend.texts[place]}`))),
    trend.head !== null && svg("circle", { class: "head", cx: x(trend.values.length), cy: y(trend.head), r: 3 }, svg("title", null, `this head: ${trend.head_text}`)));
}

// The spread of many trials: whiskers, the middle half, the median; base above head.
function boxes(name, key, trials) {
  const wide = 260;
  const sides = ["base", "head"].map((side) => trials.filter((trial) => trial.side === side && Object.hasOwn(trial.metrics, key))
    .map((trial) => trial.metrics[key][0]).sort((one, other) => one - other));
  const all = sides.flat();
  const low = Math.min(0, ...all);
  const high = Math.max(...all, low + 1e-9);
  const at = (value) => Number((8 + ((value - low) / (high - low)) * (wide - 16)).toFixed(1));
  const drawn = sides.map((values, place) => {
    if (!values.length) return null;
    const [start, first, middle, third, end] = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => at(values[Math.round(share * (values.length - 1))]));
    const y = [11, 29][place];
    return svg("g", { class: ["base", "head"][place] }, svg("line", { x1: start, x2: end, y1: y, y2: y }),
      svg("rect", { x: first, y: y - 5, width: Math.max(third - first, 1), height: 10 }), svg("line", { class: "median", x1: middle, x2: middle, y1: y - 7, y2: y + 7 }));
  });
  const label = `${name}: the spread of ${many(sides[0].length, "trial")} on base, above, and of ${sides[1].length} on head`;
  return svg("svg", { class: "strips boxes", viewBox: `0 0 ${wide} 40`, width: wide, height: 34, role: "img", "aria-label": label }, svg("title", null, label), drawn);
}
