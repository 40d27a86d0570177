from __future__ import annotations

import pytest

from tidegate.text.name_expression import name_expression

NAMES = ("add_task × docs", "add_task × claude", "list_tasks × docs")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("add", [0, 1]),
        ("ADD", [0, 1]),
        ("not add", [2]),
        ("add and docs", [0]),
        ("add and not docs", [1]),
        ("claude or list", [1, 2]),
        ("not (claude or list)", [0]),
        ("add and docs or list", [0, 2]),
        ("add and (docs or list)", [0]),
        ("not not add", [0, 1]),
        ("android", []),
        ("ask", [0, 1, 2]),
    ],
)
def test_an_expression_selects_names(expression: str, expected: list[int]) -> None:
    matches = name_expression(expression)
    assert [place for place, name in enumerate(NAMES) if matches(name)] == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "a part of a name is missing at character 1"),
        ("add and", "a part of a name is missing at character 8"),
        ("or add", "a part of a name is missing at character 1"),
        ("(add", r"`\)` is missing at character 5"),
        ("add)", r"unexpected `\)` at character 4"),
        ("add list", "unexpected `list` at character 5"),
    ],
)
def test_an_invalid_expression_says_where(expression: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        name_expression(expression)
