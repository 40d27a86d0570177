// A plot, as SVG: the effect of a row with its interval.

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
