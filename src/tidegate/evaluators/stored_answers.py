"""Find a stored trial's answers by their requests, for gates that have changed since the trial ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidegate.model.gate import Gate
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, ReadFile, Request


def gate_answers(gates: Sequence[Gate], stored: Sequence[Answer | None]) -> tuple[Answer | None, ...]:
    """Return each gate's stored answer, at any position; None if the gate's request was never made."""
    answers = []
    for gate in gates:
        request = gate.request()
        answers.append(None if request is None else answer_to(request, stored))
    return tuple(answers)


def answer_to(request: Request, stored: Iterable[Answer | None]) -> Answer | None:
    """Return the first stored answer to the same request; None if there is none."""
    return next((answer for answer in stored if answer is not None and _answers(answer, request)), None)


def _answers(answer: Answer, request: Request) -> bool:
    if isinstance(request, ReadFile):
        return isinstance(answer, FileAnswer) and answer.path == request.path
    return isinstance(answer, CommandAnswer) and answer.result.command == getattr(request, "command", None)
