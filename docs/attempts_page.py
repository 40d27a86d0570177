"""The generated tables in docs/security.md: the attempts to hide a broken tool that the tests make, and their ends.

They are read from the tests' source: calls of `Attempt(…)` in tests/thorough/attempts, and of `pytest.mark.attempt(…)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
START, END = "<!-- attempts: written by `make docs` from the tests -->\n", "<!-- end of attempts -->\n"
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


def attempts() -> str:
    """Return docs/security.md with its tables made from the tests."""
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    rows = list(_rows())
    unseen = [row for row in rows if row.why]
    honest = [row for row in rows if row.code == 0 and not row.why]
    tables = [
        "### Stopped\n\n" + _table([row for row in rows if row.code]),
        "### Not stopped\n\nRead these changes in a review: each of them is a visible part of the pull request.\n\n"
        + _open_table(unseen),
        "### Honest pull requests\n\nThese must not be blocked.\n\n" + _table(honest),
    ]
    kinds = len({row.why for row in unseen})
    count = f"{len(rows) - len(honest)} attempts, of which {len(unseen)}, of {kinds} kinds, are not stopped."
    return f"{before}{START}\n{count}\n\n" + "\n".join(tables) + f"\n{END}{after}"


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
