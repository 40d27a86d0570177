"""The generated table of mutant kinds in docs/prove.md."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.proof import KINDS

PAGE = Path(__file__).parent / "prove.md"
START, END = "<!-- mutants: written by `make docs` -->\n", "<!-- end of mutants -->\n"


def prove_page() -> str:
    """Return docs/prove.md with the table of all kinds."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    rows = "".join(f"| `{kind}` | {words} |\n" for kind, words in KINDS.items())
    return f"{before}{START}\n| kind | what differs |\n|---|---|\n{rows}\n{END}{after}"
