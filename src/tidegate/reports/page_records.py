"""Pack the records of trials for the HTML report: compressed in blocks, which the page opens when they are needed."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tidegate.model.measurement import Call, TrialResult, by_row
from tidegate.model.plan import RowKey
from tidegate.model.trial import Record
from tidegate.model.value import Value
from tidegate.reports.transcript import TranscriptStep, steps
from tidegate.text.noise import Words, masked, noisy_words
from tidegate.text.redaction import without_secrets
from tidegate.text.safe import is_visible_json, visible

BLOCK_CHARACTERS = 300_000  # of JSON, after which a block ends: similar trials compress well together
_DIFF_CHARACTERS = 60_000

ReadRecord = Callable[[TrialResult], Record]
Block = tuple[list[str], str]  # ids of trials; their records as packed text


def packed(view: Value) -> tuple[Any, str]:
    """Return a view with invisible and control characters made visible, and the same as JSON in gzip in base64."""
    text = view.model_dump_json()
    if is_visible_json(text):
        return view, _compressed(text)
    value = shown(view.model_dump(mode="json"))
    return value, _compressed(_json(value))


def packed_records(trials: Sequence[TrialResult], read: ReadRecord, rows: Iterable[RowKey], room: int) -> list[Block]:
    """Return the records in blocks, in the order of the rows; as many as fit into `room` characters of JSON."""
    of_row = by_row(trials)
    found: list[Block] = []
    for key in rows:
        for ids, texts in _blocks(of_row[key], read, noisy_words(of_row[key])) if of_row[key] else ():
            block = ids, _compressed("{" + ",".join(texts) + "}")
            room -= len(_as_json(block).encode()) + len(",")
            if room < 0:
                return found
            found.append(block)
    return found


def _blocks(trials: Sequence[TrialResult], read: ReadRecord, noise: Words) -> Iterator[tuple[list[str], list[str]]]:
    """Yield ids and records, as members of a JSON object, of as many trials of one row as a block holds."""
    ids: list[str] = []
    texts: list[str] = []
    for trial in trials:
        text = f"{_as_json(trial.id)}:{_as_json(_record(trial, without_secrets(read(trial)), noise))}"
        if texts and sum(map(len, texts)) + len(text) > BLOCK_CHARACTERS:
            yield ids, texts
            ids, texts = [], []
        ids.append(visible(trial.id))
        texts.append(text)
    yield ids, texts


def _record(trial: TrialResult, record: Record, noise: Words) -> dict[str, Any]:
    left_out = len(record.diff) - _DIFF_CHARACTERS
    cut = f"\n… {left_out:,} characters left out" if left_out > 0 else ""
    return {
        "prompt": record.prompt,
        "steps": [_step(step, noise) for step in steps(record.events, trial.calls)],
        "calls": [_call(call, noise) for call in trial.calls],
        "gates": [gate.model_dump(include={"label", "passed", "required", "message"}) for gate in trial.gates],
        "evaluators": [scored.model_dump(exclude={"metrics"}) for scored in trial.evaluators],
        "judge": trial.judge.model_dump(include={"weighted_score", "reason", "judgement"}) if trial.judge else None,
        "warnings": [*trial.warnings, *filter(None, [record.problem])],
        "diff": record.diff[:_DIFF_CHARACTERS] + cut,
    }


def _step(step: TranscriptStep, noise: Words) -> dict[str, Any]:
    """Return the step; `same` is its title without noise, if that differs: steps of two trials are compared by it."""
    same = masked(step.title, noise) if step.kind == "call" else step.title
    return step.model_dump() | ({"same": same} if same != step.title else {})


def _call(call: Call, noise: Words) -> dict[str, Any]:
    """Return the call; `same` is its command and its output without noise, if that differs."""
    same = [masked(call.command, noise), masked(call.message, noise)]
    return call.model_dump() | ({"same": same} if same != [call.command, call.message] else {})


def _compressed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _as_json(value: Any) -> str:
    text = _json(value)
    return text if is_visible_json(text) else _json(shown(value))  # most is: to look at each text takes far longer


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def shown(value: Any) -> Any:
    """Return the value with invisible and control characters made visible in all its texts."""
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(str(key)): shown(item) for key, item in value.items()}
        case list() | tuple():
            return [shown(item) for item in value]
        case _:
            return value
