"""The reports of a real run: files, terminal, templates."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, NOTES, SUITE, Ran, start

Make = Callable[..., Any]
RENAMED = NOTES.replace("  add)", "  append)")
BASE_TEMPLATE = '{% extends "comment.md.j2" %}{% block footer %}Ask in the channel of base.{% endblock %}'


@pytest.fixture
def repo(make_repository: Make) -> Any:
    """A repository whose main has a suite, and a branch `pr` that renames a command which AGENTS.md still has."""
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": RENAMED})
    return repo


def compared(repo: Any, tidegate: Make, *arguments: str) -> Ran:
    ran: Ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", "--quiet", *arguments, cwd=repo.root)
    return ran


@pytest.fixture(scope="module")
def ran(shared_path: Path) -> Ran:
    """The run of such a pull request, whose output goes to a pipe."""
    repo = Repository(shared_path / "repo")
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": RENAMED})
    return compared(repo, partial(start, shared_path / "out"))


def test_a_pipe_gets_the_findings_the_summary_and_the_verdict_last(ran: Ran) -> None:
    text, _, summary = ran.stdout.partition("--- short summary ---\n")
    assert text.splitlines()[:3] == ran.comment.splitlines()[:3]
    assert "\x1b" not in ran.stdout
    row, advice, _, result, _, _, last = summary.splitlines()
    assert row == "regressed  keep_notes × docs  2/2 → 0/3  bin/notes:4: `notes` no longer has the command `add`"
    assert advice.startswith("Intentional? A maintainer can accept")
    assert result == f"result:  {ran.out / 'result.json'}"
    assert re.fullmatch(r"failed: 1 regressed in [\d.]+ s", last)
    assert ran.stderr == ""


def test_the_quietest_output_is_the_summary(ran: Ran, tidegate: Make, tmp_path: Path) -> None:
    done = tidegate("compare", "-qq", *(str(ran.out / "runs" / side) for side in ("base", "head")), cwd=tmp_path)
    assert done.stdout.startswith("--- short summary ---\nregressed  keep_notes × docs ")


def test_json_is_alone_on_stdout_and_what_is_in_the_file(repo: Any, tidegate: Make) -> None:
    ran = compared(repo, tidegate, "--json", "--junit", str(repo.root / "junit.xml"))
    assert ran.stdout == (ran.out / "result.json").read_text()
    assert ET.parse(repo.root / "junit.xml").getroot().get("failures") == "1"


def on_a_terminal(columns: int, *command: str, cwd: Path, **environ: str) -> str:
    """What the command writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "50", **environ}
    environment.pop("CI", None)
    environment.pop("GITHUB_ACTIONS", None)
    child = subprocess.Popen(
        [sys.executable, "-m", "tidegate", *command], cwd=cwd, env=environment, stdin=theirs, stdout=theirs,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    text = b"".join(_read(ours))
    os.close(ours)
    child.wait(timeout=60)
    return text.decode().replace("\r\n", "\n")


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 65_536) or b""
        except OSError:  # the other end is closed: there is no more
            return


def test_a_terminal_of_80_columns_is_enough_with_and_without_colour(ran: Ran, tmp_path: Path) -> None:
    stored = [str(ran.out / "runs" / side) for side in ("base", "head")]
    coloured = on_a_terminal(80, "compare", *stored, cwd=tmp_path)
    plain = on_a_terminal(80, "compare", *stored, cwd=tmp_path, NO_COLOR="1")

    codes = {code for run in re.findall(r"\x1b\[([\d;]*)m", plain) for code in run.split(";") if code}
    assert not [code for code in codes if 30 <= int(code) <= 107], "NO_COLOR leaves bold and underline"
    assert "\x1b[1;3" in coloured
    bare = [re.sub(r"\x1b\[[\d;]*m", "", text) for text in (coloured, plain)]
    assert bare[0] == bare[1]
    assert max(len(line.rstrip()) for line in bare[1].splitlines()) <= 80
    assert re.search(r"^\w+ +keep_notes × docs +2/2 → 0/3 ", bare[1], re.MULTILINE)


def test_the_template_of_base_makes_the_comment(repo: Any, tidegate: Make) -> None:
    """What the pull request would make of it takes effect after the merge."""
    repo.git("checkout", "--quiet", "main")
    suite = SUITE + "report: {comment_template: .github/comment.md.j2}\n"
    repo.commit({"tidegate.yaml": suite, ".github/comment.md.j2": BASE_TEMPLATE})
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "main")
    repo.commit({".github/comment.md.j2": "✅ all is well"})

    ran = compared(repo, tidegate)

    assert ran.code == 1, ran.stderr
    assert not ran.comment.startswith("<!--")
    assert "## ❌ Tidegate: failed" in ran.comment
    assert ran.comment.endswith("\nAsk in the channel of base.\n")
    assert "all is well" not in ran.comment


def test_a_coding_agent_gets_cause_divergence_and_how_to_verify(ran: Ran, tidegate: Make, tmp_path: Path) -> None:
    shown = tidegate("show", str(ran.out), "--for-agent", cwd=tmp_path).stdout
    assert "Likely cause:\n| " in shown
    assert "First difference (- base, + head):\n| " in shown
    assert shown.rstrip().splitlines()[-1] == "tidegate pr --base main --scenario keep_notes --agent docs"
    assert shown.strip() in ran.comment
