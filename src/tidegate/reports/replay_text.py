"""What replayed sessions show, as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tidegate.model.plan import RowKey
from tidegate.model.run_row import LEAST, LeftOut, ReplayFinding
from tidegate.text.safe import printable


def replay_text(rows: Sequence[ReplayFinding], without: Sequence[RowKey], base: str) -> str:
    """Return one block per row, and a summary. `without`: rows that have no recorded session."""
    return "".join(f"{line}\n" for line in _lines(rows, without, base))


def _lines(rows: Sequence[ReplayFinding], without: Sequence[RowKey], base: str) -> Iterator[str]:
    for row in rows:
        yield from _row(row)
    yield from (f"–  {key}: no recorded session" for key in without)
    same, differing = sum(row.same for row in rows), sum(row.differing for row in rows)
    yield f"{same} of {same + differing} sessions of base ({base[:12]}) show an agent the same here"


def _row(row: ReplayFinding) -> Iterator[str]:
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


def why_run_text(row: ReplayFinding) -> str:
    """Return why agents are run for the row; '' if they are not."""
    if row.run is None:
        return ""
    return _WHY_RUN[row.run.code](row, row.run.detail)


def _unseen(row: ReplayFinding, _: str) -> str:
    changed = f"; the pull request changes {row.surface[0]}, which no session shows" if row.surface else ""
    return f"a new session does something new with a chance of {row.unseen:.0%}{changed}"


_WHY_RUN: dict[str, Callable[[ReplayFinding, str], str]] = {
    "differs": lambda row, step: f"differs at `{step}`",
    "unsteady": lambda row, _: "sessions of base do not replay alike on base: chance has a part in the tool",
    "few": lambda row, _: f"{row.same} of {LEAST} sessions replay alike",
    "none_passed": lambda row, _: "none of the sessions that replay alike passed",
    "earlier_push": lambda row, state: f"an earlier push of the pull request was {state}",
    "earlier_failure": lambda row, _: "an earlier run of the pull request had a failure on head",
    "agents_began": lambda row, _: "an earlier run of the same test began with agents",
    "agent_changed": lambda row, _: "the pull request changed the agent's program",
    "prompt_changed": lambda row, _: "the pull request changed a file of the prompt",
    "unseen": _unseen,
    "use": lambda row, use: f"`policy.replay.use` is `{use}`",
    "spot_check": lambda row, _: "chosen at random for a spot check",
}
