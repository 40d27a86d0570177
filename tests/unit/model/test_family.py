"""A family reads as a union of its members does, and imports a member when its `type` is first used."""

from __future__ import annotations

import json
from typing import Annotated, Any, Union, get_args

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from tidegate.agents import AGENTS, AnyAgent
from tidegate.agents.providers import PROVIDERS
from tidegate.checks.judges import JUDGES
from tidegate.executors import EXECUTORS
from tidegate.model.value import Family

UNION: Any = Union[tuple(AGENTS.members.values())]  # noqa: UP007  (not known before)
AS_UNION: TypeAdapter[Any] = TypeAdapter(dict[str, Annotated[UNION, Field(discriminator="type")]])
AS_FAMILY: TypeAdapter[Any] = TypeAdapter(dict[str, AnyAgent])
CODEX = {"type": "codex", "model": "m"}


@pytest.mark.parametrize("family", [AGENTS, EXECUTORS, JUDGES, PROVIDERS])
def test_each_member_has_the_type_that_selects_it(family: Family) -> None:
    found = {kind: get_args(member.model_fields["type"].annotation) for kind, member in family.members.items()}
    assert found == {kind: (kind,) for kind in family.members}


@pytest.mark.parametrize(
    "given",
    [
        {"model": "m"},
        {"type": "codecs"},
        {"type": 3},
        "codex",
        CODEX | {"speed": 1},
        CODEX | {"timeout_secs": -1, "args": "x"},
        CODEX | {"provider": {"type": "bedrock"}},
        CODEX | {"provider": {"type": "azure", "endpoint": 1}},
        CODEX | {"provider": {"type": "nowhere"}},
        {"type": "scripted", "steps": {"a": [{"run": "x", "probability": 2}]}},
    ],
)
def test_errors_and_their_places_are_those_of_a_union(given: object) -> None:
    with pytest.raises(ValidationError) as of_union:
        AS_UNION.validate_python({"a": given})
    with pytest.raises(ValidationError) as of_family:
        AS_FAMILY.validate_python({"a": given})
    assert of_family.value.errors() == of_union.value.errors()


@pytest.mark.parametrize("given", [{"timeout_secs": "30"}, {"args": "x"}, {"env": {"A": 1}}, {"version": 3}])
def test_a_file_s_values_are_not_converted(given: dict[str, Any]) -> None:
    text = json.dumps({"a": CODEX | given})
    with pytest.raises(ValidationError) as of_union:
        AS_UNION.validate_json(text, strict=True)
    with pytest.raises(ValidationError) as of_family:
        AS_FAMILY.validate_json(text, strict=True)
    assert of_family.value.errors() == of_union.value.errors()


def test_values_are_stored_and_read_as_those_of_a_union() -> None:
    given = {"a": CODEX | {"provider": {"type": "azure", "resource": "x"}}, "b": CODEX}
    agents = AS_FAMILY.validate_python(given)
    assert agents == AS_UNION.validate_python(given)
    stored = AS_FAMILY.dump_json(agents)
    assert (stored, AS_FAMILY.validate_json(stored)) == (AS_UNION.dump_json(agents), agents)
    assert AS_FAMILY.validate_python(agents)["a"] is agents["a"]


def test_its_schema_is_that_of_a_union() -> None:
    assert AS_FAMILY.json_schema() == AS_UNION.json_schema()
