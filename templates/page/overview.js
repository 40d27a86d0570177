// The overview: the verdict with its cause, and every row with its result, failing rows first.

const QUIET = ["ok", "improved"]; // folded while other rows need attention
const FEW = 12; // so many rows are never folded if all are well

function overview(query) {
  const asked = { q: query.get("q") || "", agent: query.get("agent") || "", state: query.getAll("state"), sort: query.get("sort") || "", open: false };
  const table = rowTable(asked);
  const changed = () => {
    const kept = new URLSearchParams();
    for (const name of ["q", "agent", "sort"]) if (asked[name]) kept.set(name, asked[name]);
    asked.state.forEach((state) => kept.append("state", state));
    history.replaceState(null, "", kept.size ? `#?${kept}` : "#");
    table.show();
  };
  table.changed = changed;
  table.show();
  const failing = data.rows.find((row) => row.recipe && row.state !== "ok");
  return [
    el("h1", null, `${data.sign} ${data.title}`),
    el("p", { class: "lead" }, coded(data.summary)),
    data.notes.length > 0 && list(data.notes.map(coded)),
    el("p", { class: "tools" }, copyButton("Copy for an agent", data.for_agent), failing && copyButton("Copy reproduce", failing.recipe)),
    causesOfAll(),
    whatToDo([...fixes(data.causes), ...data.advice]),
    section("From the merge on", data.definitions.length > 0 && list(data.definitions.map(coded))),
    section("Warnings", data.warnings.length > 0 && list(data.warnings.map(coded))),
    data.rows.length > 0 && section("Scenarios × agents", filters(asked, changed), table.found, table.node),
    data.interface.map(([title, lines]) => section(title, list(lines.map(coded)))),
    section("What this pull request changed", changedFiles(data.changes)),
    suite(),
    data.suite_metrics.length > 0 && section("Metrics", metricTable("Metrics of all trials", data.suite_metrics)),
    section("The run", el("dl", null, data.facts.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))))),
  ];
}

// The table of rows: `node`; `found`, what it holds; `show()`, which fills it.
function rowTable(asked) {
  const columns = columnsOf();
  const body = el("tbody");
  const made = { found: el("p", { role: "status", class: "quiet" }), changed: null };
  const headers = Object.fromEntries(columns.map((column) => [column.name, el("th", { scope: "col" }, el("button", { type: "button", class: "sort", click: () => {
    asked.sort = asked.sort === column.name ? `-${column.name}` : asked.sort === `-${column.name}` ? "" : column.name;
    made.changed();
  } }, column.name))]));
  let latest = 0;
  made.show = async () => {
    const mine = ++latest;
    const words = asked.q.toLowerCase().split(/\s+/).filter(Boolean);
    const fill = () => {
      for (const [name, head] of Object.entries(headers)) {
        const order = { [name]: "ascending", [`-${name}`]: "descending" }[asked.sort];
        if (order) head.setAttribute("aria-sort", order);
        else head.removeAttribute("aria-sort");
      }
      const hits = searched(words);
      const rows = sorted(columns, asked.sort).filter((row) => hits.has(row.path) && (!asked.state.length || asked.state.includes(row.state)) && (!asked.agent || row.agent === asked.agent));
      const quiet = asked.sort || words.length || asked.state.length || asked.agent || asked.open ? [] : folding(rows);
      body.replaceChildren(...rows.map((row) => line(row, columns, hits.get(row.path), quiet.includes(row))), ...foldLine(quiet, columns, () => { asked.open = true; made.show(); }));
      made.found.textContent = rows.length === data.rows.length ? many(rows.length, "row") : `${rows.length} of ${many(data.rows.length, "row")}`;
    };
    fill();
    if (!words.length) return;
    if (!index) made.found.textContent += "; searching transcripts …";
    await indexed();
    if (mine === latest) fill();
  };
  made.node = framed("All rows", "rows stacks", columns.map((column) => headers[column.name]), body);
  return made;
}

const folding = (rows) => {
  const quiet = rows.filter((row) => QUIET.includes(row.state) && row.badge !== "not_measured");
  return quiet.length === rows.length && rows.length <= FEW ? [] : quiet;
};

const foldLine = (quiet, columns, open) => quiet.length ? [el("tr", { class: "fold" }, el("td", { colspan: columns.length },
  el("button", { type: "button", click: open }, `Show ${many(quiet.length, "row")} without regression`)))] : [];

// Columns: a name, the value that rows are sorted by, and the cell.
function columnsOf() {
  const rate = (text) => {
    const [passes, trials] = text.split("/").map(Number);
    return trials ? passes / trials : null;
  };
  const effect = (row) => row.effect ? row.effect.difference : rate(row.head) === null || rate(row.base) === null ? null : rate(row.head) - rate(row.base);
  const states = [...new Set(data.rows.map((row) => row.state))];
  const all = [
    ["state", (row) => states.indexOf(row.state), (row) => [null, badge(row.badge, `${row.sign} ${row.words}`)]],
    ["scenario", (row) => row.scenario],
    ["agent", (row) => row.agent, (row) => [null, row.agent]],
    ["base", (row) => rate(row.base), (row) => ["number", row.base]],
    ["head", (row) => rate(row.head), (row) => ["number", row.head]],
    ["effect", effect, (row) => [null, row.effect ? effectPlot(row.effect, row.effect_text) : row.effect_text]],
    ...data.columns.map((title, place) => [title, (row) => row.cells[place].value, (row) => [`number ${row.cells[place].trend}`, row.cells[place].text]]),
  ];
  return all.filter(Boolean).map(([name, value, cell]) => ({ name, value, cell }));
}

// Rows without a value come last.
function sorted(columns, sort) {
  const column = columns.find((one) => sort === one.name || sort === `-${one.name}`);
  if (!column) return data.rows;
  const turn = sort[0] === "-" ? -1 : 1;
  const order = (one, other) => one === null || other === null ? (one === null) - (other === null)
    : turn * (typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other);
  return [...data.rows].sort((one, other) => order(column.value(one), column.value(other)));
}

function line(row, columns, hits, quiet) {
  return el("tr", { class: quiet ? "quiet-row" : null }, columns.map(({ name, cell }) => {
    if (name === "scenario") return rowHead(row, hits);
    const [kind, inside] = cell(row);
    return el("td", { "data-head": name === "state" ? null : name, class: kind }, inside);
  }));
}

function rowHead(row, hits) {
  const needsYou = !QUIET.includes(row.state);
  return el("th", { scope: "row" }, el("a", { href: `#${row.path}`, class: "to-row" }, row.scenario),
    needsYou && row.task && el("div", { class: "why task" }, row.task),
    row.state === "regressed" && row.evidence?.gate && el("div", { class: "why" }, "failed: ", coded(row.evidence.gate)),
    row.state === "not_measured" && el("div", { class: "why" }, coded(row.reason)),
    hitLine(hits));
}

function filters(asked, changed) {
  const agents = [...new Set(data.rows.map((row) => row.agent))];
  const states = [...new Set(data.rows.map((row) => row.state))];
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
    el("label", null, "Search ", el("input", { type: "search", id: "search", value: asked.q, placeholder: "names, gates, transcripts",
      focus: () => setTimeout(indexed), input: (event) => { asked.q = event.target.value; changed(); } })),
    agents.length > 1 && el("label", null, "Agent ", el("select", { change: (event) => { asked.agent = event.target.value; changed(); } },
      el("option", { value: "" }, "all"), agents.map((agent) => el("option", { value: agent, selected: agent === asked.agent }, agent)))),
    el("span", { role: "group", "aria-label": "States" }, states.map(chip)));
}

function suite() {
  if (!data.suite_text) return null;
  const { difference, interval } = data.suite;
  return section("The suite as a whole", el("p", null, data.suite_text),
    interval && interval[0] !== interval[1] && effectPlot({ difference, interval }, data.suite_text));
}

// Each metric's means on both sides, with the result of its test if one was made.
function metricTable(caption, metrics) {
  const tested = metrics.some((metric) => metric.tested);
  return table(caption, ["metric", "base", "head", ...(tested ? ["head against base"] : [])], metrics.map((metric) =>
    [metric.name + (metric.warns ? " ⚠️" : ""), metric.base, metric.head, ...(tested ? [metric.tested] : [])]));
}
