"""The parts of an MCP server: its tools with their schemas, resources, prompts, instructions and capabilities. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import combinations, islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from tidegate.model.surface import Part, PartKind

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_READ = re.compile(  # keywords that are compared one by one, or do not restrict a value; every other one is a limit
    r"(?:type|enum|const|properties|required|items|additionalProperties|allOf|anyOf|oneOf|\$ref|\$defs|definitions"
    r"|default|title|description|examples?|deprecated|\$schema|\$id|\$anchor|\$comment)$|x-"
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_REFERS = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)": "')
_NO_LIMIT = {"minLength": 0, "minItems": 0, "minProperties": 0, "uniqueItems": False}
_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_OF_PYTHON = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array"}
_OBJECT: Mapping[str, Any] = {}
MOST_SCHEMAS = 3_000  # that are read of one tool: references can multiply them without end
MOST_DEEP = 12
MOST_PARTS = 500  # of one tool
UNREAD = "…"  # the name of the part that stands for a schema which is not read whole


class _Shape(NamedTuple):
    """What a schema allows, whichever way it is written. `choices`: as JSON; none: any value."""

    types: frozenset[str] = _TYPES
    choices: tuple[str, ...] = ()
    limits: Mapping[str, str] = _OBJECT
    fields: Mapping[str, Any] = _OBJECT
    required: frozenset[str] = frozenset()
    items: Any = None
    others: Any = None

    @property
    def inside(self) -> tuple[object, ...]:
        """What its value holds."""
        return self.fields, self.required, self.items, self.others


_ANY = _Shape()
_NONE = _Shape(types=frozenset())
_WAYS = ("a call without a task", "a call with a task")
_CALLED = {"optional": _WAYS, "required": _WAYS[1:]}  # by a tool's `taskSupport`


def of_server(offered: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of all that a server offers, as `McpClient.interface` returns it."""
    parts = [part for tool in _objects(offered.get("tools")) for part in _of_tool(tool)]
    for key, kind, name in (("resources", "resource", "uri"), ("resourceTemplates", "template", "uriTemplate")):
        for one in _objects(offered.get(key)):
            types = (one["mimeType"],) if isinstance(one.get("mimeType"), str) else ()
            parts.append(_named(kind, one, name).model_copy(update={"types": types}))
    for one in _objects(offered.get("prompts")):
        prompt = _named("prompt", one, "name")
        parts.append(prompt)
        for given in _objects(one.get("arguments")):
            more = {"command": prompt.name, "required": bool(given.get("required"))}
            parts.append(_named("prompt_argument", given, "name").model_copy(update=more))
    if offered.get("instructions"):
        parts.append(Part(kind="instructions", name="instructions", text=str(offered["instructions"])))
    found: dict[tuple[str, str, str], Part] = {}
    for part in (*parts, *_capabilities(offered.get("capabilities"))):
        known = found.setdefault(part.id, part)
        if known != part:  # clients may read either
            found[part.id] = known.model_copy(update={"limits": {**known.limits, "listed twice": "true"}})
    return tuple(found.values())


def _named(kind: Any, given: Mapping[str, Any], name: str) -> Part:
    texts = [given.get(key) for key in ("name", "title", "description") if key != name]
    return Part(kind=kind, name=str(given.get(name)), text="\n".join(text for text in texts if isinstance(text, str)))


def _capabilities(given: object) -> Iterator[Part]:
    """Yield what a server declares besides its lists; whether it tells of their changes is seen when it does."""
    declared = {name: inside for name, inside in given.items() if inside is not None} if isinstance(given, dict) else {}
    resources = declared.get("resources")
    names = declared.keys() - {"tools", "resources", "prompts", "experimental", "extensions"}
    subscribe = ["resources.subscribe"] if isinstance(resources, dict) and resources.get("subscribe") else []
    yield from (Part(kind="capability", name=name) for name in (*sorted(names), *subscribe))


def _of_tool(tool: Mapping[str, Any]) -> Iterator[Part]:
    """Yield a tool, its parameters with what is inside them, and the fields of its structured result."""
    hints = next(iter(_objects([tool.get("annotations")])), {})
    given = {key: tool[key] for key in ("name", "title", "description", "inputSchema") if key in tool}
    found = _named("tool", {"title": hints.get("title"), **tool}, "name")
    limits = {hint: json.dumps(hints[hint]) for hint in HINTS if isinstance(hints.get(hint), bool)}
    size = len(json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
    execution = next(iter(_objects([tool.get("execution")])), {})
    ways = _CALLED.get(str(execution.get("taskSupport")), _WAYS[:1])
    inputs, outputs = tool.get("inputSchema"), tool.get("outputSchema")
    reader = _Reader(found.name, "field", inputs)
    yield found.model_copy(update={"limits": {**reader.limits(), **limits}, "choices": ways, "characters": size})
    yield from reader.parts()
    if isinstance(outputs, dict):
        yield from _Reader(found.name, "output", outputs).parts()


class _Reader:
    """Reads one schema of a tool."""

    def __init__(self, tool: str, kind: PartKind, schema: object) -> None:
        self._tool, self._kind, self._root = tool, kind, schema
        self._read, self._cut, self._misses = 0, False, False

    def limits(self) -> Mapping[str, str]:
        """Return what restricts the whole of it, besides its fields."""
        return self._shape(self._root, 0).limits

    def parts(self) -> Iterator[Part]:
        """Yield the parts; of a schema that is not read whole, also all of it, so that no change in it is missed."""
        whole = self._shape(self._root, 0)
        if self._kind == "output":
            yield self._part("", self._root, whole, 0)
        found = [*islice(self._inside(whole, "", 0, {}), MOST_PARTS)]
        yield from found
        if self._cut or self._misses or len(found) == MOST_PARTS:
            yield Part(kind=self._kind, name=UNREAD, command=self._tool, limits={"schema": _written(self._root)})

    def _inside(self, shape: _Shape, path: str, depth: int, above: Mapping[str, _Shape]) -> Iterator[Part]:
        """Yield what an object or a list holds, at any depth (`filter.tags[]`), but nothing inside itself again."""
        above = {**above, path: shape}
        fields = {**dict.fromkeys(sorted(shape.required)), **shape.fields}
        inner = [(f"{path}.{name}".lstrip("."), one, name in shape.required) for name, one in fields.items()]
        has_untyped = shape.items is None and shape.types != _TYPES and "array" in shape.types
        inner += [(f"{path}[]", shape.items, False)] * (has_untyped or isinstance(shape.items, dict))
        inner += [(f"{path}.*", shape.others, False)] * (isinstance(shape.others, dict) and bool(path))
        for name, one, required in inner:
            found = self._shape(one, depth + 1)
            same = [outer for outer, held in above.items() if held.inside == found.inside != _ANY.inside]
            if same:
                found = found._replace(limits={**found.limits, "same as": json.dumps(same[0])})
            yield self._part(name, one, found, depth, required=required)
            if not same:
                yield from self._inside(found, name, depth + 1, above)

    def _part(self, name: str, schema: object, shape: _Shape, depth: int, *, required: bool = False) -> Part:
        own = schema if isinstance(schema, dict) else {}
        default = own.get("default")
        return Part(
            kind="parameter" if self._kind == "field" and not depth else self._kind,
            name=name,
            command=self._tool,
            takes_value=True,
            required=required,
            types=() if shape.types == _TYPES else tuple(sorted(shape.types)) or ("nothing",),
            choices=shape.choices,
            limits=dict(shape.limits),
            default="" if default is None else json.dumps(default),
            text="\n".join(str(own[key]) for key in ("title", "description") if own.get(key)),
        )

    def _shape(self, schema: object, depth: int) -> _Shape:
        """Return what the schema allows: nothing if it cannot be read, as no client could rely on it."""
        self._read += 1
        self._cut |= depth > MOST_DEEP or self._read > MOST_SCHEMAS
        if self._cut or schema is False:
            return _NONE
        if not isinstance(schema, dict):
            return _ANY
        found = _own_shape(schema)
        is_moved = "$id" in schema and schema is not self._root  # its references start at itself
        self._misses |= any(map(_REFERS.search, [*found.limits.values(), *[json.dumps(schema)] * is_moved]))
        for key in _REFERENCES:
            if isinstance(schema.get(key), str):
                found = _both(found, self._shape(self._named(schema[key]), depth + 1))
        for one in _schemas(schema.get("allOf")):
            found = _both(found, self._shape(one, depth + 1))
        for key in ("anyOf", "oneOf"):
            if branches := [self._shape(one, depth + 1) for one in _schemas(schema.get(key))]:
                possible = [one for one in branches if one.types]
                found = _both(found, _alternatives(key, possible) if possible else _NONE)
        return found

    def _named(self, reference: str) -> object:
        """Return the schema that `#/$defs/Name` means; False if it is not found, or named in another way."""
        pointer = unquote(reference)
        is_followed = pointer == "#" or pointer.startswith("#/")
        self._misses |= not is_followed
        found: object = is_followed and self._root
        for word in pointer.split("/")[1:]:
            if isinstance(found, list):
                found = found[int(word)] if word.isdecimal() and int(word) < len(found) else False
            else:
                key = word.replace("~1", "/").replace("~0", "~")
                found = found.get(key, False) if isinstance(found, dict) else False
        return found


def _own_shape(schema: Mapping[str, Any]) -> _Shape:
    """Return what the keywords of the schema itself allow."""
    listed = schema.get("enum")
    if "const" in schema:
        only = json.dumps(schema["const"], sort_keys=True)  # in Python, true is 1
        listed = listed if isinstance(listed, list) else [schema["const"]]
        listed = [one for one in listed if json.dumps(one, sort_keys=True) == only]
    values = listed if isinstance(listed, list) else []
    required, fields = schema.get("required"), schema.get("properties")
    required = required if isinstance(required, list) else []
    limits = {key: one for key, one in schema.items() if not _READ.match(key) and one != _NO_LIMIT.get(key, "")}
    if isinstance(schema.get("items"), (list, bool)):
        limits["items"] = schema["items"]
    return _Shape(
        types=_types(schema, values) if values or listed != [] else frozenset(),
        choices=tuple(dict.fromkeys(json.dumps(one, sort_keys=True) for one in values if one is not None)),
        limits={key: _written(value) for key, value in limits.items()},
        fields=fields if isinstance(fields, dict) else {},
        required=frozenset(one for one in required if isinstance(one, str)),
        items=schema.get("items"),
        others=schema.get("additionalProperties"),
    )


def _types(schema: Mapping[str, Any], values: Iterable[object]) -> frozenset[str]:
    given = schema.get("type")
    of_values = {_OF_PYTHON.get(type(one), "object") for one in values}
    if isinstance(given, (str, list)):
        types = {given} if isinstance(given, str) else {one for one in given if isinstance(one, str)}
    else:
        types = of_values | ({"object"} if "properties" in schema else {"array"} if "items" in schema else set())
    types |= {"integer"} if "number" in types else set()
    return frozenset(types & of_values) if of_values else frozenset(types) or _TYPES


def _both(one: _Shape, other: _Shape) -> _Shape:
    """Return what both allow."""
    choices = tuple(value for value in one.choices if not other.choices or value in other.choices)
    limits = {**one.limits, **other.limits}
    twice = {key: sorted({one.limits[key], limits[key]}) for key in one.limits if one.limits[key] != limits[key]}
    return _merged(one, other, "allOf")._replace(
        types=one.types & other.types if choices or not (one.choices and other.choices) else frozenset(),
        choices=choices or other.choices,
        limits={**limits, **{key: json.dumps(both) for key, both in twice.items()}},
        required=one.required | other.required,
    )


def _alternatives(key: str, branches: list[_Shape]) -> _Shape:
    """Return what `anyOf` or `oneOf` allows, with the alternatives as a limit if they are more than their sum."""
    found, others = reduce(_either, branches), [one for one in branches if one.types != {"null"}]
    rules = [[sorted(one.types), sorted(one.choices), dict(one.limits), sorted(one.required)] for one in others]
    is_sum = all(one[2:] == rules[0][2:] and bool(one[1]) == bool(rules[0][1]) for one in rules)
    overlap = key == "oneOf" and any(
        one.types & other.types and not (one.choices and other.choices and not {*one.choices} & {*other.choices})
        for one, other in combinations(branches, 2)
    )
    if is_sum and not overlap:
        return found
    return found._replace(limits={**found.limits, key: json.dumps(sorted(map(_written, rules)))})


def _either(one: _Shape, other: _Shape) -> _Shape:
    """Return what one of them allows. Alternatives to null are those of the other."""
    if null := next((shape for shape in (one, other) if shape.types == {"null"}), None):
        kept = other if null is one else one
        return kept._replace(types=kept.types | {"null"})
    return _merged(one, other, "anyOf")._replace(
        types=one.types | other.types,
        choices=tuple(dict.fromkeys((*one.choices, *other.choices))) if one.choices and other.choices else (),
        limits={key: value for key, value in one.limits.items() if other.limits.get(key) == value},
        required=one.required & other.required,
    )


def _merged(one: _Shape, other: _Shape, keyword: str) -> _Shape:
    """Return what is inside both: what differs is combined by the keyword."""

    def merged(inner: Any, outer: Any) -> Any:
        if not isinstance(inner, dict) or not isinstance(outer, dict) or inner == outer:
            return inner if isinstance(inner, dict) or outer is None else outer
        return {keyword: [inner, outer]}

    names = dict.fromkeys((*one.fields, *other.fields))
    return _Shape(
        fields={name: merged(one.fields.get(name), other.fields.get(name)) for name in names},
        items=merged(one.items, other.items),
        others=merged(one.others, other.others),
    )


def _written(rule: object) -> str:
    """Return the rule as JSON, without texts."""
    return json.dumps(json.loads(json.dumps(rule), object_hook=_without_texts), sort_keys=True)


def _without_texts(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in schema.items() if key not in ("title", "description") or not isinstance(one, str)}


def _schemas(given: object) -> list[Any]:
    return [one for one in given if isinstance(one, (dict, bool))] if isinstance(given, list) else []


def _objects(given: object) -> list[dict[str, Any]]:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
