"""What a pull request changes in what a tool offers, in words: for the comment, the page, `pr` and `prove`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tidegate.model.surface import Impact, Interface, InterfaceChange
from tidegate.reports.filters import count, to
from tidegate.text.shorten import few

_TITLES: dict[Impact, str] = {"breaking": "Breaking", "additive": "Additive", "text": "Text that only a model reads"}


def headlines(one: Interface) -> Iterator[str]:
    """Yield what a reader has to know first: breaking changes, a list of tools that grew, or why nothing is known."""
    if one.why:
        yield f"`{one.tool}`: its interface was not compared ({one.why})"
    if one.breaking:
        said = [f"{change.part}: {change.detail}" for change in one.breaking]
        yield f"`{one.tool}`: {count(len(said), 'breaking change')} in its interface: {few(said)}"
    if one.grew or one.limit:
        limit = f"; the policy allows {one.limit}" if one.limit else ""
        yield f"`{one.tool}`: its list of tools takes about {_tokens(*one.total)} tokens (estimated){limit}"


def change_text(change: InterfaceChange) -> str:
    """Return one line on a difference."""
    users = f"; used by {few([f'`{name}`' for name in change.scenarios])}" if change.scenarios else ""
    return f"{change.part}: {change.detail}{users}" + (f"; still named in {few(change.docs)}" if change.docs else "")


def sections(one: Interface) -> Iterator[tuple[str, list[str]]]:
    """Yield a title and lines for each kind of change, and for the tools whose tokens differ, largest change first."""
    for impact, title in _TITLES.items():
        if lines := [change_text(change) for change in one.changes if change.impact == impact]:
            yield title, lines
    changed = [(name, base, head) for name, (base, head) in one.tokens.items() if base != head]
    changed.sort(key=lambda found: -abs((found[2] or 0) - (found[1] or 0)))
    if changed:
        yield "Tokens, estimated from bytes", [f"`{name}`: {_tokens(*sides)}" for name, *sides in changed]


def counts_text(one: Interface) -> str:
    """Return `2 breaking, 1 additive; about 1,060 → 10,003 tokens`."""
    found = Counter(change.impact for change in one.changes)
    said = [", ".join(f"{found[impact]:,} {impact}" for impact in _TITLES if found[impact])]
    said += [f"about {_tokens(*one.total)} tokens"] if one.tokens else []
    return "; ".join(filter(None, said))


def _tokens(base: int | None, head: int | None) -> str:
    return to(*("–" if tokens is None else f"{tokens:,}" for tokens in (base, head)))
