"""The attempts to hide a broken tool: docs/attempts.md; those that are not stopped also in docs/security.md.

They are read from the tests' source: calls of `Attempt(…)` in tests/thorough/attempts, and of `pytest.mark.attempt(…)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
START, END = "<!-- attempts: written by `make docs` from the tests -->\n", "<!-- end of attempts -->\n"
INTRODUCTION = """# Attempts

<!-- Written by `make docs` from the tests. -->

Each row is a test on real processes: a pull request breaks the tool, and tries to end green. {count} attempts, of which
{unseen}, of {kinds} kinds, [are not stopped](security.md#attempts-that-are-not-stopped).

## Stopped

{stopped}
## Honest pull requests

These must not be blocked.

{honest}"""
UNSEEN = "no_regression"
ENDS = {
    "regression": "failed: regressed",
    "setup_regression": "failed: regressed: no trial can start",
    "nothing_passes": "inconclusive: nothing passes",
    "unproven": "inconclusive: it is unknown whether head is worse",
    "infrastructure": "not run: nothing could be measured",
    UNSEEN: "passed",
}


class _Row(NamedTuple):
    does: str
    ends: str
    code: int
    why: str = ""  # it is not stopped


def security() -> str:
    """Return docs/security.md with its table of the attempts that are not stopped."""
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{_open_table([row for row in _rows() if row.why])}\n{END}{after}"


def attempts() -> str:
    """Return docs/attempts.md: all other attempts, and honest pull requests."""
    rows = list(_rows())
    unseen = [row for row in rows if row.why]
    honest = [row for row in rows if row.code == 0 and not row.why]
    return INTRODUCTION.format(
        count=len(rows) - len(honest),
        unseen=len(unseen),
        kinds=len({row.why for row in unseen}),
        stopped=_table([row for row in rows if row.code]),
        honest=_table(honest),
    )


def _table(rows: list[_Row]) -> str:
    lines = (f"| {row.does} | {_end(row)} | {row.code} |\n".replace("\\|", "|") for row in rows)
    return "| the pull request … | what happens | exit code |\n|---|---|---|\n" + "".join(lines)


def _open_table(rows: list[_Row]) -> str:
    kinds = dict.fromkeys(row.why for row in rows)
    lines = (f"| {'; '.join(row.does for row in rows if row.why == why)} | {why} |\n" for why in kinds)
    return "| the pull request … | why it is not stopped |\n|---|---|\n" + "".join(lines)


def _end(row: _Row) -> str:
    said = f"refused: “{row.ends}”" if row.code == 2 and not row.ends.startswith("refused") else row.ends
    return ENDS.get(row.ends, said)


def _rows() -> Iterator[_Row]:
    for file in sorted((ROOT / "tests").rglob("*.py"), key=lambda file: (file.parent.name != "attempts", file)):
        text = file.read_text(encoding="utf-8")
        if "mark.attempt(" in text or (file.name.startswith("by_") and "Attempt(" in text):
            yield from _rows_of(ast.parse(text))


def _rows_of(module: ast.Module) -> Iterator[_Row]:
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Name(id="Attempt") | ast.Attribute(attr="attempt"), args=args, keywords=keywords):
                values = [ast.literal_eval(arg) for arg in args]
                why = next((ast.literal_eval(word.value) for word in keywords if word.arg == "why"), "")
                row = _Row(values[0], values[1], values[2] if len(values) > 2 else 1, why)
                table = next((ast.literal_eval(word.value) for word in keywords if word.arg == "each_of"), None)
                names = [None] if table is None else _keys(module, table)
                yield from (row if name is None else row._replace(does=f"{row.does}: {name}") for name in names)
            case _:
                pass


def _keys(module: ast.Module, name: str) -> list[str | None]:
    """Return the keys of the module's dictionary of this name."""
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            assert isinstance(node.value, ast.Dict)
            return [ast.literal_eval(key) for key in node.value.keys if key is not None]
    raise LookupError(name)
