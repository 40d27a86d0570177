"""Labels by people: what to label, the judge's most doubtful opinions first, and the file that keeps them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from tidegate.decide.trust import criterion_name, judgements
from tidegate.errors import ConfigurationError
from tidegate.model.evaluator import CriterionScore
from tidegate.model.judge_result import Label
from tidegate.model.measurement import TrialResult

_WORDS = {"met": "met", "pass": "met", "yes": "met", "unmet": "unmet", "fail": "unmet", "no": "unmet"}
HALF = 0.5


def read_labels(path: Path) -> list[Label]:
    """Return all labels in a file. Raises ConfigurationError that names the first invalid line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error}.", "`tidegate label RUN` writes such a file."
        ) from None
    return [_label(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def add_label(path: Path, label: Label) -> None:
    """Append one label and write it to disk at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(label.model_dump_json(exclude_defaults=True) + "\n")


def _label(path: Path, number: int, line: str) -> Label:
    advice = 'A line is {"trial": "head/SCENARIO/AGENT/1", "criterion": ID, "verdict": "met" or "unmet"}.'
    try:
        data = json.loads(line)
        if isinstance(data, dict) and "verdict" in data:
            data["verdict"] = _mark(data["verdict"])
        return Label.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        what = f"it is not JSON: {error}"
    raise ConfigurationError(f"{path}:{number}: {what}", advice) from None


def _mark(verdict: Any) -> Any:
    """Convert common words, booleans and scores from 0 to 1 to "met" or "unmet"; return anything else unchanged."""
    if isinstance(verdict, bool):
        return "met" if verdict else "unmet"
    if isinstance(verdict, int | float) and 0 <= verdict <= 1:
        return "met" if verdict >= HALF else "unmet"
    return _WORDS.get(verdict, verdict) if isinstance(verdict, str) else verdict


class Item(NamedTuple):
    """One criterion of one trial, with its description. The judge's opinion is not part of it."""

    trial: TrialResult
    criterion: str
    description: str


def items(
    trials: Iterable[TrialResult], labels: Iterable[Label], unconfirmed: Collection[tuple[str, str]] = ()
) -> list[Item]:
    """Return the criteria without a label, the most doubtful first. `unconfirmed` holds rows (scenario, agent).

    Criteria whose samples disagree come first, then unmet criteria (all gates of the trial passed), then
    unconfirmed rows.
    """
    done = {(label.trial, label.criterion) for label in labels}
    found = [
        (_rank(one, said.met, (trial.scenario, trial.agent) in unconfirmed), Item(trial, name, one.description))
        for trial in trials
        for evaluator, said in judgements(trial).items()
        for one in said.criteria
        if (trial.id, name := criterion_name(evaluator, one.id)) not in done
    ]
    return [item for _, item in sorted(found, key=lambda ranked: ranked[0])]


def _rank(one: CriterionScore, met: float, unconfirmed: bool) -> tuple[bool, float, bool, bool]:
    """Return the sort key. `met` is the lowest score that counts as met.

    Criteria whose samples may lie on both sides of `met`, judging by score and spread, come first.
    """
    split = one.spread > 0 and one.score - one.spread < met <= one.score + one.spread
    return not split, -one.spread, one.score >= met, not unconfirmed


def without_opinions(trial: TrialResult) -> TrialResult:
    """Return the trial without its side and without any model's opinion, both of which would influence a person.

    The outcome is `pass`, since a judge is only asked about trials that passed all required gates.
    """
    return trial.model_copy(
        update={
            "id": trial.id.partition("/")[2],
            "judge": None,
            "evaluators": tuple(result for result in trial.evaluators if not result.judged),
            "outcome": "pass",
            "reason": "all required gates passed",
            "metrics": trial.metrics.model_copy(update={"case_score": None, "judge_score": None}),
        }
    )
