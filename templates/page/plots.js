// Plots, as SVG: the effect of a row with its interval, and its trend on the base branch.

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
