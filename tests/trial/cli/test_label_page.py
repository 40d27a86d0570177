"""`tidegate label --page`: the questions in a browser, only for people who have the address."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.conftest import Repository
from tests.in_browser import chromium, keep_picture
from tests.journeys.test_judges import FEWER, JUDGED
from tests.warm import run_tidegate

ADDRESS = re.compile(r"open http://127\.0\.0\.1:(\d+)(/[\w-]{22}/) ;")


@pytest.fixture(scope="module")
def judged(shared_path: Path) -> Path:
    """What `tidegate pr` wrote: two trials of three criteria each."""
    repo = Repository(shared_path / "repo")
    repo.commit(JUDGED)
    repo.branch("fewer", FEWER)
    done = run_tidegate("pr", "--base", "main", "--out", repo.root.parent / "out", cwd=repo.root)
    assert done.returncode == 0, done.stderr
    return repo.root.parent / "out"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Served:
    """The command while it runs."""

    def __init__(self, judged: Path, folder: Path) -> None:
        self.labels = folder / "labels.jsonl"
        command = [sys.executable, "-m", "tidegate", "label", str(judged), "--labels", str(self.labels), "--page"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = ADDRESS.match(self.process.stdout.readline())
        assert found is not None
        self.port, self.path = int(found[1]), found[2]

    def asked(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Host": f"127.0.0.1:{self.port}", **named})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def verdicts(self) -> list[str]:
        return [json.loads(line)["verdict"] for line in self.labels.read_text().splitlines()]


@pytest.fixture
def served(judged: Path, tmp_path: Path) -> Iterator[Served]:
    running = Served(judged, tmp_path)
    yield running
    running.process.kill()
    running.process.communicate(timeout=60)


def test_a_person_labels_in_a_browser(served: Served, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 375, "height": 700})
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"http://127.0.0.1:{served.port}{served.path}")
    page.get_by_text("1 of 6").wait_for()
    keep_picture(page, "label")
    assert "Add two notes as AGENTS.md says." in page.locator("main").inner_text()
    for told in ("Only one note is there", "0.20", "judge", "head/"):  # who knows what the judge thinks follows it
        assert told not in page.locator("main").inner_text()
    page.get_by_role("button", name="Not met").click()
    page.get_by_text("2 of 6").wait_for()
    page.keyboard.press("y")
    page.get_by_text("3 of 6").wait_for()
    page.keyboard.press("b")
    page.get_by_text("2 of 6").wait_for()
    assert page.get_by_role("button", name="Met (y)", exact=True).get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Skip").click()
    page.get_by_text("3 of 6").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.get_by_role("button", name="Done").click()
    page.get_by_role("heading", name="Done").wait_for()
    out, _ = served.process.communicate(timeout=60)
    assert "2 labelled, 4 left" in out
    assert "next: tidegate calibrate" in out
    assert served.process.returncode == 0
    assert served.verdicts() == ["unmet", "met"]
    assert wrong == []
    page.close()


def test_strangers_get_nothing_and_write_nothing(served: Served) -> None:
    """Another program of this machine does not know the path; another site's page has another origin or host name."""
    own = f"http://127.0.0.1:{served.port}"
    label = ("POST", f"{served.path}questions/0", '{"verdict": "met"}')
    assert served.asked("GET", "/")[0] == 403
    assert served.asked("GET", "/guess/questions/0")[0] == 403
    assert served.asked("GET", served.path, Host="evil.example")[0] == 403
    assert served.asked(*label)[0] == 403
    assert served.asked(*label, Origin="http://evil.example")[0] == 403
    assert served.asked("POST", f"{served.path}done", "{}", Origin="null")[0] == 403
    assert served.asked("POST", f"{served.path}questions/0", '{"verdict": "maybe"}', Origin=own)[0] == 400
    assert served.asked("POST", f"{served.path}questions/6", '{"verdict": "met"}', Origin=own)[0] == 400
    assert served.asked("POST", f"{served.path}questions/0", "[", Origin=own)[0] == 400
    assert served.asked("GET", f"{served.path}../../etc/passwd")[0] == 404
    assert not served.labels.exists()
    assert served.asked(*label, Origin=own) == (200, "")
    assert served.verdicts() == ["met"]


def test_an_interrupt_ends_it_and_keeps_the_answers(served: Served) -> None:
    own = f"http://127.0.0.1:{served.port}"
    served.asked("POST", f"{served.path}questions/5", '{"verdict": "unmet"}', Origin=own)
    served.process.send_signal(signal.SIGINT)
    out, errors = served.process.communicate(timeout=60)
    assert (served.process.returncode, errors) == (0, "")
    assert "1 labelled, 5 left" in out
