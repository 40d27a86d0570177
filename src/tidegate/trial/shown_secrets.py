"""Removes secrets from a trial's record, and notes where its checks would have seen one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tidegate.model.gate import told_apart
from tidegate.model.suite import Scenario
from tidegate.model.trial import Trial
from tidegate.text.redaction import Redaction
from tidegate.trial.safe_files import redacted


def without_secrets(trial: Trial, redaction: Redaction, scenario: Scenario, given: Collection[str]) -> Trial:
    """Return the trial without the secrets. Each in what a check reads is a fault, since checks do not see it.

    `given`: the values that the trial has. Others it cannot show, but a text may be equal to one by chance.
    """
    clean = redacted(trial, redaction)
    if clean is trial:
        return trial
    faults = {
        f"it shows the value of {name}, in: {what}": ""
        for what, before, after in _read(trial, clean, scenario)
        for name in redaction.names_of(given)
        if repr(after).count(f"[{name}]") > repr(before).count(f"[{name}]")
    }
    return clean.model_copy(update={"faults": {**clean.faults, **faults}})


def _read(trial: Trial, clean: Trial, scenario: Scenario) -> Iterator[tuple[str, object, object]]:
    """Yield what each check reads, before and after the secrets were removed, with the check's name."""
    yield from zip(told_apart(gate.label for gate in scenario.gates), trial.answers, clean.answers, strict=False)
    labels = told_apart(evaluator.label for evaluator in scenario.evaluators)
    yield from zip(labels, trial.evaluator_answers, clean.evaluator_answers, strict=False)
    if labels or scenario.judge:
        yield "what evaluators read of the agent", trial.events, clean.events
