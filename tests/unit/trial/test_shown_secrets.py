"""What is noted of a secret in a trial's record."""

from __future__ import annotations

from tests import make
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.gates.command_gate import CommandSucceeds
from tidegate.checks.rubrics.asking import Criterion
from tidegate.model.event import CommandResult, ToolResult
from tidegate.model.probe import CommandAnswer
from tidegate.model.target import McpServer, Target
from tidegate.model.trial import Trial
from tidegate.run.build import HostEnvironment
from tidegate.text.redaction import Redaction
from tidegate.trial.shown_secrets import without_secrets

SECRETS = Redaction({"SHOP_TOKEN": "shop-live-4711aa", "OTHER_KEY": "other-live-77"})
GIVEN = ("shop-live-4711aa", "other-live-77")
GATES = (CommandSucceeds(command="notes header"), CommandSucceeds(command="notes show"))


def printed(text: str) -> CommandAnswer:
    return CommandAnswer(result=CommandResult(command="notes", end="exited", exit_code=0, stdout=text))


def noted(*texts: str, **fields: object) -> Trial:
    trial = make.trial(answers=tuple(map(printed, texts)), **fields)
    return without_secrets(trial, SECRETS, make.scenario(gates=GATES), GIVEN)


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
    assert without_secrets(trial, SECRETS, make.scenario(), GIVEN).faults == {}
    judged = make.scenario(evaluators=(CodeJudge(name="j", script="sh j.sh"),))
    assert [*without_secrets(trial, SECRETS, judged, GIVEN).faults] == [
        "it shows the value of SHOP_TOKEN, in: what evaluators read of the agent"
    ]


def test_a_value_that_the_trial_has_counts_under_whatever_name_it_is_hidden() -> None:
    two = Redaction({"GH_TOKEN": "shop-live-4711aa", "GITHUB_TOKEN": "shop-live-4711aa"})
    trial = make.trial(answers=(printed("Bearer shop-live-4711aa"),))
    (fault,) = without_secrets(trial, two, make.scenario(gates=GATES), ("shop-live-4711aa",)).faults
    assert fault.endswith(f"in: {GATES[0].label}")


def test_what_the_scenario_s_own_judge_reads_counts() -> None:
    trial = make.trial(events=(ToolResult(id="1", status="ok", output="shop-live-4711aa"),))
    judged = make.scenario(judge=RubricJudge(criteria=(Criterion(id="a", description="A", weight=1),)))
    assert [*without_secrets(trial, SECRETS, judged, GIVEN).faults] == [
        "it shows the value of SHOP_TOKEN, in: what evaluators read of the agent"
    ]


def test_a_trial_has_what_is_passed_and_what_its_target_refers_to() -> None:
    server = McpServer(url="https://a.example/mcp", headers={"Authorization": "Bearer ${SHOP_TOKEN}"})
    target = Target(binary="shop", env={"MODE": "test"}, mcp=server)
    machine = HostEnvironment("/bin", {"A": "a"}, {"A": "a", "SHOP_TOKEN": "s", "OTHER": "o"})
    assert machine.given(target) == {"a", "test", "s"}
