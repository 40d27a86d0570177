"""What is noted of a secret in a trial's record."""

from __future__ import annotations

from tests import make
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.gates.command_gate import CommandSucceeds
from tidegate.model.event import CommandResult, ToolResult
from tidegate.model.probe import CommandAnswer
from tidegate.model.trial import Trial
from tidegate.text.redaction import Redaction
from tidegate.trial.shown_secrets import without_secrets

SECRETS = Redaction({"SHOP_TOKEN": "shop-live-4711aa", "OTHER_KEY": "other-live-77"})
PASSED = ("SHOP_TOKEN", "OTHER_KEY")
GATES = (CommandSucceeds(command="notes header"), CommandSucceeds(command="notes show"))


def printed(text: str) -> CommandAnswer:
    return CommandAnswer(result=CommandResult(command="notes", end="exited", exit_code=0, stdout=text))


def noted(*texts: str, **fields: object) -> Trial:
    trial = make.trial(answers=tuple(map(printed, texts)), **fields)
    return without_secrets(trial, SECRETS, make.scenario(gates=GATES), PASSED)


def test_each_check_that_would_have_read_a_secret_is_named_with_it() -> None:
    assert noted("a", "b").faults == {}
    clean = noted("Bearer shop-live-4711aa", "b")
    assert [*clean.faults] == [f"it shows the value of SHOP_TOKEN, in: {GATES[0].label}"]
    assert "shop-live" not in clean.model_dump_json()
    assert [*noted("Bearer shop-live-4711aa", "other-live-77").faults] == [
        f"it shows the value of SHOP_TOKEN, in: {GATES[0].label}",
        f"it shows the value of OTHER_KEY, in: {GATES[1].label}",
    ]


def test_a_text_that_equals_a_secret_which_the_trial_does_not_have_is_not_a_fault() -> None:
    trial = make.trial(answers=(printed("db: shop-live-4711aa"),))
    assert without_secrets(trial, SECRETS, make.scenario(gates=GATES), ()).faults == {}


def test_a_name_that_the_tool_prints_itself_is_not_a_secret() -> None:
    assert noted("[SHOP_TOKEN]", "b").faults == {}


def test_what_the_agent_was_shown_counts_if_evaluators_read_it() -> None:
    trial = make.trial(events=(ToolResult(id="1", status="ok", output="shop-live-4711aa"),))
    assert without_secrets(trial, SECRETS, make.scenario(), PASSED).faults == {}
    judged = make.scenario(evaluators=(CodeJudge(name="j", script="sh j.sh"),))
    assert [*without_secrets(trial, SECRETS, judged, PASSED).faults] == [
        "it shows the value of SHOP_TOKEN, in: what evaluators read of the agent"
    ]
