"""Ask the judge which of one base and one head trial meets each criterion better, in both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from tidegate.model.probe import Answer, Request
from tidegate.model.question import AskModel
from tidegate.rubrics.asking import ask_until_read
from tidegate.rubrics.forms import pair_form
from tidegate.rubrics.prompts import question
from tidegate.rubrics.reading import read_pair
from tidegate.rubrics.samples import Criterion

Said = Literal["better", "worse", "same"]
_ORDERS: tuple[dict[str, Said], dict[str, Said]] = (
    {"first": "worse", "second": "better", "same": "same"},  # base is shown first
    {"first": "better", "second": "worse", "same": "same"},
)


class Pair(NamedTuple):
    """How head compares with base, by criterion. `problem` says why there is no answer."""

    said: dict[str, Said]
    problem: str = ""


def compare_pair(criteria: Sequence[Criterion], task: str, base: str, head: str) -> Generator[Request, Answer, Pair]:
    """Ask in both orders. An answer that depends on the order counts as `same`.

    The judge does not learn which side is which.
    """
    heard: list[dict[int, dict[str, Said]]] = []
    for order, texts in zip(_ORDERS, ((base, head), (head, base)), strict=True):
        answers = yield from ask_until_read(
            _question(criteria, task, *texts), partial(read_pair, ids=[one.id for one in criteria])
        )
        if not answers.counting:
            return Pair({}, answers.problem)
        read = {place: judge.read[0] for place, judge in enumerate(answers.judges) if judge.read}
        heard.append({place: {name: order[said] for name, said in own.items()} for place, own in read.items()})
    there, back = heard
    both = [(there[place], back[place]) for place in there if place in back]
    return Pair({one.id: _majority([_in_both(one.id, *pair) for pair in both]) for one in criteria})


def _in_both(name: str, there: Mapping[str, Said], back: Mapping[str, Said]) -> Said:
    return there[name] if there[name] == back[name] else "same"


def _majority(said: Sequence[Said]) -> Said:
    """Return what more than half of the panel's judges say, else `same`."""
    most, times = Counter(said).most_common(1)[0] if said else ("same", 0)
    return most if 2 * times > len(said) else "same"


def _question(criteria: Sequence[Criterion], task: str, first: str, second: str) -> AskModel:
    ask = question(
        "pair",
        pair_form([one.id for one in criteria]),
        [f"- `{one.id}`: {' '.join(one.description.split())}" for one in criteria],
        task=task,
        first=first,
        second=second,
    )
    return ask.model_copy(update={"samples": (1,)})
