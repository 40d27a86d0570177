from __future__ import annotations

import json

from tests.conftest import result_schema
from tidegate.model.result import Result
from tidegate.reports.result_json import result_json


def test_every_result_is_valid_by_its_own_schema(story: tuple[str, Result]) -> None:
    _, result = story
    result_schema().validate(json.loads(result_json(result)))


def test_the_schema_refuses_what_is_no_result() -> None:
    assert not result_schema().is_valid({"schema_version": 2})


def test_what_is_read_back_is_what_was_written(story: tuple[str, Result]) -> None:
    _, result = story
    text = result_json(result)
    assert Result.model_validate_json(text) == result
    assert result_json(Result.model_validate_json(text)) == text


def test_the_text_is_indented_and_ends_with_a_newline(story: tuple[str, Result]) -> None:
    _, result = story
    lines = result_json(result).split("\n")
    assert lines[1] == '  "schema_version": 1,'
    assert lines[-2:] == ["}", ""]
