"""The evidence of a row: the gate's message on head, and on base if nothing else distinguishes the sides."""

from __future__ import annotations

import pytest

from tests.make import sure, trial_result
from tidegate.decide.comparison.evidence import find_evidence
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.model.comparison import Evidence
from tidegate.model.event import CallStatus
from tidegate.model.measurement import Call, GateResult, Outcome, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.revision import Revision
from tidegate.model.run_row import Reason
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import Side

KEY = RowKey(scenario="s", agent="a")
REVISION = Revision(ref="head", sha="1" * 40, tree="2" * 40)


def trial(side: Side, outcome: Outcome, said: str, call: CallStatus = "ok") -> TrialResult:
    gate = GateResult(type="file_exists", label="the file is there", passed=outcome == "pass", message=said)
    return trial_result(
        side=side, outcome=outcome, gates=(gate,), calls=(Call(command="tool add", status=call, exit_code=0),)
    )


def found(base: TrialResult, head: TrialResult, state: RowState = "regressed") -> Evidence:
    conclusion = Conclusion(key=KEY, state=state, why=Reason(code="repeats"), deterministic=True)
    return sure(find_evidence(conclusion, [base], [head], REVISION))


@pytest.mark.parametrize(("call", "of_base"), [("ok", "it is there"), ("error", "")])
def test_where_no_call_failed_the_gate_s_words_on_base_stand_beside_head_s(call: CallStatus, of_base: str) -> None:
    evidence = found(trial("base", "pass", "it is there"), trial("head", "fail", "it is missing", call))
    assert (evidence.base_message, evidence.message) == (of_base, "it is missing")


def test_a_call_that_was_stopped_has_failed_and_one_that_was_denied_has_not() -> None:
    def calls(status: CallStatus) -> list[str]:
        evidence = found(trial("base", "pass", "it is there"), trial("head", "fail", "it is missing", status))
        return [call.command for call in evidence.calls]

    assert (calls("error"), calls("timeout"), calls("denied"), calls("ok")) == (["tool add"], ["tool add"], [], [])


def test_what_base_failed_too_is_no_comparison() -> None:
    assert found(trial("base", "fail", "missing"), trial("head", "fail", "missing")).base_message == ""


def test_of_an_improvement_base_is_told_alone() -> None:
    evidence = found(trial("base", "fail", "it was missing"), trial("head", "pass", "it is there"), "improved")
    assert (evidence.base_message, evidence.message) == ("", "it was missing")
