"""Whole sessions: what differs between runs of the same tool is no difference, and a change is one."""

from __future__ import annotations

import random

import pytest

from tests import make
from tests.make import sure
from tests.unit.text.printed import CHANGED, NOW, VOLATILE
from tidegate.decide.replay.compare import Base, Replayed, ReplayStep, difference, on_base, replayed
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.measurement import EvaluatorResult
from tidegate.model.trial import FOLDER_MARK, SessionRecord, SessionStep
from tidegate.text.noise import Printed

SESSIONS = 30
STEPS = 4  # of each session, of other tools; together, the sessions use each tool three times or more
SECS = 0.09


def printed(number: int, replay: int) -> list[Printed]:
    """What the steps of a session print: in replay 0 when it is recorded, in 1 and 2 on base, in 3 on head."""
    names = [list(VOLATILE)[(number + 8 * step) % len(VOLATILE)] for step in range(STEPS)]
    chance, at = random.Random(f"{number} {replay}"), NOW + 3_607.3 * replay
    return [Printed(VOLATILE[name](chance, at), at, SECS) for name in names]


def recorded(steps: list[Printed]) -> SessionRecord:
    """The session that prints this."""
    told = tuple(
        SessionStep(
            tool="Bash", command=f"tool {n}", status="ok", exit_code=0, output=one.text, at=one.at, secs=one.secs
        )
        for n, one in enumerate(steps)
    )
    return SessionRecord(
        scenario="s", agent="a", trial="t", sha="c" * 40, at=NOW, passed=True, guidance="g", steps=told
    )


def replay(steps: list[Printed]) -> Replayed:
    """A replay that shows this."""
    return Replayed(tuple(ReplayStep(f"$ tool {n}", "ok", 0, one) for n, one in enumerate(steps)), (), "g", "")


@pytest.mark.parametrize("number", range(SESSIONS))
def test_a_session_of_volatile_tools_replays_on_base_and_alike_on_head(number: int) -> None:
    session = recorded(printed(number, 0))

    base = on_base(session, replay(printed(number, 1)), replay(printed(number, 2)))

    assert isinstance(base, Base), base
    assert difference(base, replay(printed(number, 3))) is None


@pytest.mark.parametrize(("number", "change"), list(enumerate(CHANGED)))
def test_a_change_in_one_step_is_not_masked_by_volatile_steps(number: int, change: str) -> None:
    one, other, head = CHANGED[change]
    runs = [printed(number, replay) for replay in range(4)]
    for steps, text in zip(runs, (one, one, other, head), strict=True):
        steps[2] = Printed(text, steps[2].at, SECS)

    base = on_base(recorded(runs[0]), replay(runs[1]), replay(runs[2]))

    assert isinstance(base, Base), base
    found = sure(difference(base, replay(runs[3])))
    assert found.step == "$ tool 2"


def test_of_a_long_help_text_the_line_that_differs_is_shown() -> None:
    options = "".join(f"  --option-{n}   what option {n} does\n" for n in range(40))
    texts = [f"usage: t\n{options}  --due DATE   {what}\n{options}" for what in ("when", "when", "until when")]
    one, other, head = (replay([Printed(text)]) for text in texts)
    base = on_base(recorded([Printed(texts[0])]), one, other)
    assert isinstance(base, Base), base
    found = sure(difference(base, head))
    assert (found.base, found.head) == ("exit 0: --due DATE when", "exit 0: --due DATE until when")


def test_another_verdict_of_an_evaluator_is_a_difference() -> None:
    """A duration that is masked in outputs may be what an evaluator looks for."""

    def shown(verdict: str) -> Replayed:
        found = EvaluatorResult.model_validate({"name": "state", "type": "expected_state", "verdict": verdict})
        made = make.trial(end="completed")
        return replayed(recorded([]), made, make.trial_result(evaluators=(found,)))

    base = on_base(recorded([]).model_copy(update={"guidance": ""}), shown("pass"), shown("pass"))
    assert isinstance(base, Base)
    assert difference(base, shown("pass")) is None
    assert sure(difference(base, shown("fail"))).step == "evaluator state"


@pytest.mark.parametrize("asked", [True, False], ids=["a step that asks for its folder", "another step"])
def test_a_line_like_our_mark_of_a_folder_is_left_out_only_where_we_asked_for_it(asked: bool) -> None:
    call = ToolCall(id="1", tool="Bash", command=f"trap '{FOLDER_MARK}' EXIT" if asked else "notes list")
    printed = ToolResult(id="1", status="ok", exit_code=0, output=f"kept\n\n{FOLDER_MARK}/work\n")
    made = make.trial(end="completed", events=(call, printed))
    shown = replayed(recorded([]), made, make.trial_result()).steps[0].printed.text
    assert (FOLDER_MARK in shown) == (not asked)


def test_files_that_a_trial_changes_and_links_of_its_setup_are_compared() -> None:
    def shown(*made: str) -> str:
        trial = make.trial(rewritten=("f (setup 2)",), made=made)
        return replayed(recorded([]), trial, make.trial_result()).checks[-2].printed.text

    assert shown("e", "l -> x") == "f (setup 2)\nl -> x"
    assert shown("e") == "f (setup 2)"
