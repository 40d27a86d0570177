"""Reads a result from an untrusted artifact: in memory, validated, without anything that could be run.

Whoever opens a pull request from a fork controls every byte of the archive.
"""

from __future__ import annotations

import io
import json
import math
import stat
import zipfile
import zlib

from pydantic import ValidationError

from tidegate.model.comparison import Row
from tidegate.model.red import red_names
from tidegate.model.result import Result
from tidegate.reports.comment import comment_body
from tidegate.text.json_keys import unique_keys

RESULT = "result.json"
MAX_ARCHIVE = 20_000_000  # bytes
MAX_RESULT = 20_000_000  # bytes, unpacked
MAX_FILES = 1  # the documented workflow uploads the one file


class PoisonedError(Exception):
    """The archive is not what our action uploads. The message says why, and quotes nothing but a file name from it."""


def read_result(archive: bytes, instance: str, *, ours: bool = False) -> Result:
    """Return the result in the archive, safe to show. Raises PoisonedError if anything about it is wrong.

    `ours`: the run was on this repository's own branch. Otherwise it does not tell who accepted what: a result that
    was accepted is returned as a failed one.
    """
    result = _parsed(_unpacked(archive))
    if result.instance != instance:
        raise PoisonedError(f"it is the result of another instance than {instance!r}")
    _refuse_contradictions(result)
    shown = _disarmed(result if ours else _as_shown(_unaccepted(result)))
    try:
        comment_body(shown)
    except Exception as error:  # valid by its model, but not something that our code could have produced
        raise PoisonedError(f"nothing can be shown of it ({type(error).__name__})") from None
    return shown


def _unpacked(archive: bytes) -> bytes:
    """Return the content of the only file. Nothing is written to disk, so paths in the archive do no harm."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            entries = zipped.infolist()
            if len(entries) != MAX_FILES:
                raise PoisonedError(f"it holds {len(entries)} files instead of one")
            (entry,) = entries
            if entry.filename != RESULT or entry.orig_filename != RESULT:
                raise PoisonedError(f"its file is {entry.filename[:80]!r} instead of {RESULT!r}")
            if (mode := entry.external_attr >> 16) and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
                raise PoisonedError(f"{RESULT} is not an ordinary file")
            if entry.flag_bits & 0x1:
                raise PoisonedError(f"{RESULT} is encrypted")
            with zipped.open(entry) as file:
                found = file.read(MAX_RESULT + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise PoisonedError(f"it is not a complete zip archive ({type(error).__name__})") from None
    if len(found) > MAX_RESULT:
        raise PoisonedError(f"{RESULT} has more than {MAX_RESULT} bytes")
    return found


def _parsed(text: bytes) -> Result:
    try:
        loaded = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=unique_keys)
        json.dumps(loaded, ensure_ascii=False).encode()  # raises on lone surrogates, which cannot be printed
        return Result.model_validate(loaded)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))[:120]
        raise PoisonedError(f"{RESULT} does not have the form of one: {place}: {first['type']}") from None
    except (ValueError, RecursionError) as error:
        raise PoisonedError(f"{RESULT} cannot be read ({type(error).__name__})") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("no number that one can count with")
    return number


def _unaccepted(result: Result) -> Result:
    if result.verdict.accepted_by is None:
        return result
    failed = {"state": "failed", "reason": "regression", "exit_code": 1, "would_block": True, "accepted_by": None}
    return result.model_copy(update={"verdict": result.verdict.model_copy(update=failed)})


def _as_shown(result: Result) -> Result:
    """Return the result with no more names of what is red than its comment shows: a label would cover them, too."""
    metrics = (name for name, change in result.suite.metrics.items() if change.warns or change.missing)
    shown = {*red_names(result.rows, result.suite, metrics, result.definitions, result.interfaces)}
    shown.add(result.verdict.reason)
    red = tuple(name for name in result.verdict.red if name in shown)
    return result.model_copy(update={"verdict": result.verdict.model_copy(update={"red": red})})


def _refuse_contradictions(result: Result) -> None:
    """Raise PoisonedError for a result that our own code never produces.

    A forged result may still be consistent, which is why no verdict is trusted.
    """
    verdict = result.verdict
    blocking = verdict.mode == "blocking" and verdict.state in ("passed", "failed")
    if blocking and (verdict.exit_code == 0) != (verdict.state == "passed"):
        raise PoisonedError(f"its verdict is {verdict.state} with exit code {verdict.exit_code}")
    is_accepted = (verdict.state, verdict.reason, verdict.exit_code) == ("passed", "accepted", 0)
    if is_accepted != (verdict.accepted_by is not None) or is_accepted != (verdict.reason == "accepted"):
        raise PoisonedError("it claims to be accepted, and does not say so throughout")
    if verdict.reason in ("no_regression", "nothing_to_do") and any(row.state == "regressed" for row in result.rows):
        raise PoisonedError(f"its verdict is {verdict.reason}, and it has rows that regressed")
    keys = [row.key for row in result.rows]
    if len(set(keys)) != len(keys):
        raise PoisonedError("it has a row twice")


def _disarmed(result: Result) -> Result:
    """Return the result without its comment template and without the commands that a reader would try."""
    return result.model_copy(
        update={"comment_template": None, "rows": tuple(_without_command(row) for row in result.rows)}
    )


def _without_command(row: Row) -> Row:
    if row.evidence is None:
        return row
    return row.model_copy(update={"evidence": row.evidence.model_copy(update={"reproduce": ""})})
