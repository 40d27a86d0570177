"""The runner's files: reads the event payload, writes step outputs and the step summary."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import ConfigurationError
from tidegate.text.redaction import masked_secrets

if TYPE_CHECKING:
    from tidegate.model.result import Result

MAX_SUMMARY_BYTES = 1024 * 1024  # per step; the runner drops a larger summary entirely
OUTPUTS = (  # of action.yml, in its order
    *("verdict", "reason", "regressions", "improvements", "unconfirmed", "not_measured", "cost_usd", "matrix"),
    *("result_path", "report_path", "comment_url"),
)
_LEFT_OUT = "\n{} of {} parts left out: the summary of a step may have 1 MiB.\n"
_ROOM_FOR_NOTE = 100


def read_payload(path: Path) -> dict[str, Any]:
    """Return the event's payload. Raises ConfigurationError if the file cannot be read."""
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"the event's payload {path} cannot be read: {error}", "The runner names it in GITHUB_EVENT_PATH."
        ) from None
    return payload if isinstance(payload, dict) else {}


def no_outputs(reason: str) -> dict[str, str]:
    """Return the outputs of a job that compared nothing, for this reason."""
    return {**dict.fromkeys(OUTPUTS, ""), "verdict": "not_run", "reason": reason}


def outputs(result: Result, paths: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the outputs of action.yml. A value that does not exist is '', never 0; `comment_url` is set later.

    `paths` holds `result_path` and `report_path`, relative to the workspace.
    """
    states = Counter(row.state for row in result.rows)
    return {
        **dict.fromkeys(OUTPUTS, ""),
        "verdict": result.verdict.state,
        "reason": result.verdict.reason,
        "regressions": str(states["regressed"]),
        "improvements": str(states["improved"]),
        "unconfirmed": str(states["unconfirmed"]),
        "not_measured": str(states["not_measured"]),
        "cost_usd": "" if result.cost.usd is None else f"{result.cost.usd:.4f}",
        **(paths or {}),
    }


def write_outputs(path: Path, values: Mapping[str, str], token: Callable[[], str] = secrets.token_hex) -> None:
    """Append the outputs to the file of GITHUB_OUTPUT. A random delimiter keeps values from adding other outputs."""
    _append(path, "".join(_block(name, value, token) for name, value in values.items()))


def append_summary(path: Path, parts: Sequence[str]) -> int:
    """Append parts of Markdown to the file of GITHUB_STEP_SUMMARY, and return the number of parts that fit.

    `parts` are in order of importance. A part is written whole or not at all.
    """
    parts = [masked_secrets(part) for part in parts]
    room = MAX_SUMMARY_BYTES - 1 - (path.stat().st_size if path.exists() else 0)
    sizes = list(accumulate(len(part.encode()) + 1 for part in parts))
    if sizes and sizes[-1] > room:
        room -= _ROOM_FOR_NOTE
    fitting = sum(size <= room for size in sizes)
    text = "".join(f"{part}\n" for part in parts[:fitting])
    if fitting < len(parts):
        text += _LEFT_OUT.format(len(parts) - fitting, len(parts))
    _append(path, text)
    return fitting


def _block(name: str, value: str, token: Callable[[], str]) -> str:
    delimiter = f"tidegate_{token()}"
    if delimiter in value:
        raise ValueError(f"the output `{name}` has the delimiter in it")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)
