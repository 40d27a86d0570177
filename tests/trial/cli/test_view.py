"""`tidegate view`: the report of a stored run on this machine only, read-only, and followed while the run goes on."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.in_browser import chromium
from tests.make import run, trial_result
from tests.warm import run_tidegate
from tidegate.history.run_folder import RunFolder
from tidegate.model.run_row import RunRow
from tidegate.model.trial_spec import Side

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/[\w-]{22}/) shows ")
View = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A folder of `tidegate pr` whose run goes on: one trial of each side has finished."""
    for side in ("base", "head"):
        store = RunFolder(tmp_path / "out/runs" / side)
        store.begin_run(run(side=side, rows=(RunRow(scenario="add_task", agent="docs", deterministic=True),)))
        finish(tmp_path / "out", side, 1)
    return tmp_path / "out"


def finish(place: Path, side: Side, index: int) -> None:
    """Store one more trial that passes."""
    RunFolder(place / "runs" / side).finish_trial(
        trial_result(side=side, scenario="add_task", agent="docs", index=index, outcome="pass")
    )


@pytest.fixture
def view() -> Iterator[View]:
    """Starts `tidegate view` and returns its port and secret path; Ctrl-C ends it with code 0."""
    started: list[subprocess.Popen[str]] = []

    def start(place: Path, *options: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "tidegate", "view", "--no-browser", *options, str(place)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        found = ADDRESS.match(process.stdout.readline())
        assert found is not None
        return int(found[1]), found[2]

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 0


def answer(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers=headers)
    found = connection.getresponse()
    text = found.read().decode()
    connection.close()
    return found.status, text


def test_only_who_has_the_address_can_read_and_nobody_can_write(view: View, unfinished: Path) -> None:
    port, path = view(unfinished)
    assert answer(port, path)[0] == 200
    assert answer(port, "/")[0] == 403
    assert answer(port, path, Host=f"evil.example:{port}")[0] == 403
    assert answer(port, f"{path}runs/base/run.json")[0] == 404
    assert answer(port, f"{path}../../etc/passwd")[0] == 404
    assert answer(port, path, "POST")[0] == answer(port, path, "PUT")[0] == 501


def test_a_run_that_goes_on_is_followed_and_never_decided(view: View, unfinished: Path, browser: Browser) -> None:
    port, path = view(unfinished, "--watch")
    page = browser.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(f"http://127.0.0.1:{port}{path}")
    page.get_by_text("the run is not finished: 1 trial on base and 1 on head so far").wait_for()
    assert page.locator("h1").inner_text().endswith("Tidegate: inconclusive")
    finish(unfinished, "head", 2)
    page.get_by_text("1 trial on base and 2 on head so far").wait_for()
    page.close()
    assert wrong == []


def test_a_run_without_a_base_is_shown_by_itself(view: View, unfinished: Path) -> None:
    status, page = answer(*view(unfinished / "runs" / "head"))
    assert status == 200
    assert "one run without a base, not finished: 1 of 1 trial passed" in page


def test_a_run_that_is_removed_meanwhile_is_an_error_that_says_so(view: View, unfinished: Path) -> None:
    port, path = view(unfinished)
    shutil.rmtree(unfinished)
    status, text = answer(port, path)
    assert status == 503
    assert "does not exist" in text


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    done = run_tidegate("view", "--no-browser", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert "contains no finished run" in done.stderr
