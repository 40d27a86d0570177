"""Compare replays of one session: does it replay on base as it was recorded, and does head show the same?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tidegate.agents.actions import action_of
from tidegate.decide.replay.record import tools_of
from tidegate.model.event import CallStatus, CommandResult, Message, ToolCall, ToolResult, how_it_ended
from tidegate.model.measurement import TrialResult
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer
from tidegate.model.run_row import DifferingStep, LeftOut
from tidegate.model.trial import FOLDER_MARK, LINK, STDERR, SessionRecord, SessionStep, Trial, without_folder
from tidegate.text.first_difference import first_difference
from tidegate.text.noise import Names, Printed, Steady, steady, without_noise
from tidegate.text.shorten import excerpt, is_cut

SLOW_TIMES, SLOW_SECS = 5.0, 10.0  # a step that takes so much longer on head is a difference
_SHOWN = 200  # characters of an output
MOST_GIVEN = 200_000  # characters of calls and diff that are compared
OFFERED = "tools/list"
GATE = "gate "  # before a gate's name in the label of a check


class ReplayStep(NamedTuple):
    """What one step of a replay showed; `label` is the step as reports name it."""

    label: str
    status: CallStatus
    exit_code: int | None
    printed: Printed

    @property
    def ended(self) -> tuple[CallStatus, int | None]:
        """How it ended."""
        return self.status, self.exit_code


class Replayed(NamedTuple):
    """All that one replay showed: the agent's steps in order, then gates and scripts. `lost`: why there is none."""

    steps: tuple[ReplayStep, ...]
    checks: tuple[ReplayStep, ...]
    guidance: str
    tools: str
    lost: str = ""

    @property
    def everything(self) -> tuple[ReplayStep, ...]:
        """The steps and the checks."""
        return (*self.steps, *self.checks)


def replayed(session: SessionRecord, trial: Trial, result: TrialResult, given: str = "") -> Replayed:
    """Return what a replay of the session showed. `result` is its measurement, which has the gates' decisions.

    `given`: the calls and the diff that judges would read, if they decide.
    """
    lost = f"{trial.not_measured}: {trial.reason}" if trial.not_measured else "" if trial.end else "it did not end"
    if given and (trial.workspace_lost or len(given) > MOST_GIVEN):
        lost = lost or "it changes more than can be compared"
    calls = {event.id: event for event in trial.events if isinstance(event, ToolCall)}
    errors = [event.text for event in trial.events if isinstance(event, Message) and event.text.startswith(STDERR)]
    steps = [_seen_of(calls.get(event.id), event, trial) for event in trial.events if isinstance(event, ToolResult)]
    own = [number for number, seen in enumerate(steps) if seen.label != OFFERED]
    taken = (step for step in session.steps if action_of(step, session.server).kind != "nothing")
    for number, step in zip(own, taken, strict=False):  # as the agent wrote it
        steps[number] = steps[number]._replace(label=excerpt(f"$ {step.command}" if step.command else step.tool, 120))
    apart = (ReplayStep("standard error", "ok", None, _printed(text, trial)) for text in errors)
    judged = ReplayStep("what judges are given", "ok", None, _printed(given, trial))
    return Replayed(tuple(steps), (*apart, *_checks(trial, result), judged), trial.guidance, tools_of(trial), lost)


class Base(NamedTuple):
    """A session that replays on base: one replay of it, and the form in which two agree, for each step."""

    replay: Replayed
    forms: tuple[Steady, ...]


def on_base(session: SessionRecord, one: Replayed, other: Replayed) -> Base | LeftOut:
    """Return base's replays of a session, or why the session does not count."""
    if one.lost or other.lost:
        return LeftOut(code="lost", detail=one.lost or other.lost)
    if session.guidance != one.guidance:
        return LeftOut(code="guidance")
    if session.tools != one.tools:
        return LeftOut(code="tools")
    first, second = one.everything, other.everything
    if len(first) != len(second):
        return LeftOut(code="unsteady")
    forms: list[Steady] = []
    for ours, theirs in zip(first, second, strict=True):
        form = steady(ours.printed, theirs.printed)
        if form is None or ours.ended != theirs.ended:
            return LeftOut(code="unsteady", detail=ours.label)
        forms.append(form)
    if (label := _unlike_recorded(session, one, forms)) is not None:
        return LeftOut(code="unlike_recorded", detail=label)
    return Base(one, tuple(forms))


def difference(base: Base, head: Replayed) -> DifferingStep | None:
    """Return the first step that shows something else on head; None if an agent would have seen the same."""
    if head.lost:
        return DifferingStep(step="the whole session", base="it replays", head=head.lost)
    if head.guidance != base.replay.guidance:
        return DifferingStep(step="the guidance files", base="as recorded", head="changed")
    names: Names = {}
    first, second = base.replay.everything, head.everything
    for number, (ours, theirs, form) in enumerate(zip(first, second, base.forms, strict=False), 1):
        slow = max(SLOW_SECS, SLOW_TIMES * ours.printed.secs)
        if ours.ended != theirs.ended or not form.agrees(theirs.printed, names):
            base_shown, head_shown = _shown(ours, theirs)
            return DifferingStep(step=ours.label, base=base_shown, head=head_shown, number=number)
        if theirs.printed.secs > slow:
            took = f"{theirs.printed.secs:.1f} s"
            before = f"takes {ours.printed.secs:.1f} s"
            return DifferingStep(step=ours.label, base=before, head=f"takes {took}", number=number)
    if len(first) != len(second):
        steps = min(len(first), len(second)) + 1
        return DifferingStep(step="the end", base=f"{len(first)} steps", head=f"{len(second)} steps", number=steps)
    return None


def failing_gates(base: Base, head: Replayed) -> tuple[str, ...]:
    """Return the gates that pass after the replay on base and fail after that on head."""
    passed = {seen.label for seen in base.replay.checks if seen.status == "ok"}
    failed = [seen.label for seen in head.checks if seen.status != "ok" and seen.label in passed]
    return tuple(label.removeprefix(GATE) for label in failed if label.startswith(GATE))


def _unlike_recorded(session: SessionRecord, one: Replayed, forms: Sequence[Steady]) -> str | None:
    """Return the first step that does not end or print as it was recorded; None if all do."""
    steps = [seen for seen in one.steps if seen.label != OFFERED]
    kinds = [(step, action_of(step, session.server).kind) for step in session.steps]
    taken = [(step, kind) for step, kind in kinds if kind != "nothing"]
    if len(taken) != len(steps):
        return "the end"
    for (step, kind), seen, form in zip(taken, steps, forms[len(one.steps) - len(steps) :], strict=False):
        if (step.status == "ok") != (seen.status == "ok"):
            return seen.label
        if kind not in ("shell", "call"):
            continue  # agents' own tools print in a form of their own
        if step.exit_code is not None and step.exit_code != seen.exit_code:
            return seen.label
        if not form.holds(_recorded(step), cut=is_cut(step.output)):
            return seen.label
    return None


def _recorded(step: SessionStep) -> Printed:
    """Return what the agent saw, without lines that were cut and the note of how much is missing."""
    lines = step.output.split("\n")
    marks = [number for number, line in enumerate(lines) if is_cut(line)]
    dropped = {number + by for number in marks for by in (-1, 0, 1)}
    kept = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    return Printed(kept, step.at, step.secs)


def _seen_of(call: ToolCall | None, result: ToolResult, trial: Trial) -> ReplayStep:
    if call is None:
        return ReplayStep(OFFERED, result.status, None, Printed(result.output))
    at = (trial.agent_started_at or trial.started_at) + result.at
    text = without_folder(result.output) if FOLDER_MARK in call.line else result.output
    printed = Printed(trial.places.hide(text), at, max(0.0, result.at - call.at))
    return ReplayStep(excerpt(trial.places.hide(call.line), 120), result.status, result.exit_code, printed)


def _checks(trial: Trial, result: TrialResult) -> list[ReplayStep]:
    decided = [(gate.label, gate.passed) for gate in result.gates]
    gates = [ReplayStep(f"{GATE}{label}", "ok" if passed else "error", None, Printed("")) for label, passed in decided]
    known = [one for one in result.evaluators if one.verdict != "not_measured"]
    gates += [ReplayStep(f"evaluator {one.name}", "ok", None, Printed(one.verdict)) for one in known]
    answers = [*trial.answers, *(one for several in trial.evaluator_answers for one in several)]
    shown = [_answer(answer, trial) for answer in answers if answer is not None]
    scripts = [
        ReplayStep(f"script {step.name}", step.result.status, step.result.shell_status, _apart(step.result, trial))
        for step in trial.steps
        if step.kind in ("post", "evaluator")
    ]
    links = (name for name in trial.made if LINK in name)
    found = "\n".join((*trial.rewritten, *links, *result.faults))
    return [*gates, *shown, *scripts, ReplayStep("what makes a pass doubtful", "ok", None, _printed(found, trial))]


def _answer(answer: Answer, trial: Trial) -> ReplayStep:
    if isinstance(answer, CommandAnswer):
        done = answer.result
        return ReplayStep(f"check {excerpt(done.command, 80)}", done.status, done.shell_status, _apart(done, trial))
    if isinstance(answer, FileAnswer):
        status: CallStatus = "ok" if answer.state == "present" else "error"
        return ReplayStep(f"file {answer.path}", status, None, _printed(f"{answer.state}\n{answer.text or ''}", trial))
    return ReplayStep("judge", "ok", None, Printed(""))


def _apart(result: CommandResult, trial: Trial) -> Printed:
    """Return both outputs, each by itself: what moves from one to the other is a difference."""
    return _printed(f"{result.stdout}\n{STDERR}{result.stderr}", trial)


def _printed(text: str, trial: Trial) -> Printed:
    began = trial.agent_started_at or trial.started_at
    return Printed(trial.places.hide(text), began + (trial.duration_s or 0.0), 1.0)


def _shown(base: ReplayStep, head: ReplayStep) -> tuple[str, str]:
    """Return how a step ended on both sides and what it printed; of long outputs that end alike, where they differ."""
    texts = base.printed.text, head.printed.text
    if base.ended == head.ended and len(max(texts, key=len)) > _SHOWN:
        first, second = first_difference(*texts, without_noise)
        texts = first or "(no such line)", second or "(no such line)"
    ended = [how_it_ended(seen.status, seen.exit_code) for seen in (base, head)]
    shown = [f"{how}: {excerpt(text, _SHOWN)}" if text.strip() else how for how, text in zip(ended, texts, strict=True)]
    return shown[0], shown[1]
