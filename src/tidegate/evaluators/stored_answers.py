"""The answers that a stored trial has, found again by the questions: for gates that have changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidegate.model.gate import Gate
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer, ReadFile, Request


def gate_answers(gates: Sequence[Gate], stored: Sequence[Answer | None]) -> tuple[Answer | None, ...]:
    """For each gate the answer to the same question, wherever it stands; None where that was never asked."""
    answers = []
    for gate in gates:
        request = gate.request()
        answers.append(None if request is None else answer_to(request, stored))
    return tuple(answers)


def answer_to(request: Request, stored: Iterable[Answer | None]) -> Answer | None:
    """The first stored answer to the same question."""
    return next((answer for answer in stored if answer is not None and _answers(answer, request)), None)


def _answers(answer: Answer, request: Request) -> bool:
    if isinstance(request, ReadFile):
        return isinstance(answer, FileAnswer) and answer.path == request.path
    return isinstance(answer, CommandAnswer) and answer.result.command == getattr(request, "command", None)
