"""Sessions are made of stored trials, and compared."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import DOCS, spec, sure, trial, trial_result, typed
from tidegate.decide.replay.compare import MOST_GIVEN, Base, Replayed, difference, on_base, replayed
from tidegate.decide.replay.record import session_of
from tidegate.model.event import CallStatus, End, Event, ToolCall, ToolResult
from tidegate.model.run_row import LeftOut
from tidegate.model.target import Target
from tidegate.model.trial import Places, SessionRecord, Trial
from tidegate.reports.replay_text import left_out_text

PLACES = Places(trial="/tmp/x/ab12", checkout="/tmp/x/cd34", user="61234")


def events(*calls: tuple[str, str], status: CallStatus = "ok") -> tuple[Event, ...]:
    made: list[Event] = []
    for number, (command, output) in enumerate(calls):
        made.append(ToolCall(id=str(number), tool="Bash", command=command, at=number))
        made.append(ToolResult(id=str(number), status=status, exit_code=0, output=output, at=number + 0.1))
    return (*made, End(end="completed"))


def ran(*calls: tuple[str, str], **fields: Any) -> Trial:
    return trial(**{"events": events(*calls), "places": PLACES, "agent_started_at": 1e9, **fields})


def session(made: Trial) -> SessionRecord:
    return sure(session_of(made, DOCS, Target(binary="notes"), "b" * 40, passed=True))


def seen(recorded: SessionRecord, *calls: tuple[str, str], **fields: Any) -> Replayed:
    made = ran(*calls, spec=spec(side="base"), **fields)
    return replayed(recorded, made, trial_result())


def test_folders_and_the_user_of_the_trial_are_replaced_by_names() -> None:
    recorded = session(ran(("cd /tmp/x/ab12/workspace", "61234 /tmp/x/cd34/bin 612345")))
    (step,) = recorded.steps
    assert step.command == "cd /tidegate-place/trial/workspace"
    assert step.output == "tidegate-user /tidegate-place/checkout/bin 612345"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (ran(("notes list", ""), events=events(("notes list", ""), status="background")), "unended"),
        (ran(events=(ToolCall(id="1", tool="Task"), ToolResult(id="1", status="ok"))), "unrepeatable"),
        (ran(events=(End(end="completed", traced=False),)), "untraced"),
        (ran(events=(End(end="completed"),)), "empty"),
    ],
)
def test_a_session_that_cannot_be_replayed_says_why(made: Trial, why: str) -> None:
    assert session(made).problem == why


def test_calls_that_were_denied_are_left_out() -> None:
    assert session(ran(events=events(("rm -rf /", ""), status="denied"))).steps == ()


def test_a_session_of_more_than_a_megabyte_is_not_kept() -> None:
    assert session_of(ran(*[("x" * 300_000, "")] * 4), DOCS, Target(binary="notes"), "b", passed=True) is None


def test_a_replay_like_the_record_counts_and_what_head_shows_is_compared() -> None:
    recorded = session(ran(("notes add a", "added 1 in 4 ms"), ("notes list", "a")))
    base = typed(
        Base, on_base(recorded, *[seen(recorded, ("notes add a", "added 1 in 3 ms"), ("notes list", "a"))] * 2)
    )
    assert difference(base, seen(recorded, ("notes add a", "added 1 in 9 ms"), ("notes list", "a"))) is None
    differs = sure(difference(base, seen(recorded, ("notes add a", "added 1 in 9 ms"), ("notes list", "b"))))
    assert (differs.step, differs.base, differs.head) == ("$ notes list", "exit 0: a", "exit 0: b")


LISTED = session(ran(("notes list", "a")))


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({"output": "b"}, {"output": "b"}, "base shows something else than when it was recorded"),
        ({"output": "a"}, {"output": "b"}, "two replays on base differ"),
        ({"guidance": "new"}, {"guidance": "new"}, "base's guidance has changed"),
        ({"not_measured": "setup", "reason": "no"}, {}, "it does not replay on base (setup: no)"),
    ],
)
def test_a_session_that_does_not_replay_on_base_does_not_count(
    one: dict[str, Any], other: dict[str, Any], why: str
) -> None:
    replays = [seen(LISTED, ("notes list", more.pop("output", "a")), **more) for more in (dict(one), dict(other))]
    found = typed(LeftOut, on_base(LISTED, *replays))
    assert why in left_out_text(found)


def listed_on_base() -> Base:
    return typed(Base, on_base(LISTED, *[seen(LISTED, ("notes list", "a"))] * 2))


def test_a_step_that_takes_far_longer_on_head_is_a_difference() -> None:
    slow = (
        ToolCall(id="1", tool="shell", command="notes list"),
        ToolResult(id="1", status="ok", exit_code=0, output="a", at=11.0),
        End(end="completed"),
    )
    found = sure(difference(listed_on_base(), replayed(LISTED, ran(events=slow), trial_result())))
    assert found.head == "takes 11.0 s"


def test_guidance_that_head_changes_is_a_difference() -> None:
    found = sure(difference(listed_on_base(), seen(LISTED, ("notes list", "a"), guidance="new")))
    assert found.step == "the guidance files"


@pytest.mark.parametrize(
    ("given", "lost", "step"),
    [
        ("+kept", False, None),
        ("+LOST", False, "what judges are given"),
        ("+kept", True, "the whole session"),
        ("+" * (MOST_GIVEN + 1), False, "the whole session"),
    ],
)
def test_what_judges_are_given_is_compared(given: str, lost: bool, step: str | None) -> None:
    made = ran(("notes list", "a"))
    base = typed(Base, on_base(LISTED, *[replayed(LISTED, made, trial_result(), "+kept")] * 2))
    head = replayed(LISTED, made.model_copy(update={"workspace_lost": lost}), trial_result(), given)
    found = difference(base, head)
    assert (found and found.step) == step
