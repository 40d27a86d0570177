"""A family of values that are selected by `type`. A member's module is imported when its `type` is first used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Union

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema, to_json

from tidegate.model.value import Value


class Family:
    """The members by `type`, each as `module:Class`. In `Annotated[Base, Family(...)]`, a type for fields of models.

    Values, errors and JSON Schema are those of a union of all members with the discriminator `type`.
    """

    def __init__(self, members: Mapping[str, str]) -> None:
        self._places = members

    @property
    def members(self) -> dict[str, type[Value]]:
        """All members by `type`. Imports every module."""
        return {kind: self._member(kind) for kind in self._places}

    def _member(self, kind: str) -> type[Value]:
        module, _, name = self._places[kind].partition(":")
        found: type[Value] = getattr(import_module(module), name)
        return found

    def _read(self, kind: str, given: Any, info: ValidationInfo) -> Value:
        member = self._member(kind)
        if info.mode == "python":
            return member.model_validate(given, context=info.context)
        # pydantic does not tell whether the reader of JSON is strict; what Tidegate itself wrote can be read strictly.
        return member.model_validate_json(to_json(given), strict=True, context=info.context)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a union whose members are looked up when a value is validated."""
        choices: dict[Any, CoreSchema] = {
            kind: core_schema.with_info_plain_validator_function(partial(self._read, kind)) for kind in self._places
        }
        return core_schema.tagged_union_schema(choices, discriminator="type")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of the union of all members."""
        union: Any = Union[tuple(self.members.values())]  # noqa: UP007  (not known before)
        return handler(TypeAdapter(Annotated[union, Field(discriminator="type")]).core_schema)
