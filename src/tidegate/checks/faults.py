"""What makes a trial's pass doubtful, as its record shows it. Pure.

Trials of base excuse a fault with the same text, so each text says where the fault is, without what differs between
trials: numbers, folders, ids.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from tidegate.agents.invocations.metrics import in_order
from tidegate.checks.evaluators.tool_trajectory import ToolTrajectory
from tidegate.checks.gates.command_gate import Script, says_failed, says_passed
from tidegate.checks.rubrics.work import line as transcript_line
from tidegate.model.event import End, Invocation, ToolCall, ToolResult, Warning
from tidegate.model.gate import told_apart
from tidegate.model.measurement import GateResult
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial
from tidegate.text.noise import without_noise
from tidegate.text.shorten import excerpt, is_partial

_NUMBER = re.compile(r"\d+")
_AT_MOST = 80  # characters of a command


def faults_of(trial: Trial, scenario: Scenario) -> Iterator[str]:
    """Yield the faults of the agent's log and of the scripts' answers."""
    unfinished = (call for call in in_order(trial.invocations) if call.status == "unfinished")
    for name in told_apart(_named(call, trial, scenario) for call in unfinished):
        yield f"a call had not ended when the agent did: {name}"
    for event in trial.events:
        if isinstance(event, Warning) and event.unread:
            yield f"a line of the agent's events cannot be read: {_steady(event.text, trial)}"
    yield from _doubled(trial)
    yield from _ended_badly(trial, scenario)
    labels = told_apart(gate.label for gate in scenario.gates)
    for label, gate, answer in zip(labels, scenario.gates, trial.answers, strict=False):
        if isinstance(gate, Script) and isinstance(answer, CommandAnswer):
            if not says_passed(answer.result.stdout):
                yield f"{label} prints no `passed`"
            if says_failed(answer.result.stdout):
                yield f"{label} prints that it failed, beside something else"


def _named(call: Invocation, trial: Trial, scenario: Scenario) -> str:
    """Return what the agent called: the tool and its subcommand, or its whole command if no subcommand is known."""
    words = [call.subcommand] if call.subcommand else call.argv
    return f"`{_steady(excerpt(shlex.join([scenario.target.binary, *words]), _AT_MOST), trial)}`"


def _steady(text: str, trial: Trial) -> str:
    return _NUMBER.sub("N", without_noise(trial.places.hide(text)))


def _doubled(trial: Trial) -> Iterator[str]:
    calls = {event.id: event for event in trial.events if isinstance(event, ToolCall)}
    seen = set[str]()
    for event in trial.events:
        if isinstance(event, ToolResult):
            if event.id in seen:
                call = calls.get(event.id)
                said = excerpt((call.command or call.tool) if call else event.id, _AT_MOST)
                yield f"two results of calls have one id: of `{_steady(said, trial)}`"
            seen.add(event.id)


def _ended_badly(trial: Trial, scenario: Scenario) -> Iterator[str]:
    """Yield the status with which the agent's program failed, and its last call of the tool, which may be why."""
    calls = in_order(trial.invocations)
    last = f", after {_named(calls[-1], trial, scenario)} with exit {calls[-1].exit_code}" if calls else ""
    for event in trial.events:
        if isinstance(event, End) and event.status:
            yield f"the agent's program ended with exit {event.status}{last}"


def not_shown(trial: Trial, scenario: Scenario, *, judge_blocks: bool) -> Iterator[str]:
    """Yield the checks that decide and did not see all: a break could be in what is left out."""
    partly = "is not given all that happened: a text is too long, or not in UTF-8"
    cut = any(is_partial(event.output) for event in trial.events if isinstance(event, ToolResult))
    labels = told_apart(gate.label for gate in scenario.gates)
    scripts = [
        label for label, gate in zip(labels, scenario.gates, strict=True) if isinstance(gate, Script) and gate.required
    ]
    scripts += ["`post`"] if scenario.post else []
    in_transcript = any(is_partial(transcript_line(event)) for event in trial.events) if scripts else False
    yield from (f"{label} {partly}" for label in scripts if in_transcript)
    names = told_apart(evaluator.label for evaluator in scenario.evaluators)
    of_evaluators = zip(names, scenario.evaluators, trial.evaluator_answers, strict=False)
    answered = [one for one in of_evaluators if one[1].decides]
    if scenario.judge:
        answered.append((scenario.judge.label, scenario.judge, trial.judge_answers))
    if judge_blocks and any(one.judged for _, one, _ in answered):
        yield from (f"judges are not shown `{name}`" for name in trial.unshown)
        if trial.workspace_lost:
            yield "judges are not shown what changed"
    for name, evaluator, answers in answered:
        reads = any(isinstance(one, ToolTrajectory) and one.reads_outputs for one in (evaluator, *evaluator.members))
        given = any(one.cut for one in answers if not isinstance(one, FileAnswer))
        if ((cut and reads) or given) and (judge_blocks or not evaluator.judged):
            yield f"{name} {partly}"


def kinds(gates: Sequence[GateResult]) -> Iterator[str]:
    """Yield what kind of value each gate counted or searched."""
    for label, gate in zip(told_apart(gate.label for gate in gates), gates, strict=True):
        if gate.type != "script" and gate.detail:
            yield from (f"{label}: {found}" for found in gate.detail["found"])
