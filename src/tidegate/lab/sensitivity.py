"""A table of what a suite can detect: by row, by size of the drop, and by number of screening trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidegate.decide.procedure.detection import DROPS, Screening, detection

NAME = 37  # columns of a row's name; the table has 80
CHOICES = (1, 3, 5, 10)  # screening trials that are compared


def sensitivity(rows: Mapping[str, Screening], alpha: float) -> str:
    """Return the table. Each number is the share of pull requests in which the drop of one row is found, in percent."""
    lines = ["if one row drops by so many points, the share of pull requests that are blocked", ""]
    lines.append(_line("row", "base", "history", *(f"-{100 * drop:.0f}" for drop in DROPS)))
    lines += [_line(name, f"{row.rate:.0%}", str(row.history), *_shares([row], alpha)) for name, row in rows.items()]
    return "\n".join([*lines, "", *_choices(list(rows.values()), alpha)])


def _choices(rows: Sequence[Screening], alpha: float) -> Iterator[str]:
    """Yield a line for each number of screening trials, as a mean over the rows."""
    yield "all rows, by number of screening trials (trials.min)"
    yield _line("as configured", "", "", *_shares(rows, alpha))
    for trials in CHOICES:
        other = [row._replace(trials=trials) for row in rows]
        yield _line(f"{trials} trial{'' if trials == 1 else 's'}", "", "", *_shares(other, alpha))


def _shares(rows: Sequence[Screening], alpha: float) -> list[str]:
    return [f"{share:.0%}" for share in detection([], [], alpha, rows).values()]


def _line(name: str, rate: str, history: str, *shares: str) -> str:
    shown = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
    return f"{shown:<{NAME}}{rate:>6}{history:>9}" + "".join(
        f"{share:>{width}}" for share, width in zip(shares, (6, 5, 5, 5, 6), strict=True)
    )
