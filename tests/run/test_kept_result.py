"""Results of a run's trials share what they have in common."""

from __future__ import annotations

from tests.make import trial_result
from tidegate.model.measurement import GateResult, TrialResult
from tidegate.model.metrics import InvocationCounts, SubcommandCounts
from tidegate.run.kept_result import kept_result


def measured(**fields: object) -> TrialResult:
    """Return a result whose parts no other result shares."""
    gate = GateResult(type="file_exists", label="a", passed=True, message="`a` exists", **fields)
    return trial_result(
        gates=(gate,),
        subcommands={"add": SubcommandCounts(count=2)},
        invocations=InvocationCounts(recorder=2, not_counted={"denied": 1}),
    )


def test_equal_parts_of_two_results_are_kept_once() -> None:
    one, other = kept_result(measured()), kept_result(measured())
    assert one == other == measured()
    assert one.gates[0] is other.gates[0]
    assert one.subcommands["add"] is other.subcommands["add"]
    assert one.invocations is other.invocations


def test_a_gates_detail_keeps_its_type() -> None:
    result = measured(detail={"numbers": (1, 2)})
    assert kept_result(result).gates[0].detail == {"numbers": (1, 2)}
