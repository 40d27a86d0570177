"""The first step at which head diverges from base."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.make import sure, trial_result
from tidegate.decide.causes.divergence import closest, divergence
from tidegate.model.measurement import Call, TrialResult

LIST = Call(command="t list", exit_code=0, status="ok", message="1 milk (high)")
ADD = Call(command="t add", exit_code=0, status="ok")
BROKEN = Call(command="t add", exit_code=2, status="error", message="no such command")
HELP = Call(command="t --help", exit_code=0, status="ok")
SILENT = LIST.model_copy(update={"message": "1 milk (normal)"})
WAYS = st.lists(st.sampled_from([LIST, ADD, BROKEN, HELP]), max_size=6)


def trial(index: int, *calls: Call) -> TrialResult:
    return trial_result(side="base", index=index, calls=calls)


def test_both_sides_and_what_came_before_and_after() -> None:
    found = sure(divergence([LIST, ADD, LIST, HELP], [LIST, BROKEN, HELP]))
    assert (found.step, found.before, found.base, found.head) == (
        2,
        "t list",
        "t add",
        "t add (exit 2: no such command)",
    )
    assert (found.base_steps, found.head_steps) == ((ADD, LIST), (BROKEN, HELP))


def test_a_side_that_had_ended_has_no_steps() -> None:
    found = sure(divergence([LIST, ADD], [LIST]))
    assert (found.step, found.head, found.head_steps) == (2, "", ())


def test_where_every_call_succeeds_alike_the_answers_are_compared() -> None:
    """A flag that is now ignored: nothing fails, and the tool says something else."""
    found = sure(divergence([ADD, LIST], [ADD, SILENT]))
    assert (found.step, found.base_steps, found.head_steps) == (2, (LIST,), (SILENT,))


def test_an_answer_is_no_divergence_where_a_later_command_differs() -> None:
    found = sure(divergence([LIST, ADD], [SILENT, BROKEN]))
    assert found.step == 2


@given(WAYS, WAYS)
def test_up_to_the_step_both_go_the_same_way(base: list[Call], head: list[Call]) -> None:
    found = divergence(base, head)
    if found is None:
        assert base == head
    else:
        place = found.step - 1
        assert base[:place] == head[:place]
        assert base[place : place + 1] != head[place : place + 1]


def test_the_trial_that_goes_along_longest_is_compared_with() -> None:
    """Agents open with what they like; a trial that opened as head did says more about where head went wrong."""
    head = trial(1, HELP, LIST, BROKEN)
    other, same = trial(1, ADD), trial(2, HELP, LIST, ADD)
    assert closest(head, [other, same]) == same
    assert closest(head, [trial(3, HELP, LIST, BROKEN), same]) == trial(3, HELP, LIST, BROKEN)
    assert closest(head, []) is None
