"""Measuring a stored trial."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tidegate.agents.streams import codex, events
from tidegate.agents.streams.json_lines import bounded
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.composite import CompositeEvaluator
from tidegate.checks.evaluators.expected_state import ExpectedState
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.plan import PlanEvaluator
from tidegate.checks.evaluators.tool_trajectory import ToolTrajectory
from tidegate.checks.gates.command_gate import CommandSucceeds, Script
from tidegate.checks.gates.json_path import CommandJsonPath
from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.checks.gates.text_gates import FileExists
from tidegate.checks.measure import MAX_CALLS, measure_trial, passed_gates
from tidegate.model.evaluator import Evaluator
from tidegate.model.event import (
    CallStatus,
    CommandResult,
    End,
    Event,
    Invocation,
    Message,
    ToolCall,
    ToolResult,
    Warning,
)
from tidegate.model.gate import Gate
from tidegate.model.judge import ModelAnswer, Reply
from tidegate.model.measurement import EvaluatorResult, TrialResult
from tidegate.model.prices import Price
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer
from tidegate.model.suite import Composite, Scenario
from tidegate.model.suite import Script as PostScript
from tidegate.model.target import Target
from tidegate.model.trial import Places, Step, Trial
from tidegate.text.shorten import both_ends, last_part

SPEC = make.spec(scenario="link", agent="docs", index=2, phase="confirm")
THERE, GONE = FileAnswer(state="present", text=""), FileAnswer(state="missing")
DOCTOR, OUT = CommandSucceeds(command="taskmgr doctor"), FileExists(path="out.json")


def exited(code: int, **fields: Any) -> CommandAnswer:
    return CommandAnswer(result=CommandResult(command="x", end="exited", exit_code=code, **fields))


def scenario(*gates: Gate, **fields: Any) -> Scenario:
    return make.scenario("link", **{"target": Target(binary="taskmgr"), "gates": gates, **fields})


def trial(*answers: Answer | None, **fields: Any) -> Trial:
    return make.trial(spec=SPEC, answers=answers, **fields)


def measure(gates: dict[Gate, Answer | None], **fields: Any) -> TrialResult:
    return measure_trial(trial(*gates.values(), **fields), scenario(*gates))


# --- cost


@pytest.mark.parametrize(
    ("cut_off", "reported", "guessed"), [(False, 0.25, False), (True, 0.25, True), (False, None, True)]
)
def test_a_cost_is_guessed_unless_the_agent_reported_all_of_it(
    cut_off: bool, reported: float | None, guessed: bool
) -> None:
    end = End(end="completed", tokens_in=500_000, tokens_out=10_000, cost_usd=reported, tokens_guessed=cut_off)
    result = measure_trial(trial(events=(end,)), scenario(), Price(input=1, output=10))
    assert result.cost_guessed is guessed
    assert result.metrics.cost_usd == pytest.approx(0.6 if guessed else 0.25)


# --- outcome


def test_passes_when_all_required_gates_pass() -> None:
    result = measure_trial(trial(exited(0), THERE), scenario(DOCTOR, OUT))
    assert (result.outcome, result.decides) == ("pass", "pass")
    assert result.reason == "all 2 required gates passed"
    assert result.spec == SPEC
    assert result.id == "head/link/docs/2"


@pytest.mark.parametrize(
    ("status", "code", "ok", "failed"),
    [
        ("error", 1, (0, 1), False),
        ("error", 1, (0,), True),
        ("error", 2, (0, 1), True),
        ("ok", 0, (1,), True),
        ("timeout", 1, (0, 1), True),
        ("error", None, (0, 1), True),
    ],
)
def test_a_call_has_failed_unless_it_exits_with_an_ok_status_of_its_target(
    status: CallStatus, code: int | None, ok: tuple[int, ...], failed: bool
) -> None:
    call = Invocation(argv=("x",), status=status, exit_code=code, started_at=0)
    target = Target(binary="taskmgr", ok_statuses=ok)
    one, its = trial(None, invocations=(call,)), scenario(NoTranscriptErrors(), target=target)
    result = measure_trial(one, its)
    assert (result.outcome, result.metrics.error_count) == (("fail", 1) if failed else ("pass", 0))
    assert passed_gates(one, its) is not failed


def test_fails_with_the_first_failed_gate_and_how_many_more() -> None:
    result = measure_trial(trial(THERE, exited(2), GONE), scenario(OUT, DOCTOR, OUT))
    assert (result.outcome, result.decides) == ("fail", "fail")
    assert result.reason == "command_succeeds: taskmgr doctor: exit 2 (and 1 more)"
    assert [gate.passed for gate in result.gates] == [True, False, False]


def test_a_gate_that_is_not_required_is_reported_but_does_not_decide() -> None:
    optional = OUT.model_copy(update={"required": False})
    result = measure_trial(trial(exited(0), GONE), scenario(DOCTOR, optional))
    assert (result.outcome, result.reason) == ("pass", "all 1 required gates passed")
    assert result.gates[1].message == "`out.json` does not exist"
    assert not result.gates[1].required
    failing = measure_trial(trial(exited(1), GONE), scenario(DOCTOR, optional))
    assert failing.reason == "command_succeeds: taskmgr doctor: exit 1"


def test_detail_is_stored() -> None:
    answer = exited(0, stdout='{"passed": true, "detail": [1]}')
    result = measure_trial(trial(answer), scenario(Script(command="./check")))
    assert (result.outcome, result.gates[0].detail) == ("pass", [1])


def test_what_the_agent_did_never_decides_the_outcome() -> None:
    result = measure_trial(trial(THERE, end="timeout"), scenario(OUT))
    assert (result.outcome, result.end, result.metrics.completed) == ("pass", "timeout", False)


def test_an_unmeasured_trial_has_no_outcome_and_no_gates() -> None:
    outage = trial(not_measured="outage", reason="529 for 10 minutes", events=(End(end="outage", tokens_in=7),))
    result = measure_trial(outage, scenario(OUT))
    assert (result.outcome, result.decides, result.gates) == (None, None, ())
    assert (result.not_measured, result.reason) == ("outage", "529 for 10 minutes")
    assert result.metrics.tokens_in == 7


@pytest.mark.parametrize(
    "answers",
    [(), (None,), (exited(0),), (THERE, THERE)],
    ids=["none", "not asked", "of another kind", "too many"],
)
def test_without_an_answer_for_each_gate_nothing_is_measured(answers: tuple[Answer | None, ...]) -> None:
    result = measure_trial(trial(*answers), scenario(OUT))
    assert (result.outcome, result.decides, result.not_measured) == (None, None, "supervisor_lost")
    assert result.reason


OK = Invocation(argv=("list",), status="ok", exit_code=0, started_at=0)
HANGS = Invocation(argv=("add",), status="timeout", started_at=0.0)


@pytest.mark.parametrize(
    ("end", "last", "outcome"),
    [
        ("timeout", HANGS, "fail"),
        ("watchdog", HANGS, "fail"),
        ("timeout", None, "pass"),  # stopped between calls
        ("completed", HANGS, "pass"),  # the agent itself gave the call up
    ],
)
def test_a_call_that_hangs_until_the_agent_is_stopped_fails_the_trial_whatever_it_left_behind(
    end: str, last: Invocation | None, outcome: str
) -> None:
    calls = (OK, last) if last else (OK,)
    hung = trial(THERE, end=end, end_message="stopped after 3 s in `taskmgr add`", invocations=calls)
    result = measure_trial(hung, scenario(OUT))
    assert (result.outcome, result.decides) == (outcome, outcome)
    if outcome == "fail":
        assert result.reason == "a call of the target did not end; stopped after 3 s in `taskmgr add`"


LEFT = Invocation(argv=("add",), status="unfinished", started_at=0.0)
SERVES = Invocation(argv=("--at=/t/9/workspace", "8123"), status="unfinished", started_at=0.0)
NOT_ENDED = "a call had not ended when the agent did"
JUDGE = CodeJudge(script="python3 judge.py")
NO_VERDICT = "script: ./check prints no `passed`"
FAILED = "script: ./check prints that it failed, beside something else"


UNREAD = "a line of the agent's events cannot be read: "
NO_EVENT = f"{UNREAD}line N is not an event: Unable to extract tag using discriminator 'type'"
NO_JSON = f"{UNREAD}line N is not JSON (expected value at line N column N): added{{}}"
MORE = f"{UNREAD}N more warnings of this kind were left out"
CALLS = [
    f'{{"type": "item.{when}", "item": {{"id": "1", "type": "command_execution", "command": "taskmgr list"}}}}'
    for when in ("started", "completed")
]
NO_OBJECT = f"{UNREAD}line N is not a JSON object: added{CALLS[1].replace('1', 'N')[:75]}"
LOUD = 20 * (Warning(text="deprecated"),)
PASSED = exited(0, stdout='{"passed": true}')


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"invocations": (OK,)}, []),
        ({"invocations": (OK, LEFT)}, [f"{NOT_ENDED}: `taskmgr add`"]),
        ({"invocations": (LEFT, LEFT)}, [f"{NOT_ENDED}: `taskmgr add`", f"{NOT_ENDED}: `taskmgr add` (2)"]),
        ({"invocations": (SERVES,)}, [f"{NOT_ENDED}: `taskmgr N`"]),
        (
            {"events": (Warning(text="line 7 is not a JSON object: at /t/9/x", unread=True),)},
            [f"{UNREAD}line N is not a JSON object: at /tidegate-place/trial/x"],
        ),
        ({"events": codex.STREAM.parse("\n".join(CALLS))}, []),
        ({"events": codex.STREAM.parse("\n".join((CALLS[0], f"added{CALLS[1]}")))}, [NO_OBJECT]),
        ({"events": events.parse(25 * "{}\n")}, [NO_EVENT, MORE]),
        ({"events": (*LOUD, *events.parse("added{}"))}, [NO_JSON]),
        ({"events": bounded((*LOUD, *events.parse("added{}")))}, [MORE]),
        ({"events": bounded((*LOUD, *LOUD))}, []),
        ({"events": (End(end="crashed", status=3),)}, ["the agent's program ended with exit 3"]),
        (
            {"events": (End(end="crashed", status=3),), "invocations": (OK,)},
            ["the agent's program ended with exit 3, after `taskmgr list` with exit 0"],
        ),
        ({"events": (End(end="crashed", status=0),)}, []),
        ({"events": (End(end="completed"),)}, []),
        ({"events": (ToolResult(id="1", status="ok"), ToolResult(id="2", status="ok"))}, []),
        (
            {"events": (ToolResult(id="1", status="error"), ToolResult(id="1", status="ok"))},
            ["two results of calls have one id: of `N`"],
        ),
        ({"answers": (PASSED,)}, []),
        ({"answers": (exited(0, stdout='{"passed": false}'),)}, []),
        ({"answers": (exited(0, stdout='{"passed": true, "x": {"passed": false}}'),)}, [FAILED]),
        ({"answers": (exited(0, stdout='added\n{"passed": true}'),)}, [NO_VERDICT]),
        ({"answers": (exited(0, stdout='added\n{"passed": false}'),)}, [NO_VERDICT, FAILED]),
        ({"answers": (exited(0, stdout='{"passed" : false, "message": "a "b""}'),)}, [NO_VERDICT, FAILED]),
        ({"evaluator_answers": ((exited(0, stdout='{"score": 1}'),),)}, []),
        (
            {"answers": (PASSED,), "evaluator_answers": ((exited(0, stdout='{"score": 1, "x": {"score": 0}}'),),)},
            [f"{JUDGE.label}: prints more than one score"],
        ),
        ({"answers": (PASSED,), "evaluator_answers": ((exited(0),),)}, [f"{JUDGE.label}: prints no score"]),
        (
            {"answers": (PASSED,), "evaluator_answers": ((exited(1, stdout='{"score": 1}'),),)},
            [f"{JUDGE.label}: prints a score and ends with exit 1"],
        ),
    ],
)
def test_what_makes_a_pass_doubtful_is_noted(fields: dict[str, Any], faults: list[str]) -> None:
    one = scenario(Script(command="./check"), evaluators=(JUDGE,))
    seen = make.trial(spec=SPEC, places=Places(trial="/t/9"), **fields)
    assert [*measure_trial(seen, one).faults] == faults


def test_of_two_scripts_with_one_description_each_has_faults_of_its_own() -> None:
    """Otherwise base's fault in one of them would excuse head's in the other."""
    gates = (Script(command="./a", description="it is there"), Script(command="./b", description="it is there"))
    found = measure_trial(trial(PASSED, exited(0, stdout="added")), scenario(*gates)).faults
    assert [*found] == ["it is there (2) prints no `passed`"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ToolCall(id="1", tool="shell", command="taskmgr add"), "taskmgr add"),
        (ToolCall(id="1", tool="Read"), "Read"),
    ],
)
def test_of_two_results_with_one_id_the_call_is_named(call: ToolCall, said: str) -> None:
    twice = (call, ToolResult(id="1", status="ok"), ToolResult(id="1", status="ok"))
    found = measure_trial(trial(THERE, events=twice), scenario(OUT)).faults
    assert [*found] == [f"two results of calls have one id: of `{said}`"]


READS = ToolTrajectory.model_validate(
    {"type": "tool_trajectory", "mode": "in_order", "expected": [{"tool": "shell", "output": {"regex": "added"}}]}
)
WARNS = LlmJudge()
IN_PART = CommandAnswer(result=CommandResult(command="x", end="exited", stdout='{"score": 1}'), cut=True)
SHOWN_IN_PART = ((), (IN_PART,), (ModelAnswer(replies=(), cut=True),), (IN_PART,))


def printed(text: str) -> dict[str, Any]:
    return {"events": (ToolResult(id="1", status="ok", output=text),)}


@pytest.mark.parametrize(
    ("fields", "judge_blocks", "cut"),
    [
        ({}, True, []),
        ({"evaluator_answers": SHOWN_IN_PART}, False, [JUDGE]),
        ({"evaluator_answers": SHOWN_IN_PART}, True, [JUDGE, WARNS]),
        ({"evaluator_answers": ((), ()), **printed(both_ends("a" * 9, 4))}, True, [READS]),
        ({"evaluator_answers": ((), ()), **printed(last_part("a" * 9000))}, True, [READS]),
        ({"evaluator_answers": ((), ()), **printed("a" * 9)}, True, []),
        ({"evaluator_answers": ((), ()), **printed("a\ufffd")}, True, [READS]),
    ],
)
def test_an_evaluator_that_is_not_given_all_makes_a_pass_doubtful(
    fields: dict[str, Any], judge_blocks: bool, cut: list[Evaluator]
) -> None:
    """A judge that only warns does not."""
    one = scenario(OUT, evaluators=(READS, JUDGE, WARNS, CodeJudge(script="python3 judge.py", name="advice", weight=0)))
    found = measure_trial(trial(THERE, **fields), one, judge_blocks=judge_blocks).faults
    assert [*found] == [
        f"{each.label} is not given all that happened: a text is too long, or not in UTF-8" for each in cut
    ]


@pytest.mark.parametrize(
    ("fields", "fault"), [({"unshown": ("log",)}, "`log`"), ({"workspace_lost": True}, "what changed")]
)
def test_a_judge_that_decides_and_is_not_shown_all_that_changed_makes_a_pass_doubtful(
    fields: dict[str, Any], fault: str
) -> None:
    one = scenario(OUT, evaluators=(WARNS,))
    for blocks, faults in ((True, [f"judges are not shown {fault}"]), (False, [])):
        found = measure_trial(trial(THERE, evaluator_answers=((),), **fields), one, judge_blocks=blocks).faults
        assert [*found] == faults
    plain = scenario(OUT, evaluators=(JUDGE,))
    assert not measure_trial(trial(THERE, evaluator_answers=((),), **fields), plain, judge_blocks=True).faults


def test_what_a_judge_notes_makes_a_pass_doubtful_only_if_judges_decide() -> None:
    answer = ModelAnswer(
        replies=(
            *(Reply(judge=judge, model=f"m{judge}", text='{"score": 1}') for judge in (0, 1)),
            Reply(judge=2, model="m2", end="failed"),
        )
    )
    judged = trial(THERE, evaluator_answers=((answer,),))
    for blocks, faults in ((True, ["llm_judge: m2 gives no answer that can be read"]), (False, [])):
        assert [*measure_trial(judged, scenario(OUT, evaluators=(WARNS,)), judge_blocks=blocks).faults] == faults


CUT = last_part("a" * 9000)


@pytest.mark.parametrize(
    "event",
    [
        ToolResult(id="1", status="ok", output=CUT),
        ToolResult(id="1", status="ok", output="lo\ufffdst"),
        ToolResult(id="1", status="ok", output="a" * 9000),
        ToolCall(id="1", tool="add", input={"text": "a" * 9000}),
        Message(text=CUT),
    ],
)
def test_a_script_that_is_not_given_all_makes_a_pass_doubtful(event: Event) -> None:
    checks = Script(command="./check"), Script(command="./advice", required=False)
    one = scenario(*checks, post=(PostScript(command="./tell"),))
    for shown, scripts in ((event, ["./check", "`post`"]), (ToolResult(id="1", status="ok", output="a"), [])):
        faults = measure_trial(make.trial(spec=SPEC, answers=(PASSED, PASSED), events=(shown,)), one).faults
        told = [fault.partition(" is not given all")[0] for fault in faults]
        assert [label.split()[-1] for label in told] == scripts


@pytest.mark.parametrize("source", [{"from": "first_message"}, {"from": "field", "path": "$.plan"}])
def test_a_plan_in_a_message_that_is_cut_is_noted(source: dict[str, str]) -> None:
    plan = PlanEvaluator.model_validate({"type": "plan", "expected": ["add"], **source})
    for text, notes in ((last_part("add" * 9000), ["plan: the message with the plan is cut"]), ("add", [])):
        made = make.trial(spec=SPEC, evaluator_answers=((),), events=(Message(text=text),))
        assert [*measure_trial(made, scenario(evaluators=(plan,))).faults] == notes


@pytest.mark.parametrize(
    ("path", "printed", "kind"),
    [
        ("$.a", '{"a": ["b"]}', ["the value is an array"]),
        ("$.a", '{"a": "b"}', ["the value is a string"]),
        ("$.a[*]", '{"a": ["b"]}', ["$.a is an array"]),
        ("$.a[*]", '{"a": {"0": "b"}}', ["$.a is an object"]),
        ("$.a[*].b[*]", '{"a": [{"b": {"0": 1}}]}', ["$.a is an array", "$.a.*.b is an object"]),
        ("$.a[*].b[?(@.c)].c", '{"a": [{"b": [{"c": 1}]}]}', ["$.a is an array", "$.a.*.b is an array"]),
        ("$.a..b[*]", '{"a": [{"b": [1]}, {"b": []}]}', ["$.a is an array", "($.a..b) is an array"]),
        ("$..b[*].c[*]", '{"b": [{"c": [1]}]}', ["$ is an object", "($..b) is an array", "($..b).*.c is an array"]),
        ("$.a.`sorted`", '{"a": {"x": 1}}', ["the value is an array", "$.a is an object"]),
        ("$..a.`keys`", '{"a": {"x": 1}}', ["$ is an object", "($..a) is an object"]),
        ("*", '["x"]', ["$ is an array"]),
    ],
)
def test_a_length_notes_of_what_it_is(path: str, printed: str, kind: list[str]) -> None:
    """A text or an object in place of a list of as many elements is another result."""
    gate = CommandJsonPath(command="x", path=path, assertion="len == 1")
    answer = CommandAnswer(result=CommandResult(command="x", end="exited", exit_code=0, stdout=printed))
    result = measure_trial(trial(answer), scenario(gate))
    assert (result.outcome, [*result.faults]) == ("pass", [f"{gate.label}: {one}" for one in kind])


@pytest.mark.parametrize(
    ("path", "assertion", "printed", "found"),
    [
        ("$.a", "exists", '{"a": ["b"]}', ["the value is an array"]),
        ("$.a", "exists", '{"a": "b"}', ["the value is single"]),
        ("$.a", "exists", '{"a": 1}', ["the value is single"]),
        ("$['a','b']", "len == 2", '{"a": 1, "b": []}', ["$ is an object"]),
        ("$['a','b']", "len == 2", '{"a": null, "b": null}', ["the value is null", "$ is an object"]),
        ("$.a[*].b", "len == 1", '{"a": [{"b": null}]}', ["the value is null", "$.a is an array"]),
        ("$.a[*]", "exists", '{"a": [null, 1]}', ["$.a is an array"]),
    ],
)
def test_what_is_there_but_says_nothing_is_noted(path: str, assertion: str, printed: str, found: list[str]) -> None:
    gate = CommandJsonPath(command="x", path=path, assertion=assertion)
    result = measure_trial(trial(exited(0, stdout=printed)), scenario(gate))
    assert (result.outcome, [*result.faults]) == ("pass", [f"{gate.label}: {one}" for one in found])


@pytest.mark.parametrize(("printed", "kind"), [('{"a": "b c"}', "a string"), ('{"a": [1, 2, 3]}', "an array")])
def test_a_function_notes_what_it_is_applied_to(printed: str, kind: str) -> None:
    gate = CommandJsonPath(command="x", path="$.a.`len`", assertion="== 3")
    result = measure_trial(trial(exited(0, stdout=printed)), scenario(gate))
    assert (result.outcome, [*result.faults]) == ("pass", [f"{gate.label}: $.a is {kind}"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [('["add", "list"]', "a list"), ('{"add": 1, "list": 2}', "a text"), ("first add, then list", "a text")],
)
def test_a_plan_in_a_file_notes_how_it_was_read(text: str, kind: str) -> None:
    plan = PlanEvaluator.model_validate(
        {"type": "plan", "from": "file", "file": "plan.json", "expected": ["add", "list"]}
    )
    answers = ((FileAnswer(state="present", text=text),),)
    result = measure_trial(make.trial(spec=SPEC, evaluator_answers=answers), scenario(evaluators=(plan,)))
    assert [*result.faults] == [f"plan: the plan is {kind}"]
    assert [one.score for one in result.evaluators] == [1]


@pytest.mark.parametrize(
    ("field", "printed", "place"),
    [
        ("a.0.b", '{"a": [{"b": 1}]}', "$['a'][0]['b']"),
        ("a.0.b", '{"a": {"0": {"b": 1}}}', "$['a']['0']['b']"),
        ("a.0.b", '{"a": {"0.b": 1}}', "$['a']['0.b']"),
        ("0", "[1]", "$[0]"),
        ("0", '{"0": 1}', "$['0']"),
    ],
)
def test_an_expected_state_notes_where_a_field_is(field: str, printed: str, place: str) -> None:
    judge = ExpectedState(command="x", expected={field: 1})
    answers = ((exited(0, stdout=printed),),)
    result = measure_trial(make.trial(spec=SPEC, evaluator_answers=answers), scenario(evaluators=(judge,)))
    assert [*result.faults] == [f"{judge.label}: {field} is {place}"]
    assert [one.score for one in result.evaluators] == [1]


def test_the_members_of_a_composite_note_what_they_note_alone() -> None:
    members: list[dict[str, Any]] = [
        {"type": "code_judge", "name": "silent", "script": "x"},
        {"type": "expected_state", "name": "state", "command": "x", "expected": {"a.0": 1}},
        {"type": "plan", "from": "file", "file": "plan.json", "expected": ["add"]},
    ]
    inner = {"type": "composite", "name": "inner", "evaluators": members}
    outer = CompositeEvaluator.model_validate({"type": "composite", "evaluators": [inner]})
    answers = ((exited(0), exited(0, stdout='{"a": [1]}'), FileAnswer(state="present", text="add")),)
    result = measure_trial(make.trial(spec=SPEC, evaluator_answers=answers), scenario(evaluators=(outer,)))
    notes = ["silent: prints no score", "state: a.0 is $['a'][0]", "plan: the plan is a text"]
    assert [*result.faults] == [f"composite/inner/{note}" for note in notes]


def test_a_cancelled_probe_is_no_answer() -> None:
    cancelled = CommandAnswer(result=CommandResult(command="x", end="cancelled"))
    assert measure_trial(trial(cancelled), scenario(DOCTOR)).outcome is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=5))
def test_pass_means_exactly_that_no_required_gate_failed(cases: list[tuple[bool, bool]]) -> None:
    gates = [OUT.model_copy(update={"required": required}) for required, _ in cases]
    answers = [THERE if passed else GONE for _, passed in cases]
    result = measure_trial(trial(*answers), scenario(*gates))
    assert (result.decides == "pass") == all(passed for required, passed in cases if required)
    assert [gate.passed for gate in result.gates] == [passed for _, passed in cases]
    assert TrialResult.model_validate_json(result.model_dump_json()) == result


# --- evaluator scripts


def evaluated(**result: Any) -> tuple[EvaluatorResult, tuple[str, ...]]:
    ended = {"command": "./q", "end": "exited", "exit_code": 0, **result}
    step = Step(kind="evaluator", name="quality", result=CommandResult.model_validate(ended))
    measured = measure_trial(trial(steps=(step,)), scenario())
    return measured.evaluators[0], measured.warnings


def test_an_evaluator_script_gives_a_score_that_never_decides() -> None:
    result, warnings = evaluated(stdout='{"score": 0.7, "metrics": {"tasks": 3}, "summary": "fine", "more": 1}')
    assert warnings == ()
    assert result == EvaluatorResult(
        name="quality", type="script", score=0.7, verdict="borderline", weight=0, reason="fine", metrics={"tasks": 3}
    )


def test_a_script_without_a_score_has_metrics_only() -> None:
    result, warnings = evaluated(stdout='{"metrics": {"tasks": 3.5}, "score": null}')
    assert (result.score, result.verdict, result.metrics, warnings) == (None, "not_measured", {"tasks": 3.5}, ())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stdout": "fine"}, "its output is not JSON"),
        ({"stdout": '{"score": 1.2}'}, "score: Input should be less than or equal to 1"),
        ({"stdout": '{"score": true}'}, "score: Input should be a valid number"),
        ({"stdout": '{"score": "1"}'}, "score: Input should be a valid number"),
        ({"stdout": '{"metrics": {"a": "b"}}'}, "metrics.a: Input should be a valid number"),
        ({"stdout": '{"metrics": {"a": 1' + "0" * 400 + "}}"}, "metrics.a"),
        ({"stdout": "[0.5]"}, "its output: Input should be a valid dictionary"),
        ({"stdout": '{"score": 1}', "exit_code": 1}, "exit 1"),
        ({"stdout": '{"score": 1}', "end": "timeout", "exit_code": None, "duration_s": 60}, "timed out after 60 s"),
        ({"stdout": '{"score": 1}', "truncated": True}, "its output was cut"),
    ],
)
def test_anything_else_is_a_warning_and_not_measured(fields: dict[str, Any], message: str) -> None:
    result, warnings = evaluated(**fields)
    assert (result.score, result.verdict, result.weight) == (None, "not_measured", 0)
    assert result.reason.startswith(message)
    assert warnings == (f"evaluator quality: {result.reason}",)


# --- composite


WEIGHTS = Composite(gate_weight=0.5, judge_weight=0.3, interaction_weight=0.2)


@pytest.mark.parametrize(
    ("weights", "gates", "composite", "warnings"),
    [
        (None, (OUT,), None, ()),
        (Composite(gate_weight=3, interaction_weight=1), (OUT,), 1.0, ()),
        (
            WEIGHTS,
            (OUT, OUT),
            (0.5 * 0.5 + 0.2 * 1) / 0.7,
            ("composite: not measured: judge; the weights of gates, interaction were renormalised",),
        ),
    ],
)
def test_the_composite_is_the_mean_of_the_parts_that_exist_and_says_which(
    weights: Composite | None, gates: tuple[Gate, ...], composite: float | None, warnings: tuple[str, ...]
) -> None:
    answers = (THERE, GONE)[: len(gates)]
    result = measure_trial(trial(*answers, invocations=(OK,)), scenario(*gates, composite=weights))
    assert (result.composite, result.warnings) == (pytest.approx(composite) if composite else None, warnings)


def test_a_composite_of_nothing_is_none() -> None:
    result = measure_trial(trial(), scenario(composite=WEIGHTS))
    assert (result.composite, result.warnings) == (None, ("composite: none of its parts was measured",))


# --- calls


def agent_ran(*commands: tuple[str, str], status: CallStatus = "error") -> tuple[Event, ...]:
    events: list[Event] = []
    for number, (command, output) in enumerate(commands):
        events.append(ToolCall(id=str(number), tool="bash", command=command))
        events.append(ToolResult(id=str(number), status=status, output=output))
    return tuple(events)


def called(*lines: str, status: CallStatus = "error") -> tuple[Invocation, ...]:
    return tuple(
        Invocation(argv=tuple(line.split()), status=status, exit_code=2, started_at=at) for at, line in enumerate(lines)
    )


def messages(events: tuple[Event, ...], invocations: tuple[Invocation, ...]) -> list[str]:
    return [call.message for call in measure_trial(trial(events=events, invocations=invocations), scenario()).calls]


def test_a_call_is_its_command_line_and_its_end() -> None:
    call = Invocation(argv=("add", "buy milk", "a\nb"), status="ok", exit_code=0, started_at=0)
    result = measure_trial(trial(invocations=(call,)), scenario()).calls[0]
    assert (result.command, result.exit_code, result.status) == ("taskmgr add 'buy milk' 'a b'", 0, "ok")


def test_a_failed_call_has_what_the_target_said() -> None:
    events = agent_ran(("taskmgr add --prio 1", "\x1b[31merror:\x1b[0m unknown option --prio\n"))
    assert messages(events, called("add --prio 1")) == ["error: unknown option --prio"]


def test_of_a_call_that_did_not_fail_a_short_excerpt_is_enough() -> None:
    """It shows where a tool answers otherwise than it did, though nothing fails."""
    assert messages(agent_ran(("taskmgr list", "1 milk")), called("list", status="ok")) == ["1 milk"]
    assert len(messages(agent_ran(("taskmgr list", "milk " * 200)), called("list", status="ok"))[0]) == 800


@pytest.mark.parametrize(
    "command",
    [
        "cd app && ./taskmgr add a",
        "FOO=1 taskmgr add a 2>&1 | head -1",
        "taskmgr add a || true",
        "taskmgr \\\n  add a > out.txt",
        "cd app\ntaskmgr add 'a'\n",
        "(taskmgr add a); echo done",
        "if ! /opt/bin/taskmgr add a; then echo no; fi",
    ],
)
def test_the_call_is_found_in_the_agents_command_line(command: str) -> None:
    assert messages(agent_ran((command, "no")), called("add a")) == ["no"]


@pytest.mark.parametrize(
    "command", ["taskmgr add b", "for i in 1 2; do taskmgr add $i; done", "taskmgr add 'a", "mytaskmgr add a", ""]
)
def test_nothing_is_said_where_the_call_is_not_found(command: str) -> None:
    assert messages(agent_ran((command, "no")), called("add a")) == [""]


@pytest.mark.parametrize(
    ("ran", "recorded", "said"),
    [
        (
            [("taskmgr add a", "first"), ("taskmgr list", "other"), ("taskmgr add a", "second")],
            ["add a", "list", "add a"],
            ["first", "other", "second"],
        ),
        ([("taskmgr add a", "no")], ["add a", "add a"], ["", ""]),  # the counts differ
        ([("taskmgr add a; taskmgr add b", "no")], ["add a", "add b"], ["", ""]),  # one output for both
    ],
)
def test_a_call_has_an_output_only_if_it_is_surely_its_own(
    ran: list[tuple[str, str]], recorded: list[str], said: list[str]
) -> None:
    assert messages(agent_ran(*ran), called(*recorded)) == said


def test_a_command_that_was_denied_is_no_occurrence() -> None:
    denied = agent_ran(("taskmgr add a", "denied"), status="denied")
    assert messages((*agent_ran(("taskmgr add a", "no")), *denied), called("add a")) == [""]
    renumbered = [event.model_copy(update={"id": "x"}) for event in denied]
    assert messages((*renumbered, *agent_ran(("taskmgr add a", "no"))), called("add a")) == ["no"]


def test_messages_and_calls_have_a_limit() -> None:
    events = agent_ran(("taskmgr add a", "x" * 5000))
    assert len(messages(events, called("add a"))[0]) == 800
    many = called(*["list"] * (MAX_CALLS + 5))
    result = measure_trial(trial(invocations=many), scenario())
    assert len(result.calls) == MAX_CALLS
    assert result.metrics.command_count == MAX_CALLS + 5


@given(st.lists(st.text(alphabet="taskmgr add;&|<>'\"\\\n $()2", max_size=40), max_size=3))
def test_no_command_line_is_too_odd(commands: list[str]) -> None:
    events = agent_ran(*((f"taskmgr {command}", "no") for command in commands))
    measure_trial(trial(events=events, invocations=called("add", "add a", "")), scenario())


@pytest.mark.parametrize(("pattern", "names"), [(None, ["list"]), (r"taskmgr\s+(\S+)", ["--verbose"])])
def test_subcommands_follow_the_pattern_of_now(pattern: str | None, names: list[str]) -> None:
    ran = trial(invocations=called("--verbose list"))
    target = Target(binary="taskmgr", command_pattern=pattern)
    assert list(measure_trial(ran, scenario().model_copy(update={"target": target})).subcommands) == names


def test_everything_that_was_seen_is_in_the_result() -> None:
    unknown = Invocation(argv=("add",), status="unknown", started_at=2, source="events")
    add = Invocation(argv=("add",), status="ok", started_at=1)
    result = measure_trial(
        trial(invocations=(unknown, add), warnings=("odd",), duration_s=4), scenario(minimum_steps=1)
    )
    assert [call.status for call in result.calls] == ["ok", "unknown"]
    assert result.subcommands["add"].count == 1
    assert (result.invocations.recorder, result.invocations.events) == (1, 1)
    assert (result.warnings, result.metrics.duration_s) == (("odd",), 4)
