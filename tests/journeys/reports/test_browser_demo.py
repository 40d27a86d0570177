"""The report of the demo's regression, every page of it, in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.demo import demo_of_the_session
from tests.in_browser import keep_picture


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `tidegate demo` has written."""
    return demo_of_the_session(tmp_path_factory).out


def visit(page: Page, fragment: str, selector: str) -> None:
    page.evaluate("(hash) => { location.hash = hash }", fragment)
    page.locator(selector).first.wait_for()


def test_every_page_of_the_regression_opens_and_fetches_nothing(browser: Browser, demo: Path) -> None:
    address = (demo / "regression/report.html").as_uri()
    page = browser.new_page()
    wrong: list[str] = []
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url.partition("#")[0]))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    page.wait_for_selector("h1")
    assert page.locator("h1").inner_text().endswith("Tidegate: failed")
    keep_picture(page, "demo regression")
    rows = page.evaluate("data.rows.map((row) => [row.path, pair(row).slice(1), row.trials.length])")
    assert len(rows) == 4
    for path, beside, trials in rows:
        visit(page, path, "table:has(caption:text-is('Trials'))")
        assert page.locator("table:has(caption:text-is('Trials')) tbody tr").count() == trials
        visit(page, beside, ".steps tbody tr")
        page.get_by_role("button", name="Expand all").click()
        assert page.locator("main details:not([open])").count() == 0
    page.close()
    assert wrong == []
    assert {url for url in asked if not url.startswith("data:")} == {address}


def test_the_regression_shows_what_broke_it(browser: Browser, demo: Path) -> None:
    """From the row to the line of code, and to the place where the two trials part."""
    page = browser.new_page()
    page.goto((demo / "regression/report.html").as_uri())
    page.get_by_role("button", name="regressed").click()
    assert page.locator(".rows tbody tr").count() == 2
    page.get_by_role("link", name="prioritise", exact=True).click()
    page.wait_for_selector("h1:has-text('prioritise')")
    text = page.locator("main").inner_text()
    assert "taskmgr: unrecognized arguments: --priority" in text
    assert '+sub.add_argument("--prio"' in text
    page.get_by_role("link", name="Base and head side by side").click()
    page.wait_for_selector("#divergence")
    parting = page.locator("#divergence + tr").inner_text()
    assert "exit 0" in parting
    assert "exit 2" in parting
    page.close()
