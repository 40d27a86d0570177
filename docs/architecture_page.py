"""The generated list in CONTRIBUTING.md: one line per folder and module, in the order of the import layers."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/tidegate"
START, END = "<!-- folders: written by `make docs` -->\n", "<!-- end of folders -->\n"


def architecture() -> str:
    """Return the page with its list of folders made from `__init__.py` docstrings and pyproject.toml's layers."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{_folders()}\n{END}{after}"


def _folders() -> str:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip("() ") for layer in layers for name in layer.split("|")]
    return "| place | what it does |\n|---|---|\n" + "".join(
        f"| `{where}` | {purpose} |\n" for name in names for where, purpose in _entries(name)
    )


def _entries(name: str) -> list[tuple[str, str]]:
    """Return a module's line, or a package's line followed by those of its sub-packages."""
    module = SOURCE / f"{name}.py"
    if module.exists():
        return [(module.name, _purpose(module))]
    packages = sorted((SOURCE / name).rglob("__init__.py"))
    return [(f"{package.parent.relative_to(SOURCE)}/", _purpose(package)) for package in packages]


def _purpose(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())
