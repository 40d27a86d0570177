"""Compute a trial's result from its record and its scenario: the outcome, and the reason for it."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field, FiniteFloat, ValidationError

from tidegate.agents.invocations.from_log import logged_calls, logged_tool_calls
from tidegate.agents.invocations.metrics import (
    as_defined,
    failed,
    in_order,
    invocation_counts,
    subcommand_counts,
    trial_metrics,
)
from tidegate.checks.evaluators.assess import Assessment, assess, detail_means, judge_result, judge_score, judge_use
from tidegate.checks.faults import faults_of, kinds, not_shown
from tidegate.checks.gates.assertion import parse_json
from tidegate.checks.gates.command_gate import what_went_wrong
from tidegate.model.evaluator import Score
from tidegate.model.event import End, Event
from tidegate.model.gate import Gate, GateInput
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import Call, EvaluatorResult, GateResult, Metrics, Outcome, TrialResult
from tidegate.model.prices import Price
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, ReadFile, Request
from tidegate.model.suite import Composite, Scenario
from tidegate.model.trial import Step, Trial
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value
from tidegate.text.scores import score_text
from tidegate.text.shorten import clipped, excerpt, without_stack

MAX_CALLS = 200
MAX_COMMAND = 500  # characters
MAX_MESSAGE = 800  # characters

MAX_SUMMARY = 500  # characters


def measure_trial(
    trial: Trial,
    scenario: Scenario,
    price: Price | None = None,
    *,
    judge_blocks: bool = False,
) -> TrialResult:
    """Return the result of one trial. `price` is the price of the agent's model.

    A trial without an answer for each gate and deciding evaluator is not measured.
    `outcome` includes the judge. `decides` is what the verdict counts; it leaves the judge out unless `judge_blocks`.
    If a judge is the only check, `decides` is None for a trial that it could not judge.
    """
    trial = _read_as(scenario, trial)
    checks = _checks(trial, scenario, judge_blocks=judge_blocks)
    scores = {
        **detail_means(checks.evaluators),
        "case_score": checks.case_score,
        "judge_score": judge_score(checks.judge, checks.evaluators),
    }
    metrics = Metrics(**{**vars(trial_metrics(trial, scenario.minimum_steps, price)), **scores})
    evaluators, warnings = script_results(trial.steps)
    faults = dict.fromkeys((*faults_of(trial, scenario), *checks.faults, *kinds(checks.gates)), "")
    scored = composite_score(scenario.composite, checks.gates, metrics, checks.judge) if checks.outcome else (None, ())
    return TrialResult(
        **trial.spec.model_dump(),
        **{**checks._asdict(), "evaluators": (*checks.evaluators, *evaluators), "faults": {**trial.faults, **faults}},
        id=trial.spec.id,
        end=trial.end,
        metrics=metrics,
        **_guesses(trial, metrics),
        subcommands=subcommand_counts(trial.invocations),
        invocations=invocation_counts(trial.invocations, known=trial.calls_known),
        judge_use=judge_use(trial),
        composite=scored[0],
        calls=calls_of(trial, scenario.target.binary),
        **trial.model_dump(include={"around_s", "rewritten", "made", "untested"}),
        warnings=(*trial.warnings, *warnings, *scored[1], *_unused(trial, scenario, checks.decides)),
        refused_hosts=trial.refused_hosts,
    )


def _read_as(scenario: Scenario, trial: Trial) -> Trial:
    return trial.model_copy(update={"invocations": as_defined(trial.invocations, scenario.target)})


def _unused(trial: Trial, scenario: Scenario, decides: Outcome | None) -> tuple[str, ...]:
    """Return a warning if the trial passes without a single call of the MCP server: its checks say nothing about it."""
    unused = scenario.target.mcp is not None and decides == "pass" and not trial.invocations and trial.calls_known
    return ("the trial passed without a single call of the MCP server",) if unused else ()


def _guesses(trial: Trial, metrics: Metrics) -> dict[str, bool]:
    """Return whether a part of the tokens is guessed, and a part of the cost: the agent did not report all of it."""
    ends = [event for event in trial.events if isinstance(event, End)]
    guessed = any(end.tokens_guessed for end in ends)
    reported = any(end.cost_usd is not None for end in ends) and not guessed
    return {"tokens_guessed": guessed, "cost_guessed": metrics.cost_usd is not None and not reported}


class _Checks(NamedTuple):
    """The part of a trial's result that its gates, evaluators and judge decide."""

    outcome: Outcome | None = None
    decides: Outcome | None = None
    not_measured: NotMeasured | None = None
    reason: str = ""
    gates: tuple[GateResult, ...] = ()
    evaluators: tuple[EvaluatorResult, ...] = ()
    case_score: float | None = None
    judge: JudgeResult | None = None
    faults: tuple[str, ...] = ()


def _checks(trial: Trial, scenario: Scenario, *, judge_blocks: bool) -> _Checks:
    not_measured, reason = _not_measured(trial, scenario.gates)
    if not_measured:
        return _Checks(not_measured=not_measured, reason=reason)
    gates = _gate_results(trial, scenario.gates, trial.answers)
    assessment, judge = assess(trial, scenario), judge_result(trial, scenario)
    outcome, reason = _outcome(gates, assessment, judge)
    checks = _Checks(
        outcome=outcome,
        decides=outcome if judge_blocks else _without_judges(gates, trial, scenario, outcome),
        not_measured=None if outcome else _missing(assessment, judge, judge_blocks=judge_blocks),
        reason=reason,
        gates=gates,
        evaluators=assessment.results,
        case_score=assessment.case_score,
        judge=judge,
        faults=(
            *assessment.notes,
            *(assessment.of_judges if judge_blocks else ()),
            *not_shown(trial, scenario, judge_blocks=judge_blocks),
        ),
    )
    if checks.decides == "pass" and _ended_in_a_call(trial):
        checks = checks._replace(outcome="fail", decides="fail", reason="a call of the target did not end")
    if checks.decides == "fail" and trial.end in ("timeout", "watchdog") and trial.end_message:
        return checks._replace(reason=f"{checks.reason}; {trial.end_message}")
    return checks


def _missing(assessment: Assessment, judge: JudgeResult | None, *, judge_blocks: bool) -> NotMeasured:
    """Return why there is no outcome. A judge that only warns must not fail a row by what it could not read."""
    missing = assessment.missing or (judge.not_measured if judge else None) or "judge"
    return "judge" if missing == "unreadable_judge" and not judge_blocks else missing


def _not_measured(trial: Trial, gates: Sequence[Gate]) -> tuple[NotMeasured | None, str]:
    if trial.not_measured:
        return trial.not_measured, trial.reason or f"not measured: {trial.not_measured}"
    if len(trial.answers) != len(gates):
        return "supervisor_lost", f"{len(trial.answers)} answers are stored for {len(gates)} gates"
    for gate, answer in zip(gates, trial.answers, strict=True):
        if not _is_answered(gate.request(), answer):
            return "supervisor_lost", f"nothing was found out for the gate {gate.label}"
    return None, ""


def _ended_in_a_call(trial: Trial) -> bool:
    """Return True if Tidegate stopped the agent for time while a call of the target was running.

    The call may have had its effect, so that the gates pass; but a tool that hangs is still broken.
    """
    stopped = trial.end in ("timeout", "watchdog")
    return stopped and any(call.status == "timeout" and call.source == "recorder" for call in trial.invocations)


def _is_answered(request: Request | None, answer: Answer | None) -> bool:
    match request:
        case None:
            return True
        case ReadFile():
            return isinstance(answer, FileAnswer)
        case _:
            return isinstance(answer, CommandAnswer) and answer.result.end != "cancelled"


def _gate_results(trial: Trial, gates: Sequence[Gate], answers: Sequence[Answer | None]) -> tuple[GateResult, ...]:
    results = []
    for gate, answer in zip(gates, answers, strict=True):
        decision = gate.decide(GateInput(answer=answer, invocations=trial.invocations))
        results.append(GateResult(type=gate.type, label=gate.label, required=gate.required, **decision.model_dump()))
    return tuple(results)


def _outcome(
    gates: tuple[GateResult, ...], assessment: Assessment, judge: JudgeResult | None = None
) -> tuple[Outcome | None, str]:
    """Return the outcome and its reason. A failed check decides, even if another one could not be measured."""
    required = [gate for gate in gates if gate.required]
    failures = [gate for gate in required if not gate.passed]
    if not failures:
        if assessment.failure:
            return "fail", assessment.failure
        if judge and judge.passed is False:
            return "fail", judge.reason
        if assessment.missing:
            return None, assessment.reason
        if judge and judge.not_measured:
            return None, f"judge: {judge.reason}"
        passed = f"all {len(required)} required gates passed" if required else "no gate is required"
        score = "" if assessment.case_score is None else f"; case score {score_text(assessment.case_score)}"
        scored = None if judge is None else judge.weighted_score
        judged = "" if scored is None else f"; judge {score_text(scored)}"
        return "pass", passed + score + judged
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return "fail", f"{failures[0].label}: {failures[0].message}{more}"


def _without_judges(
    gates: tuple[GateResult, ...], trial: Trial, scenario: Scenario, outcome: Outcome | None
) -> Outcome | None:
    """Return the outcome without the judge's results."""
    if not scenario.judged:
        return outcome
    others = any(gate.required for gate in gates) or any(one.decides and not one.judged for one in scenario.evaluators)
    if not others and outcome is None:
        return None
    return _outcome(gates, assess(trial, scenario, judged=False))[0]


def passed_gates(trial: Trial, scenario: Scenario) -> bool:
    """Return True if every gate was evaluated and the required ones passed."""
    if _not_measured(trial, scenario.gates)[0]:
        return False
    gates = _gate_results(_read_as(scenario, trial), scenario.gates, trial.answers)
    return all(gate.passed for gate in gates if gate.required)


class _EvaluatorOutput(Value, extra="ignore", strict=True):
    """The JSON that an evaluator script prints; unknown fields are ignored."""

    metrics: dict[str, FiniteFloat] | None = None
    score: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None
    summary: str | None = None


def script_results(steps: tuple[Step, ...]) -> tuple[tuple[EvaluatorResult, ...], tuple[str, ...]]:
    """Return the results of the evaluator scripts, and a warning for each whose output is unusable."""
    results: list[EvaluatorResult] = []
    warnings: list[str] = []
    for step in steps:
        if step.kind != "evaluator":
            continue
        try:
            output = _evaluator_output(step)
        except ValueError as error:
            output = _EvaluatorOutput(summary=str(error))
            warnings.append(f"evaluator {step.name}: {error}")
        results.append(_evaluator_result(step.name, output))
    return tuple(results), tuple(warnings)


def _evaluator_output(step: Step) -> _EvaluatorOutput:
    """Return the script's parsed output; ValueError with the reason if the script failed or its output is unusable."""
    if not step.result.ok:
        raise ValueError(what_went_wrong(step.result))
    if step.result.truncated:
        raise ValueError("its output was cut")
    try:
        return _EvaluatorOutput.model_validate(parse_json(step.result.stdout))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "its output"
        raise ValueError(excerpt(f"{where}: {first['msg']}")) from None
    except ValueError as error:
        raise ValueError(excerpt(f"its output is not JSON ({error}): {step.result.stdout}")) from None


def _evaluator_result(name: str, output: _EvaluatorOutput) -> EvaluatorResult:
    return EvaluatorResult(
        name=name,
        type="script",
        score=output.score,
        verdict=Score(value=output.score).verdict,
        weight=0,
        reason=excerpt(output.summary or "", MAX_SUMMARY),
        metrics={excerpt(metric): value for metric, value in (output.metrics or {}).items()},
    )


def composite_score(
    weights: Composite | None, gates: tuple[GateResult, ...], metrics: Metrics, judge: JudgeResult | None
) -> tuple[float | None, tuple[str, ...]]:
    """Return the weighted mean, 0..1, of the parts that were measured, and a warning that names the others."""
    if weights is None:
        return None, ()
    parts = {
        "gates": (weights.gate_weight, sum(gate.passed for gate in gates) / len(gates) if gates else None),
        "judge": (weights.judge_weight, judge.weighted_score if judge else None),
        "interaction": (weights.interaction_weight, metrics.first_try_success_rate),
    }
    wanted = {name: part for name, part in parts.items() if part[0] > 0}
    there = {name: (weight, score) for name, (weight, score) in wanted.items() if score is not None}
    if not there:
        return None, ("composite: none of its parts was measured",)
    total = sum(weight for weight, _ in there.values())
    missing = ", ".join(name for name in wanted if name not in there)
    warning = f"composite: not measured: {missing}; the weights of {', '.join(there)} were renormalised"
    return sum(weight * score for weight, score in there.values()) / total, (warning,) if missing else ()


def calls_of(trial: Trial, binary: str) -> tuple[Call, ...]:
    """Return the first MAX_CALLS calls in order, each with its output if that can be determined."""
    messages = _messages(trial, binary)
    return tuple(
        Call(
            command=excerpt(shlex.join([binary, *call.argv]), MAX_COMMAND),
            exit_code=call.exit_code,
            status=call.status,
            message=clipped(without_stack(said) if failed(call) else said, MAX_MESSAGE),
            duration_s=call.duration_s,
        )
        for number, call in enumerate(in_order(trial.invocations)[:MAX_CALLS])
        for said in [messages.get(number, "")]
    )


def _messages(trial: Trial, binary: str) -> dict[int, str]:
    """Return the output of each invocation, by the invocation's number, if it can be determined.

    The recorder knows invocations, the agent's log knows outputs. They are matched by argv and order, but only if both
    have the same number of calls with that argv; otherwise a match would be a guess.
    """
    outputs = _outputs(trial.events, binary)
    numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, call in enumerate(in_order(trial.invocations)):
        numbers[call.argv].append(number)
    return {
        number: output
        for argv, its_numbers in numbers.items()
        if len(its_numbers) == len(outputs[argv])
        for number, output in zip(its_numbers, outputs[argv], strict=True)
    }


def _outputs(events: Sequence[Event], binary: str) -> dict[tuple[str, ...], list[str]]:
    """Return the outputs in the agent's log, by the argv of the call.

    A command that calls the tool more than once has one output for all its calls, so '' is used for each.
    """
    outputs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for logged in logged_calls(events, binary):
        outputs[logged.call.argv].append(logged.result.output if logged.alone else "")
    for asked in logged_tool_calls(events, binary):
        outputs[asked.argv].append(asked.result.output)
    return outputs
