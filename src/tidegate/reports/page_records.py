"""Pack the records of trials for the HTML report: compressed in blocks, which the page opens when they are needed."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidegate.model.measurement import Call, TrialResult
from tidegate.model.plan import RowKey, by_row, row_key
from tidegate.model.trial import Record
from tidegate.model.value import Value
from tidegate.reports.page_row import RowView
from tidegate.reports.transcript import TranscriptStep, steps
from tidegate.text.noise import Words, masked, noisy_words
from tidegate.text.redaction import without_secrets
from tidegate.text.safe import is_visible_json, visible

MOST_RECORDS = 1_000  # of the page, unless rows with findings have more; to read and to pack 1,000 takes half a second
_WITHOUT_FINDING = {"ok", "improved", "added", "removed", "unchanged"}
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


def kept_trials(trials: Sequence[TrialResult], rows: Iterable[RowView]) -> dict[RowKey, list[TrialResult]]:
    """Return the trials whose records the page has, by row, in the order of the rows.

    If there are more than MOST_RECORDS, rows without a finding have those two trials that the page shows side by side,
    and the last of these rows none.
    """
    left = by_row(trials)
    kept: dict[RowKey, list[TrialResult]] = {}
    free = MOST_RECORDS
    for row in rows:
        key = row_key(row.scenario, row.agent)
        of_row = left[key]
        if len(trials) > MOST_RECORDS and row.badge in _WITHOUT_FINDING:
            of_row = [trial for trial in of_row if trial.index == row.pair[trial.side == "head"]] if free > 0 else []
        free -= len(of_row)
        kept[key] = of_row
    return kept


def packed_records(
    trials: Sequence[TrialResult], read: ReadRecord, kept: Mapping[RowKey, list[TrialResult]], room: int
) -> list[Block]:
    """Return the records of the kept trials in blocks; as many as fit into `room` characters of JSON."""
    rows = by_row(trials)
    found: list[Block] = []
    for key, of_row in kept.items():
        for ids, texts in _blocks(of_row, read, noisy_words(rows[key])) if of_row else ():
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
