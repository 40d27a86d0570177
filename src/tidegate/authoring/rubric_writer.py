"""Inserts rubrics into the text of an eval file, and keeps its comments and layout."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from tidegate.rubrics.drafting import Drafted

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader that yaml_reader.py uses


def with_rubrics(text: str, drafts: Mapping[int, Iterable[Drafted]]) -> str:
    """Return the file's text with `rubrics` added to these cases. The keys of `drafts` are indexes in `evalcases`.

    Raises ValueError if a case is written in braces or has a single key, or if the result would not load as the
    old content plus the rubrics.
    """
    cases = _cases(text)
    lines = text.splitlines(keepends=True)
    for number in sorted(drafts, reverse=True):  # from the end, so that line numbers above stay valid
        line, column = _place(cases[number], number, lines)
        lines[line:line] = _written(drafts[number], column)
    new = "".join(lines)
    try:
        before, after = (yaml.load(version, Loader=_LOADER) for version in (text, new))
    except yaml.YAMLError as error:
        raise ValueError(f"a draft holds what YAML cannot ({error.__class__.__name__})") from None
    for number in drafts:
        after["evalcases"][number].pop("rubrics")
    if before != after:
        raise ValueError("the file's layout is too unusual to be kept")
    return new


def _cases(text: str) -> list[yaml.MappingNode]:
    root = yaml.compose(text, Loader=_LOADER)
    assert isinstance(root, yaml.MappingNode)
    for key, value in root.value:
        if key.value == "evalcases" and isinstance(value, yaml.SequenceNode):
            return [case for case in value.value if isinstance(case, yaml.MappingNode)]
    return []


def _place(case: yaml.MappingNode, number: int, lines: list[str]) -> tuple[int, int]:
    """Return the line to insert before, and the column.

    The rubrics go behind the expected outcome: above the next key and the comments that belong to it.
    """
    keys = [key for key, _ in case.value]
    if case.flow_style or len(keys) < 2:
        raise ValueError(f"evalcases[{number}] is written in braces, or has a single key: write it as lines")
    names = [key.value for key in keys]
    told = next((names.index(name) for name in ("expected_outcome", "outcome") if name in names), 0)
    key = keys[told + 1] if told + 1 < len(keys) else keys[told]
    line, column = key.start_mark.line, key.start_mark.column
    while line and lines[line - 1].strip().startswith("#") and _indent(lines[line - 1]) == column:
        line -= 1
    return line, column


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _written(drafted: Iterable[Drafted], column: int) -> list[str]:
    lines = ["rubrics:"]
    for one in drafted:
        lines += [
            f"  - id: {one.id}" if not one.id.isdigit() else f"  - id: {json.dumps(one.id)}",
            f"    description: {json.dumps(one.description, ensure_ascii=False)}",
            f"    weight: {one.weight}",
            f"    required: {str(one.required).lower()}",
        ]
    return [f"{' ' * column}{line}\n" for line in lines]
