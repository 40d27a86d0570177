"""The schema for editors agrees with what is loaded."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from tidegate.suite.document import parse
from tidegate.suite.json_schema import file_schema, known_keys

SUITE = {"version": 1, "scenarios": ["s.yaml"]}
SCENARIO = {"name": "n", "description": "d", "task": "t"}


def valid(kind: str, content: object) -> bool:
    return bool(jsonschema.Draft202012Validator(file_schema(kind)).is_valid(content))


@pytest.mark.parametrize("kind", ["suite", "scenario"])
def test_the_schema_is_one(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(file_schema(kind))


def test_an_editor_accepts_what_loads_and_marks_what_does_not() -> None:
    agents = {"a": {"type": "command", "command": "x", "models": ["m"]}}
    assert valid("suite", {**SUITE, "agents": agents})
    assert valid("scenario", {**SCENARIO, "target": "from_config", "gates": [{"type": "no_transcript_errors"}]})
    assert valid("scenario", {**SCENARIO, "target": {"binary": "b"}, "task": {"prompt": "p"}})

    assert not valid("suite", {**SUITE, "scenarois": []})
    assert not valid("suite", {**SUITE, "version": 2})
    assert not valid("scenario", {**SCENARIO, "gates": [{"type": "file_exists"}]})
    assert not valid("scenario", {**SCENARIO, "target": "form_config"})


@pytest.mark.parametrize(
    ("kind", "text", "path", "known"),
    [
        ("scenario", "setup: {}", ("setup",), {"commands"}),
        ("scenario", "task: {}", ("task",), {"prompt", "max_turns"}),
        ("suite", "agents: {a: {type: command}}", ("agents", "a"), {"command", "models", "output"}),
        ("suite", "agents: {a: {type: nothing}}", ("agents", "a"), set()),
        ("scenario", "gates: [{type: file_exists}]", ("gates", 0), {"path", "required"}),
        ("scenario", "tags: [x]", ("tags", 0), set()),
    ],
)
def test_the_keys_that_a_place_may_have(kind: str, text: str, path: tuple[str | int, ...], known: set[str]) -> None:
    assert yaml.safe_load(text)
    found = set(known_keys(kind, parse(text, "f").root, path))

    assert known <= found
    assert bool(found) == bool(known)
