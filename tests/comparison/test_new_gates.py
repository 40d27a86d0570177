"""Gates that a pull request adds, and that fail on base."""

from __future__ import annotations

from tests import make
from tidegate.comparison.metric_tests import RowTrials
from tidegate.comparison.new_gates import hidden_by_new_gates
from tidegate.model.comparison import DefinitionChange
from tidegate.model.measurement import GateResult, TrialResult
from tidegate.model.suite import RowState

COIN = DefinitionChange(scenario="s", kind="added", detail="gate coin")


def trial(*failed: str, labels: tuple[str, ...] = ("kept", "coin")) -> TrialResult:
    gates = tuple(GateResult(type="t", label=label, passed=label not in failed, message="") for label in labels)
    return make.trial_result(outcome="fail" if failed else "pass", gates=gates)


def found(base: list[TrialResult], head: list[TrialResult], state: RowState = "ok") -> list[str]:
    row = make.row(state, (1, 3), (1, 3))
    return [change.detail for change in hidden_by_new_gates([row], [RowTrials((), base, head)], [COIN])]


def test_a_new_gate_that_fails_on_base_does_not_hide_what_fails_on_head() -> None:
    assert found([trial("coin"), trial("coin"), trial()], [trial("kept"), trial("kept", "coin"), trial()]) == [
        "new gates fail in 2 of 3 trials on base, which hides that the others fail in 2 of 3 on head (a)"
    ]


def test_a_new_gate_for_what_is_new_on_head_is_fine() -> None:
    assert found([trial("coin")], [trial()]) == []


def test_a_new_gate_that_fails_on_both_sides_hides_nothing() -> None:
    assert found([trial("coin")], [trial("coin")]) == []


def test_what_failed_on_base_before_is_no_news() -> None:
    assert found([trial("coin"), trial("kept")], [trial("kept"), trial()]) == []


def test_a_regression_needs_no_second_word() -> None:
    assert found([trial("coin")], [trial("kept")], "regressed") == []


def test_the_label_of_an_old_gate_hides_nothing() -> None:
    twice = ("coin", "coin")
    assert found([trial("coin", labels=twice), trial(labels=twice)], [trial("coin", labels=twice)] * 2) != []
