"""CONTRIBUTING.md and docs/verdict.md describe the code that is there."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from tidegate.model.suite import RowState

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src/tidegate"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Architecture")[2].partition("\n## ")[0]
VERDICT = (ROOT / "docs/verdict.md").read_text(encoding="utf-8")
WALKING = PAGE.partition("### Four walks")[2].partition("\n### ")[0]
WALKS = dict(re.findall(r"^\*\*(.+?)\*\*:? (.+(?:\n(?!\n).+)*)", WALKING, re.M))


def test_every_file_that_the_page_names_is_there() -> None:
    named = [name for name in re.findall(r"`([a-z_/]+\.py)", PAGE) if "/" in name]

    assert len(named) >= 10
    assert [name for name in named if not (SOURCE / name).exists()] == []


def test_the_top_of_the_package_holds_at_most_seven_modules() -> None:
    assert len([path for path in SOURCE.glob("*.py") if path.name != "__init__.py"]) <= 7


def test_files_stay_below_500_lines_and_functions_below_40() -> None:
    files = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}

    assert [name for name, text in files.items() if text.count("\n") > 500] == []
    assert [where for name, text in files.items() for where in _long_functions(name, text)] == []


def _long_functions(name: str, text: str) -> list[str]:
    return [
        f"{name}:{node.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 40
    ]


def test_there_are_four_walks() -> None:
    assert len(WALKS) == 4


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_names_functions_that_are_there_and_never_goes_back_up(name: str) -> None:
    steps = re.findall(r"`([a-z_/]+\.py):([A-Za-z_.]+)`", WALKS[name])

    assert len(steps) >= 4
    assert [f"{file}:{where}" for file, where in steps if where.split(".")[-1] not in defined(file)] == []
    places = [_layer(file) for file, _ in steps]
    assert all(above <= below for above, below in pairwise(places)), list(zip(steps, places, strict=True))


@cache
def defined(file: str) -> set[str]:
    """Return the names of all functions and classes of a module, methods included."""
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@cache
def _layers() -> dict[str, int]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name.strip("() "): place for place, layer in enumerate(layers) for name in layer.split("|")}


def _layer(file: str) -> int:
    return _layers()[file.split("/")[0].removesuffix(".py")]


def test_the_page_on_verdicts_has_every_state_of_a_row() -> None:
    first = re.findall(r"^\| ([a-z, ]+) \|", VERDICT.partition("## States of a row")[2], re.M)
    states = {name.replace(" ", "_") for names in first for name in names.split(", ")} - {"state"}

    assert states == set(get_args(RowState))


@pytest.mark.parametrize("word", ["suspicious", "loosened", "base_moved", "relay", "Desk", "bench", "Surroundings"])
def test_words_that_the_glossary_replaced_are_gone_from_the_code(word: str) -> None:
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "templates").rglob("*.j2"), *(ROOT / "docs").glob("*.md")]

    assert [path.name for path in texts if re.search(rf"\b{word}\b", path.read_text(encoding="utf-8"))] == []
