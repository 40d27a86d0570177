"""What replayed sessions show, as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tidegate.model.plan import RowKey
from tidegate.model.run_row import LeftOut, RowReplay
from tidegate.text.safe import printable


def replay_text(rows: Sequence[RowReplay], without: Sequence[RowKey], base: str) -> str:
    """Return one block per row, and a summary. `without`: rows that have no recorded session."""
    return "".join(f"{line}\n" for line in _lines(rows, without, base))


def _lines(rows: Sequence[RowReplay], without: Sequence[RowKey], base: str) -> Iterator[str]:
    for row in rows:
        yield from _row(row)
    yield from (f"–  {key}: no recorded session" for key in without)
    same, differing = sum(row.same for row in rows), sum(row.differing for row in rows)
    yield f"{same} of {same + differing} sessions of base ({base[:12]}) show an agent the same here"


def _row(row: RowReplay) -> Iterator[str]:
    counted = row.same + row.differing
    sign = "❌" if row.differing else "✅" if row.same else "–"
    unseen = f"; chance that a new session does something new: {row.unseen:.0%}" if row.same else ""
    yield f"{sign} {row.key}: {row.same} of {counted} sessions show the same ({row.steps} steps){unseen}"
    if row.difference is not None:
        yield printable(f"     first difference: {row.difference.step}")
        yield printable(f"       base: {row.difference.base}")
        yield printable(f"       here: {row.difference.head}")
    for why, count in Counter(row.unusable).items():
        yield printable(f"     {count} not counted: {left_out_text(why)}")


def left_out_text(why: LeftOut) -> str:
    """Return why a recorded session does not count."""
    match why.code:
        case "not_replayed":
            return f"it was not replayed ({why.detail})"
        case "lost":
            return f"it does not replay on base ({why.detail})"
        case "guidance":
            return "base's guidance has changed since it was recorded"
        case "tools":
            return "the server's tools are described in another way than when it was recorded"
        case "unsteady":
            return f"two replays on base differ{f': `{why.detail}`' if why.detail else ''}"
        case "unlike_recorded":
            return f"base shows something else than when it was recorded: `{why.detail}`"
