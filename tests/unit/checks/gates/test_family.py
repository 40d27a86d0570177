"""The family of gates as scenario files name them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from tidegate.checks import gates
from tidegate.checks.gates import GATES, AnyGate
from tidegate.model.gate import Gate

GATE: TypeAdapter[Gate] = TypeAdapter(AnyGate)


def test_every_gate_of_the_folder_is_in_the_list() -> None:
    modules = [import_module(f"tidegate.checks.gates.{module.name}") for module in iter_modules(gates.__path__)]
    written = {one for module in modules for one in vars(module).values() if isinstance(one, type) and _is_gate(one)}
    assert written == {*GATES.members.values()}


def _is_gate(one: type) -> bool:
    return issubclass(one, Gate) and isinstance(one.model_fields["type"].default, str)


def test_type_chooses_the_gate() -> None:
    gate = GATE.validate_python({"type": "file_exists", "path": "a", "required": False})
    assert (type(gate).__name__, gate.subject, gate.required) == ("FileExists", "a", False)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="'command_succeeds', 'command_exits'"):
        GATE.validate_python({"type": "min_notes", "count": 3})


@pytest.mark.parametrize("member", GATES.members.values())
def test_every_gate_documents_itself(member: type[BaseModel]) -> None:
    assert (member.__doc__ or "").startswith("Passes ")
