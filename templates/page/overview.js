// The overview: the verdict, and every row with its result.

function overview(query) {
  const rows = data.rows;
  const shown = el("tbody");
  const found = el("p", { role: "status", class: "quiet" });
  const states = [...new Set(rows.map((row) => row.state))];
  const asked = { q: query.get("q") || "", agent: query.get("agent") || "", state: query.getAll("state") };

  const show = () => {
    const words = asked.q.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => (!asked.state.length || asked.state.includes(row.state)) && (!asked.agent || row.agent === asked.agent) &&
      words.every((word) => haystack(row).includes(word));
    const fitting = rows.filter(fits);
    shown.replaceChildren(...fitting.map((row) => line(row, heads)));
    found.textContent = fitting.length === rows.length ? many(rows.length, "row") : `${fitting.length} of ${many(rows.length, "row")}`;
  };
  const changed = () => {
    const kept = new URLSearchParams();
    if (asked.q) kept.set("q", asked.q);
    if (asked.agent) kept.set("agent", asked.agent);
    asked.state.forEach((state) => kept.append("state", state));
    history.replaceState(null, "", kept.size ? `#?${kept}` : "#");
    show();
  };
  const trends = rows.some((row) => row.trends.length > 0) ? ["trend"] : [];
  const heads = ["state", "scenario", "agent", "base", "head", "effect", ...trends, ...data.columns];
  show();
  return [
    el("h1", null, `${data.sign} ${data.title}`),
    el("p", { class: "lead" }, data.summary),
    data.notes.length > 0 && list(data.notes),
    data.causes.length > 0 && section("Likely cause", list(data.causes.map(coded))),
    data.advice.length > 0 && section("What to do", data.advice.length > 1 ? list(data.advice.map(coded)) : el("p", null, coded(data.advice[0]))),
    data.definitions.length > 0 && section("Changed definitions", list(data.definitions)),
    data.warnings.length > 0 && section("Warnings", list(data.warnings)),
    rows.length > 0 && section("Scenarios × agents", filters(asked, states, changed), found,
      framed("All rows", "rows stacks", heads, shown)),
    data.changes.length > 0 && section("What this pull request changed", changedFiles(data.changes)),
    suite(),
    data.suite_metrics.length > 0 && section("Metrics", metricsOfAll()),
    section("The run", el("dl", null, data.facts.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))))),
  ];
}

// What stands between backticks is code.
const coded = (text) => text.split("`").map((part, place) => place % 2 ? el("code", null, part) : part);

const haystack = (row) => [row.scenario, row.agent, row.words, row.reason, row.evidence?.message, row.evidence?.gate,
  ...row.gates.map((gate) => gate.gate)].join("\n").toLowerCase();

function filters(asked, states, changed) {
  const agents = [...new Set(data.rows.map((row) => row.agent))];
  const chip = (state) => {
    const rows = data.rows.filter((row) => row.state === state);
    const button = el("button", { type: "button", class: `chip ${state}`, "aria-pressed": String(asked.state.includes(state)), click: () => {
      const place = asked.state.indexOf(state);
      if (place < 0) asked.state.push(state);
      else asked.state.splice(place, 1);
      button.setAttribute("aria-pressed", String(place < 0));
      changed();
    } }, `${rows[0].sign} ${rows.length} ${state.replaceAll("_", " ")}`);
    return button;
  };
  return el("form", { class: "filters", role: "search", submit: (event) => event.preventDefault() },
    el("label", null, "Search ", el("input", { type: "search", value: asked.q, input: (event) => { asked.q = event.target.value; changed(); } })),
    agents.length > 1 && el("label", null, "Agent ", el("select", { change: (event) => { asked.agent = event.target.value; changed(); } },
      el("option", { value: "" }, "all"), agents.map((agent) => el("option", { value: agent, selected: agent === asked.agent }, agent)))),
    el("span", { role: "group", "aria-label": "States" }, states.map(chip)));
}

function line(row, heads) {
  const cell = (head, kind, ...inside) => heads.includes(head) && el("td", { "data-head": head, class: kind }, inside);
  return el("tr", null,
    el("td", null, badge(row.badge, `${row.sign} ${row.words}`)),
    el("th", { scope: "row" }, el("a", { href: `#${row.path}` }, row.scenario),
      row.state === "regressed" && row.evidence?.gate && el("div", { class: "why" }, `failed: ${row.evidence.gate}`),
      row.state === "not_measured" && el("div", { class: "why" }, row.reason)),
    cell("agent", null, row.agent), cell("base", "number", row.base), cell("head", "number", row.head),
    cell("effect", null, row.effect ? effectPlot(row.effect, row.effect_text) : row.effect_text),
    cell("trend", null, row.trends.length > 0 && sparkline(row.trends[0])),
    row.cells.map((one, place) => cell(data.columns[place], `number ${one.trend}`, one.text)));
}

function suite() {
  if (!data.suite_text && !data.suite_trends.length) return null;
  const { difference, interval } = data.suite;
  return section("The suite as a whole", data.suite_text && el("p", null, data.suite_text),
    interval && interval[0] !== interval[1] && effectPlot({ difference, interval }, data.suite_text),
    trendTable(data.suite_trends, "The suite over base’s commits"),
    data.catches.length > 0 && [el("p", null, "Detection power:"), list(data.catches)]);
}

function metricsOfAll() {
  const trials = data.rows.flatMap((row) => row.trials);
  return [table("Metrics of all trials", ["metric", "base", "head", "head against base", "all trials (base above head)"], data.suite_metrics.map((metric) =>
    [metric.name + (metric.warns ? " ⚠️" : ""), metric.base, metric.head, metric.tested, boxes(metric.name, metric.key, trials)])),
  el("p", { class: "quiet" }, "Means of all trials; the box holds the middle half of them, its line is the median, the whiskers reach from the 5th to the 95th percentile.")];
}
