"""Repeat a question until its answer can be read. Pure, because the answers are stored in order."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from tidegate.model.probe import Answer, Request
from tidegate.model.question import AskModel, ModelAnswer, Reply

ATTEMPTS = 3
T = TypeVar("T")


class Answers(NamedTuple, Generic[T]):
    """The readable answers, sample by sample. `problem` says why another sample could not be read, '' if all could."""

    read: tuple[T, ...]
    asked: int
    problem: str
    model: str | None

    @property
    def enough(self) -> bool:
        """True if more than half of the samples could be read."""
        return 2 * len(self.read) > self.asked


def ask_until_read(ask: AskModel, read: Callable[[str], T]) -> Generator[Request, Answer, Answers[T]]:
    """Ask, and ask again for each sample that was refused, cut off, or that `read` rejects with a ValueError.

    Gives up after ATTEMPTS attempts.
    """
    found: dict[int, T] = {}
    problems: dict[int, str] = {}
    model: str | None = None
    samples: tuple[int, ...] = ()
    for attempt in range(1, ATTEMPTS + 1):
        known = {"attempt": attempt, "samples": samples or ask.samples, "readable": partial(_can_be_read, read)}
        answer = yield ask.model_copy(update=known)
        again = []
        for reply in answer.replies if isinstance(answer, ModelAnswer) else ():
            model = reply.model or model
            try:
                found[reply.sample] = _read(reply, read)
                problems.pop(reply.sample, None)
            except _LostError as lost:
                problems[reply.sample] = str(lost)
            except ValueError as error:
                problems[reply.sample] = f"the answer cannot be read: {error}"
                again.append(reply.sample)
        samples = tuple(again)
        if not samples:
            break
    ordered = tuple(found[sample] for sample in sorted(found))
    asked = len(found) + len(problems)
    problem = next(iter(problems.values()), "" if asked else "no judge was asked")
    return Answers(ordered, max(asked, 1), problem, model)


class _LostError(Exception):
    """The sample is lost: asking again would not help."""


def _can_be_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    match reply.end:
        case "answered":
            return read(reply.text)
        case "refused":
            raise ValueError(f"the model refused to answer{_more(reply)}")
        case "max_tokens":
            raise ValueError(f"it was cut off{_more(reply)}")
        case "budget":
            raise _LostError(reply.message)
        case _:
            raise _LostError(reply.message or f"the judge could not be asked: {reply.end}")


def _more(reply: Reply) -> str:
    return f": {reply.message}" if reply.message else ""
