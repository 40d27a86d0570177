"""The family of gates as scenario files name them."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from tidegate.gates import AnyGate
from tidegate.model.gate import Gate

MEMBERS: tuple[type[Gate], ...] = get_args(get_args(AnyGate)[0])
GATES: TypeAdapter[Gate] = TypeAdapter(AnyGate)


def test_the_nine_gates_are_there() -> None:
    assert [member.model_fields["type"].default for member in MEMBERS] == [
        "command_succeeds",
        "command_output_contains",
        "command_output_matches",
        "command_json_path",
        "file_exists",
        "file_contains",
        "file_matches",
        "no_transcript_errors",
        "script",
    ]


def test_type_chooses_the_gate() -> None:
    gate = GATES.validate_python({"type": "file_exists", "path": "a", "required": False})
    assert (type(gate).__name__, gate.subject, gate.required) == ("FileExists", "a", False)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="'command_succeeds', 'command_output_contains'"):
        GATES.validate_python({"type": "min_notes", "count": 3})


@pytest.mark.parametrize("member", MEMBERS)
def test_every_gate_documents_itself(member: type[Gate]) -> None:
    assert (member.__doc__ or "").startswith("Passes ")
