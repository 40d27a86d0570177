"""Ask the judge which of a row's trials is the best, in two orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, NamedTuple

from tidegate.model.probe import Answer, Request
from tidegate.model.question import AskModel
from tidegate.rubrics.asking import ask_until_read
from tidegate.rubrics.data_block import MAX_TEXT
from tidegate.rubrics.forms import object_of
from tidegate.rubrics.prompts import question
from tidegate.rubrics.reading import mapping_of
from tidegate.rubrics.samples import Criterion
from tidegate.text.shorten import excerpt

TEMPLATE = "best"


class Choice(NamedTuple):
    """The place of the best work, None if there is no best one. `problem` says why there is no answer.

    `judges` has each judge's own choice, by its place in the panel, with the name of its model.
    """

    best: int | None
    reason: str = ""
    judges: dict[int, tuple[str | None, int | None]] = {}
    problem: str = ""


def select_best(criteria: Sequence[Criterion], task: str, works: Sequence[str]) -> Generator[Request, Answer, Choice]:
    """Ask in the given order and in the reverse one. A judge whose choice depends on the order has chosen none.

    The choice of more than half of a panel's judges counts.
    """
    count = len(works)
    heard: list[dict[int, tuple[int | None, str]]] = []
    models: dict[int, str | None] = {}
    for places in (range(count), range(count - 1, -1, -1)):
        ask = _question(criteria, task, [works[place] for place in places])
        answers = yield from ask_until_read(ask, partial(_read, count=count))
        if not answers.counting:
            return Choice(None, problem=answers.problem)
        read = {number: judge.read[0] for number, judge in enumerate(answers.judges) if judge.read}
        heard.append({number: (places[best - 1] if best else None, why) for number, (best, why) in read.items()})
        models |= {number: judge.model for number, judge in enumerate(answers.judges)}
    there, back = heard
    own = {
        number: there[number][0] if there[number][0] == back[number][0] else None for number in there if number in back
    }
    best, times = Counter(own.values()).most_common(1)[0] if own else (None, 0)
    best = best if 2 * times > len(own) else None
    reason = next((there[number][1] for number, one in own.items() if one == best and best is not None), "")
    return Choice(best, reason, {number: (models[number], one) for number, one in own.items()})


def _question(criteria: Sequence[Criterion], task: str, works: Sequence[str]) -> AskModel:
    ask = question(
        TEMPLATE,
        object_of(reason={"type": "string"}, best={"type": "integer"}),
        [f"- `{one.id}`: {' '.join(one.description.split())}" for one in criteria],
        task=task,
        works=works,
        room=MAX_TEXT // len(works),
    )
    return ask.model_copy(update={"samples": (1,)})


def _read(text: str, count: int) -> tuple[int, str]:
    answer: dict[str, Any] = mapping_of(text)
    best, reason = answer.get("best"), answer.get("reason")
    if not isinstance(best, int) or isinstance(best, bool) or not 0 <= best <= count:
        raise ValueError(f"`best` is {excerpt(repr(best), 20)}, not a number from 0 to {count}")
    return best, excerpt(reason, 500) if isinstance(reason, str) else ""
