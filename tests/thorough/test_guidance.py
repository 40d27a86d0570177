"""Two guidance texts, compared as two sides are, in both directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
GOOD = "# Notes\n\n```console\n$ notes add first\n$ notes add second\n```\n"
WORSE = GOOD.replace("add second", "append second")


@pytest.fixture
def ask(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    def run(first: str, second: str, *more: str) -> Any:
        repo = make_repository()
        repo.commit(FILES)
        repo.write({"a.md": first, "b.md": second})
        before = repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD")
        ran = tidegate("guidance", "a.md", "b.md", *more, cwd=repo.root)
        assert (repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD")) == before, (
            "the repository is left alone"
        )
        assert not (repo.root / ".tidegate/store").exists(), "a question is no history"
        return ran

    return run


def line(ran: Any, start: str) -> str:
    lines: list[str] = ran.stdout.splitlines()
    return next(line for line in lines if line.startswith(start))


@pytest.mark.parametrize(("texts", "worse"), [((GOOD, WORSE), "B"), ((WORSE, GOOD), "A")])
def test_the_worse_text_is_named_whichever_comes_first(texts: tuple[str, str], worse: str, ask: Make) -> None:
    ran = ask(*texts)

    assert ran.code == 0, ran.stderr
    assert line(ran, "keep_notes × docs").endswith(f"{worse} is worse")
    assert line(ran, "A: a.md   B: b.md")
    assert ran.stdout.index("metric") < ran.stdout.index("scenario × agent")


def test_texts_that_do_the_same_are_not_told_apart(ask: Make) -> None:
    ran = ask(GOOD, GOOD + "\nThat is all.\n")

    assert ran.code == 0, ran.stderr
    assert line(ran, "keep_notes × docs").split() == ["keep_notes", "×", "docs", "2/2", "2/2", "not", "told", "apart"]


def test_metrics_of_deterministic_agents_need_no_test(ask: Make) -> None:
    """Calls fail with B alone, and chance plays no part; the duration still depends on the machine."""
    ran = ask(GOOD, WORSE)

    assert line(ran, "error rate").split() == ["error", "rate", "0", "0.75", "B", "is", "worse"]
    assert line(ran, "duration s").endswith("not told apart")


def test_another_name_is_another_file(ask: Make) -> None:
    """The doc-follower reads AGENTS.md, which both have as the repository has it."""
    ran = ask(GOOD, WORSE, "--as", "CLAUDE.md")

    assert line(ran, "keep_notes × docs").endswith("not told apart")


def test_the_same_text_twice_is_nothing_to_compare(ask: Make) -> None:
    ran = ask(GOOD, GOOD)

    assert (ran.code, ran.stderr) == (2, "tidegate: both texts are the same.\nName two different texts.\n")


JUDGE = """\
judge:
  type: scripted
  script:
    - when: were not better
      answers: [{why: The list has the right command., old: append second, new: add second}]
    - when: notes append second
      answers: [{why: A title is clearer., old: "# Notes", new: "# How to take notes"}]
"""


def test_edits_of_a_model_stay_if_the_procedure_finds_them_better(make_repository: Make, tidegate: Make) -> None:
    """The first edit changes nothing that matters; the second repairs the command."""
    repo = make_repository()
    repo.commit(FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + JUDGE, "AGENTS.md": WORSE})

    ran = tidegate("guidance", "AGENTS.md", "--improve", "--out", "improved", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    first, second = (line(ran, number).split(maxsplit=4) for number in ("1 ", "2 "))
    assert (first[3], first[4]) == ("no", "A title is clearer.")
    assert (second[3], second[4]) == ("yes", "The list has the right command.")
    assert second[1].startswith("0/")
    assert "-$ notes append second\n+$ notes add second\n" in ran.stdout
    assert (repo.root / "improved/AGENTS.md").read_text() == GOOD
    assert (repo.root / "AGENTS.md").read_text() == WORSE, "the file itself is not changed"


def test_one_text_alone_has_nothing_to_be_compared_with(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"AGENTS.md": GOOD})
    ran = tidegate("guidance", "AGENTS.md", cwd=repo.root)
    assert (ran.code, "Name B.md, or pass `--improve`." in ran.stderr) == (2, True)
