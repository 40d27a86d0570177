"""report.html in Chromium: every page, filter, link and fold, by script and by keyboard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from cmarkgfm import github_flavored_markdown_to_html  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from tests.gh.emulated.node import EquipmentMissingError, npm_packages
from tests.in_browser import keep_picture, loaded_in
from tests.unit.reports.large import large_record, large_result
from tidegate.model.cause import Cause, ChangedLine, Place
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.model.measurement import Metrics, TrialResult
from tidegate.model.result import Result
from tidegate.model.trial import Record
from tidegate.model.trial_spec import encoded
from tidegate.reports.html import MAX_BYTES, render_html

Stories = Mapping[str, Callable[[], Result]]
Opened = Callable[..., Page]
COMMENT_STYLE = (Path(__file__).parents[2] / "browser/comment.css").read_text(encoding="utf-8")
ROWS = ".rows tbody tr:not(.fold)"
PAGES = (".rows", ".grid", ".steps")  # overview, row, two trials: what each has and the others have not
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens the page of a result; whatever it fetches, and whatever goes wrong in its script, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    wrong: list[str] = []
    path = tmp_path / "report.html"

    def open_page(
        result: Result, read: Callable[[TrialResult], Record] = lambda _: Record(), fragment: str = ""
    ) -> Page:
        path.write_text(
            render_html(result, read, {"base": "runs/base", "head": "runs/head"}), encoding="utf-8", newline="\n"
        )
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{path.as_uri()}#{fragment}")
        page.wait_for_selector("h1")
        return page

    yield open_page
    context.close()
    assert wrong == []
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= {path.as_uri()}


def told(trial: TrialResult) -> Record:
    """Base lists and adds; head asks for help in between, and its adding fails."""
    failed = trial.outcome == "fail"
    help_call = (
        ToolCall(id="h", tool="shell", command="taskmgr add --help", at=1),
        ToolResult(id="h", status="ok", exit_code=0, output="usage: taskmgr add\nwith --priority\n"),
    )
    return Record(
        prompt="All of the prompt,\nline by line.",
        events=(
            Message(text=f"Let me see, says {trial.id}."),
            ToolCall(id="1", tool="shell", command="taskmgr list"),
            ToolResult(id="1", status="ok", exit_code=0, output="none\nat\nall"),
            *(help_call if failed else ()),
            ToolCall(id="2", tool="shell", command="taskmgr add --prio high x", at=2),
            ToolResult(id="2", status="error" if failed else "ok", exit_code=2 if failed else 0),
            End(end="completed", at=3),
        ),
        diff="diff --git a/tasks.json b/tasks.json\n+x\n-y\n",
    )


def test_the_overview_says_what_the_comment_says(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"]())
    assert page.locator("h1").inner_text() == "❌ Tidegate: failed"
    assert page.locator(ROWS).count() == 4
    first = page.locator(".rows tbody tr").first.inner_text()
    assert all(words in first for words in ("regressed", "add_high_priority", "docs", "2/2", "0/3", "−100 points"))


def test_rows_are_found_by_words_states_and_agents(opened: Opened, stories: Stories) -> None:
    page = opened(stories["unconfirmed"]())
    rows = page.locator(ROWS)
    every = rows.count()
    unconfirmed = page.get_by_role("button", name="unconfirmed")
    unconfirmed.click()
    assert (rows.count(), unconfirmed.get_attribute("aria-pressed")) == (1, "true")
    assert page.get_by_role("status").inner_text() == f"1 of {every} rows"
    address = page.url
    unconfirmed.click()
    assert rows.count() == every
    page.get_by_label("Search").fill("no such words anywhere")
    assert rows.count() == 0
    page.goto("about:blank")
    page.goto(address)
    assert rows.count() == 1, "filters are part of the address"


def test_every_row_has_a_page_and_every_trial_a_line(opened: Opened, stories: Stories) -> None:
    result = stories["one_regression"]()
    page = opened(result, told)
    page.get_by_role("link", name="add_high_priority", exact=True).click()
    page.wait_for_selector(".grid")
    assert page.url.endswith("#add_high_priority/docs")
    assert page.evaluate("document.activeElement.id") == "main", "a screen reader goes on with the new page"
    assert page.title().startswith("add_high_priority × docs")
    trials = page.get_by_role("table", name="Trials", exact=True).locator("tbody tr")
    assert trials.count() == len(result.trials)
    assert page.locator(".grid tbody tr").count() == 1
    assert page.locator(".grid tbody .minus").count() == 3
    assert "unrecognized arguments: --prio" in page.locator("main").inner_text()


def test_a_scenario_s_page_has_its_own_changes_and_those_of_the_subject(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    diffs = page.locator("main details", has=page.locator("summary", has_text="lines"))
    assert [text.partition(" (")[0] for text in diffs.locator("summary").all_inner_texts()] == [
        "scenarios/add_high_priority.yaml",
        "cli.py",
    ]
    page.evaluate("location.hash = '#add_task/docs'")
    page.get_by_role("heading", name="add_task").wait_for()
    assert diffs.count() == 1
    assert diffs.locator("summary").inner_text().startswith("cli.py")
    page.evaluate("location.hash = '#add_high_priority/docs'")
    page.get_by_role("heading", name="add_high_priority").wait_for()
    definition = page.locator("main details", has=page.locator("summary", has_text="add_high_priority.yaml"))
    assert not definition.locator("pre").is_visible()
    definition.locator("summary").press("Enter")
    assert definition.locator(".plus").inner_text().strip() == "+description: Add a task."
    assert definition.locator(".minus").inner_text().strip() == "-description: Add one."


def test_a_row_s_page_has_each_metric_on_both_sides(opened: Opened, stories: Stories) -> None:
    page = opened(stories["stochastic_regression"]())
    page.evaluate("location.hash = '#create_and_link/claude'")
    page.get_by_role("heading", name="create_and_link").wait_for()
    table = page.get_by_role("table", name="Metrics on both sides")
    assert table.locator("thead th").all_inner_texts() == ["metric", "base", "head"]
    assert table.locator("tr", has_text="tokens in").locator("td").all_inner_texts() == ["41,000", "88,000"]


def test_what_the_judge_says_stands_by_criterion(opened: Opened, stories: Stories) -> None:
    page = opened(stories["judged"](), fragment="add_task/docs")
    section = page.locator("section", has=page.get_by_role("heading", name="Judged by a model"))
    assert "⚠️ Worse: base 0.92 over 1 trial; head 0.60 over 1 trial" in section.inner_text()
    cells = section.get_by_role("row", name="names all three notes").locator("td").all_inner_texts()
    assert cells == ["1.00", "0.40", "It leaves out the third."]
    page.get_by_role("link", name="Base and head side by side").click()
    said = page.locator("section", has=page.get_by_role("heading", name="Evaluators and judge"))
    said.get_by_text("names all three notes 0.40 (required): It leaves out the third.").first.wait_for()


def test_a_trial_is_found_by_its_id(opened: Opened, stories: Stories) -> None:
    """As it stands in result.json: `head/scenario/agent/2`."""
    page = opened(stories["one_regression"](), told, "head/add_high_priority/docs/2")
    page.get_by_text("says head/add_high_priority/docs/2").wait_for()
    page.get_by_text("says base/add_high_priority/docs/1").wait_for()
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**#add_task/docs")


def test_two_trials_stand_side_by_side(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told, "add_high_priority/docs")
    page.get_by_role("link", name="Base and head side by side").click()
    page.wait_for_selector(".steps")
    lines = page.locator(".steps tbody tr")
    assert [lines.nth(place).get_attribute("id") or lines.nth(place).get_attribute("class") for place in range(6)] == [
        None, None, "differs", "divergence", "parts", None]  # fmt: skip
    assert "taskmgr add --help" in lines.nth(2).inner_text()
    assert "exit 2" in lines.nth(4).inner_text()
    assert lines.nth(3).inner_text() == "▼ First difference, at step 2", "the number that the comment gives"
    assert "step 2" in lines.nth(4).inner_text()
    page.get_by_role("button", name="Go to the first divergence").click()
    assert page.evaluate("document.activeElement.id") == "divergence"


def test_output_is_folded_and_unfolds(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told, "add_high_priority/docs/1-2")
    page.wait_for_selector(".steps")
    output = page.locator(".steps pre").first
    assert not output.is_visible()
    page.locator(".steps summary").first.press("Enter")
    assert output.inner_text() == "none\nat\nall"
    page.get_by_role("button", name="Expand all").click()
    assert page.locator("main details[open]").count() == page.locator("main details").count() > 3
    page.get_by_role("button", name="Collapse all", exact=True).click()
    assert page.locator("main details[open]").count() == 0


def test_any_two_trials_can_be_chosen_and_the_address_names_them(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told, "add_high_priority/docs/1-2")
    page.get_by_label("Trial on head").select_option("3")
    page.wait_for_url("**#add_high_priority/docs/1-3")
    page.get_by_text("says head/add_high_priority/docs/3").wait_for()
    page.go_back()
    page.get_by_text("says head/add_high_priority/docs/2").wait_for()


def test_the_keyboard_is_enough(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main", "the first key skips to the content"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "add_high_priority":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".grid")
    page.get_by_role("button", name="Next").press("Enter")
    page.wait_for_url("**#add_task/docs")


def test_the_cause_and_the_task_come_first(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    for fragment in ("", "add_high_priority/docs"):
        page.evaluate("(hash) => { location.hash = hash }", fragment)
        page.wait_for_selector(PAGES[fragment.count("/")])
        assert page.locator("h2").first.inner_text() == "Likely cause"
        card = page.locator(".cause").inner_text()
        assert "taskmgr add no longer accepts --prio" in card
        assert '-add.add_argument("--prio", default="normal")' in card
        assert "Still used in AGENTS.md:12" in card
        assert "`" not in card
        assert page.get_by_text("Add the task x with high priority").is_visible()


def test_rows_without_a_regression_are_folded_until_they_are_asked_for(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    assert page.locator(ROWS).filter(visible=True).count() == 1
    page.get_by_role("button", name="Show 3 rows without regression").click()
    assert page.locator(ROWS).filter(visible=True).count() == 4
    page = opened(stories["all_fine"]())
    assert page.locator(ROWS).filter(visible=True).count() == page.locator(ROWS).count() > 1


def test_columns_sort_by_mouse_and_by_keyboard(opened: Opened, large: Result) -> None:
    page = opened(large)
    names = page.locator(".to-row")
    scenario = page.get_by_role("columnheader", name="scenario")
    scenario.get_by_role("button").click()
    assert scenario.get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts() == sorted(names.all_inner_texts())
    time = page.get_by_role("columnheader", name="time")
    time.get_by_role("button").press("Enter")
    time.get_by_role("button").press("Enter")
    assert (time.get_attribute("aria-sort"), scenario.get_attribute("aria-sort")) == ("descending", None)
    shown = page.evaluate("sorted(columnsOf(), '-time').map((row) => row.cells.at(-2).value)")
    assert shown == sorted(shown, reverse=True)
    assert "sort=-time" in page.url


def test_search_finds_what_only_a_transcript_says(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    page.get_by_label("Search").fill("Says HEAD/add_high_priority/docs/3")
    page.get_by_text("in the transcript of head 3").wait_for()
    assert page.locator(ROWS).count() == 1
    assert page.locator("mark").all_inner_texts() == ["head/add_high_priority/docs/3"]
    page.get_by_role("link", name="head 3").click()
    page.wait_for_selector(".steps")


def test_transcripts_are_opened_before_the_first_search(opened: Opened, stories: Stories) -> None:
    result = stories["one_regression"]()
    page = opened(result, told)
    ready = "() => new Promise((done) => { const look = () => index ? done(index.length) : setTimeout(look); look(); })"
    assert page.evaluate(ready) == len(result.trials)


def test_a_column_in_which_nothing_was_reported_is_left_out(opened: Opened, stories: Stories) -> None:
    result = stories["one_regression"]()
    page = opened(result)
    assert page.get_by_role("columnheader", name="error rate").count() == 1
    bare = result.model_copy(update={"rows": tuple(row.model_copy(update={"metrics": {}}) for row in result.rows)})
    page = opened(bare)
    assert page.locator(ROWS).count() == 4
    assert page.get_by_role("columnheader", name="error rate").count() == 0


def test_texts_for_an_agent_and_to_reproduce_are_copied(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), told)
    steps = page.locator("section", has=page.get_by_role("heading", name="What to do")).locator("li").all_inner_texts()
    assert steps[0].startswith("To fix: update AGENTS.md:12 and AGENTS.md:14, which still use --prio")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy reproduce").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == [
        "# needs Tidegate on PATH",
        "gh pr checkout 7",
        "tidegate pr --base origin/main --scenario add_high_priority --agent docs",
    ]
    page.evaluate("location.hash = '#add_high_priority/docs'")
    page.wait_for_selector(".grid")
    page.get_by_role("button", name="Copy for an agent").click()
    page.get_by_text("Copied").wait_for()
    assert "Task of the agent:\n| Add the task x" in page.evaluate("navigator.clipboard.readText()")


def test_a_trial_has_its_cost_and_its_whole_prompt(opened: Opened, stories: Stories) -> None:
    result = stories["one_regression"]()
    paid = Metrics(command_count=3, error_count=2, duration_s=3.0, tokens_in=41_000, tokens_out=900, cost_usd=0.0213)
    trials = tuple(trial.model_copy(update={"metrics": paid}) for trial in result.trials)
    page = opened(result.model_copy(update={"trials": trials}), told, "add_high_priority/docs/1-1")
    page.wait_for_selector(".steps")
    assert "3.0 s · 3 calls · 2 failed · 41,000 tokens in · 900 tokens out · $0.02" in page.locator("main").inner_text()
    page.evaluate("location.hash = '#add_high_priority/docs'")
    cells = page.get_by_role("table", name="Trials", exact=True).locator("tbody tr").first.locator("td")
    assert cells.all_inner_texts()[1:-1] == ["3.0 s", "3", "2", "41,000", "900", "$0.02"]
    page.get_by_text("Whole prompt").click()
    page.get_by_text("All of the prompt,\nline by line.").wait_for()


def test_without_javascript_the_page_has_the_verdict(browser: Browser, stories: Stories, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(stories["one_regression"](), told, {}), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False)
    page.goto(path.as_uri())
    text = page.locator("main").inner_text()
    page.close()
    assert all(words in text for words in ("failed", "add_high_priority", "result.json"))


def test_an_address_of_nothing_says_so(opened: Opened, stories: Stories) -> None:
    page = opened(stories["one_regression"](), fragment="nothing/%zz")
    assert page.locator("h1").inner_text() == "There is no such page"


def test_no_hostile_text_becomes_markup(opened: Opened, stories: Stories) -> None:
    evil = stories["hostile"]()
    row = evil.rows[0].model_copy(update={"scenario": HOSTILE, "agent": "../a b%2F#?"})
    trials = tuple(
        trial.model_copy(update={"scenario": HOSTILE, "agent": row.agent, "id": trial.spec.model_copy(
            update={"scenario": HOSTILE, "agent": row.agent}).id}) for trial in evil.trials
    )  # fmt: skip
    record = Record(
        prompt=HOSTILE,
        events=(Message(text=HOSTILE), ToolCall(id="1", tool=HOSTILE, command=HOSTILE)),
        diff=HOSTILE,
    )
    where = Place(side="head", path=HOSTILE, line=1, text=HOSTILE)
    edits = (ChangedLine(removed=where, added=where),)
    texts = {"about": (HOSTILE,), "names": (HOSTILE,), "edits": edits, "still_named": (where,)}
    cause = Cause(kind="option", rows=(row.key,), **texts)
    result = evil.model_copy(update={"rows": (row, *evil.rows), "trials": trials, "causes": (cause,)})
    page = opened(result, lambda _: record)
    own = f"#{encoded(HOSTILE)}/{encoded(row.agent)}"
    for fragment in ("", own, f"{own}/0-1"):
        page.evaluate("(hash) => { location.hash = hash }", fragment)
        page.wait_for_selector("h1")
        page.wait_for_timeout(100)
        assert page.locator("main img, main script, main iframe").count() == 0
        assert "taken" not in page.title().replace(HOSTILE, "")
        assert HOSTILE in page.locator("body").inner_text()
    assert page.locator(".steps tbody tr").count() >= 2
    page.evaluate("location.hash = '#?q=onerror'")
    page.evaluate("indexed().then(() => null)")
    assert page.locator("main img, main script, main iframe").count() == 0
    page.evaluate("(hash) => { location.hash = hash }", own)
    page.get_by_text("Whole prompt").click()
    page.locator("details", has_text="Whole prompt").locator("pre", has_text="onerror").wait_for()
    assert page.locator("main img, main script, main iframe").count() == 0


@pytest.fixture(scope="module")
def large() -> Result:
    """50 scenarios × 20 trials."""
    return large_result()


def test_a_large_run_opens_at_once(opened: Opened, large: Result, tmp_path: Path) -> None:
    page = opened(large, large_record)
    assert (tmp_path / "report.html").stat().st_size <= MAX_BYTES
    assert 0 < loaded_in(page, 2000) < 2000
    assert page.locator(ROWS).count() == 50
    page.get_by_role("link", name="scenario_00").click()
    page.get_by_role("link", name="Base and head side by side").click()
    page.wait_for_selector(".steps code")


def test_what_is_left_out_is_said_and_linked(opened: Opened, large: Result) -> None:
    page = opened(large, large_record, "scenario_49/claude/1-10")
    page.get_by_text("Transcript omitted").first.wait_for()
    links = page.get_by_role("link", name="runs/head/trials/scenario_49/claude/10/")
    assert links.get_attribute("href") == "./runs/head/trials/scenario_49/claude/10/"


@pytest.mark.parametrize("width", [375, 500, 768])
def test_no_page_scrolls_sideways(opened: Opened, stories: Stories, width: int) -> None:
    """On a phone and on a tablet, tables become blocks; the grid of gates and trials scrolls in its own frame."""
    page = opened(stories["one_regression"](), told)
    page.set_viewport_size({"width": width, "height": 800})
    for fragment in ("", "add_high_priority/docs", "add_high_priority/docs/1-1"):
        page.evaluate("(hash) => { location.hash = hash }", fragment)
        page.wait_for_selector(PAGES[fragment.count("/")])
        keep_picture(page, f"report screen {width} {fragment.count('/')}")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        wider = "[...document.querySelectorAll('.scrolled')].filter((one) => one.scrollWidth > one.clientWidth)"
        names: list[str] = page.evaluate(f"{wider}.map((one) => one.ariaLabel)")
        assert {"Gates and trials"}.issuperset(names)


def test_the_overview_says_what_to_do_and_why_a_row_was_not_measured(opened: Opened, stories: Stories) -> None:
    page = opened(stories["setup_not_measured"]())
    lines = page.locator("section", has=page.get_by_role("heading", name="What to do")).locator("li")
    assert lines.count() == 4
    assert lines.first.inner_text().startswith("build: Fix build in tidegate.yaml")
    assert lines.first.locator("code").all_inner_texts() == ["build", "tidegate.yaml"]
    assert "ended with exit 2" in page.locator(".rows tbody tr").first.inner_text()


def test_a_row_says_on_a_phone_what_it_says_elsewhere_but_for_numbers_that_stayed(
    opened: Opened, stories: Stories
) -> None:
    page = opened(stories["one_regression"](), told)
    page.set_viewport_size({"width": 375, "height": 800})
    page.get_by_role("button", name="Show 3 rows").click()
    rows = page.get_by_role("table", name="All rows").get_by_role("row")
    worse, same = rows.nth(1), rows.nth(2)
    assert "regressed" in worse.inner_text()
    cells = [text.replace("\N{NO-BREAK SPACE}", " ") for text in worse.get_by_role("cell").all_inner_texts()]
    assert {"2/2", "0/3", "−100 points", "0% → 67% (worse)"}.issubset(cells)
    assert worse.get_by_text("2/2").evaluate("(cell) => getComputedStyle(cell, '::before').content") == '"base"'
    assert [text for text in same.get_by_role("cell").all_inner_texts() if text] == ["✅ ok", "docs", "1/1", "1/1"]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 375), ("dark", 375)])
def test_axe_finds_nothing(opened: Opened, stories: Stories, scheme: str, width: int) -> None:
    """On every kind of page, in both colour schemes, on a screen and on a phone."""
    try:
        axe = npm_packages(Path(__file__).parents[2] / "browser") / "axe-core/axe.min.js"
    except EquipmentMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"axe-core cannot be had: {missing}")
    page = opened(stories["one_regression"](), told)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    source = axe.read_text(encoding="utf-8")
    for fragment in ("", "add_high_priority/docs", "add_high_priority/docs/1-1"):
        page.evaluate("(hash) => { location.hash = hash }", fragment)
        page.wait_for_selector(PAGES[fragment.count("/")])
        keep_picture(page, f"report {scheme} {width} {fragment.count('/')}")
        page.evaluate(source)
        found = page.evaluate("axe.run().then((found) => found.violations)")
        assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found] == []


def test_every_comment_can_be_looked_at(browser: Browser, comment: tuple[str, str], tmp_path: Path) -> None:
    """By GitHub's own Markdown, in the width of a comment. TIDEGATE_SCREENSHOTS: a folder that keeps the pictures."""
    name, text = comment
    folder = Path(os.environ.get("TIDEGATE_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    body = github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    page = browser.new_page(viewport={"width": 780, "height": 400})
    page.set_content(f"<!doctype html><style>{COMMENT_STYLE}</style>{body}")
    assert "Tidegate" in page.locator("h2").first.inner_text()
    assert "**" not in page.locator("body").inner_text(), "emphasis that is not one"
    assert page.locator("img, script").count() == 0
    assert page.locator("a:not([href^='https://github.com/octo/taskmgr/'])").count() == 0
    page.screenshot(path=folder / f"{name}.png", full_page=True)
    page.close()
    assert (folder / f"{name}.png").stat().st_size > 0
