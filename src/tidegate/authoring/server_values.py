"""Values for the parameters of an MCP server's tools: from their schemas, or made by type and name. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tidegate.agents.scripted import parameters
from tidegate.model.agent import Tool

FILES, TARGET = ("sample.txt", "notes.txt"), "target.txt"
HERE = "/proc/self/cwd/"  # an absolute name of the server's current folder, the same in all trials
DEEPEST = 4  # references that are followed one into the other
_NUMBERS, _WHOLE, _FEW = (7, 3, 0.5, 2, -2.6, 4), (7, 3, 5, 2, 1, 4), (1, 2, 3, 1, 2, 5)
_ID, _COUNTED = r"(?i)(?<![a-z])ids?$|Ids?$", (1, 2)  # names of parameters, and ids of what was made first
_MOST = r"limit|max|top|size|per_?page"  # names of parameters
RICH = "  Grüße, 影: banana\n\n- apple \n"
PROSE = r"content|text|body|message|note|desc"  # names of parameters
OLD = r"old.?(?:str|text|content|value)|^find$|^search.?(?:str|text)"  # a text that is there
_COLUMNS = r"(?:^|_)(?:columns?|fields?|headers)$|^select$|^(?:group|sort|order)_?by$"
_CONDITIONS = r"filter|match|where|condition|criteria"  # which all have to be met
_ROW = {"name": "Ada", "score": 9, "city": "London"}  # in the sample of CSV
_SHARE = r"(?i)threshold|ratio|similarity|probab|confidence"  # names of parameters
_SHARES = (0.2, 0.05, 0.5, 0.9, 0.0, 1.0)
_LIST = re.compile(r"(?i)comma[- ]separated")  # in the description of a text
_TEXTS = {  # by the name of a parameter; the last one is for all others
    _COLUMNS: ("name", "score", "city"),  # of the sample of CSV
    r"encoding|charset": ("utf-8", "latin-1"),
    r"delim|separator|^sep$": (",", ";"),
    r"quote_?char": ('"', "'"),
    r"escape_?char": ("\\",),
    r"tags?$|labels$|categor|keyword": ("Mixed Case", "snake_case", "first"),
    OLD: ("Ada", "first", "banana"),
    r"new.?(?:str|text|content|value)|^replace": ("Grace", "  Grüße"),
    r"zone|tz$": ("America/New_York", "Asia/Kolkata", "UTC"),
    r"(?:^|_)time$": ("14:30", "2024-02-29T14:30:00.250"),
    r"^(?:source_?|python_?)?code$|^script$|snippet": ("print(6 * 7)", "'Ada' + 'Bea'", "[3, 1, 2]"),
    r"query|search|term|pattern": ("apple", "Ada", "banana"),
    r"start_?cell": ("A1", "A2"),
    r"end_?cell": ("B2", "C3"),
    r"cell": ("A1", "B2", "C3"),
    r"range": ("A1:B2", "A1:C3"),
    r"ur[il]|host|address|mail|token|key|(?:id|identifier)s?$": (None,),
    r"(?:dest|target|new|out(?:put)?)[a-z]*_?(?:file|path)|^dest": (TARGET,),
    r"file|path": FILES,
    r"dir|folder": (".",),
    r"table": ("people", "first"),
    r"name|title|label|sheet|^(?:from|source|parent)$": ("first", "second"),
    r"^(?:to|target)$": ("second", "first"),
    PROSE: ("Ada has 42 points.", RICH, "first"),
    r"expr|formula|equation": (
        *("2 * 3 + 1", "7 / 2 - 1", "(1 + 2) ** 3 % 4", "2^10", "7 // 2", "1234567 * 9 / 7"),
        *("sqrt(16) + pow(2, 3)", "log(8, 2)", "-3 + 0.1", "2 * pi / 3", "max(1, 2) - abs(-5)"),
    ),
    r"^age$|count$|amount|year|limit|quantity": ("28", "3"),
    r"date": ("2024-02-29", "2024-12-29T12:30:00.250"),
    r"json": ('{"name": "Ada", "score": 42.5}',),
    r"": ("Ada has 42 points.", "first", "banana apple banana"),
}
SQL = (  # statements one after the other
    "CREATE TABLE people (id INTEGER, name TEXT, score REAL)",
    "INSERT INTO people VALUES (1, 'Ada', 42.5), (2, 'Bea', 7.25), (3, NULL, 9)",
    "SELECT name, score FROM people ORDER BY score DESC",
    "SELECT 1 + 2 AS total, 'a;b' AS name;",
    "SELECT name FROM people WHERE id > 90",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i FROM n",
)
JSON_PATHS = ("$.name", "$.tags[*]", "$..city", "$.score", "$.tags")  # in the sample of JSON
_TYPING = frozenset(["type", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items", "$ref"])
LACKING = re.compile(r"(?i)no such file|not found|does not exist|doesn't exist|ENOENT")  # in an error
_SHOWN = re.compile(r"""(?i)(?:e\.g\.,?|examples?:|for example,?|such as) *["'`]([^"'`\n]+)["'`]""")
_ALLOWED = re.compile(  # what an error lists
    r"(?i)\b(?:one of|must be|(?:valid|allowed|supported|available|possible|known)(?: \w+)?(?: are)?|choose from)"
    r"\W{1,4}([\w-]+(?:[\"'`]?(?:, *| ?\| ?|, or | or | and )[\"'`]?[\w-]+)+)"
)
_LISTED = re.compile(r"\((?:one of:? )?([a-z][\w-]*(?:, (?:or )?[a-z][\w-]*){2,})\)")  # in parentheses


def with_definitions(schema: Any, known: Any = None, deep: int = 0) -> Any:
    """Return the schema with what its references name in their place, as far as DEEPEST levels of them."""
    if isinstance(schema, list):
        return [with_definitions(one, known, deep) for one in schema]
    if not isinstance(schema, dict):
        return schema
    known = schema.get("$defs", schema.get("definitions")) if known is None else known
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if isinstance(known, dict) and name in known and deep < DEEPEST:
        more = {key: one for key, one in schema.items() if key != "$ref"}
        return with_definitions(known[name], known, deep + 1) | more
    return {key: with_definitions(one, known or {}, deep) for key, one in schema.items() if key != "$defs"}


def with_told_values(tool: Tool, refused: Mapping[str, str]) -> Tool:
    """Return the tool with the values that errors list for a parameter in its schema. `refused`: errors, by calls."""
    told = dict[str, dict[str, Any]]()
    for key, error in refused.items():
        name, given = json.loads(key)
        listed = "".join(_ALLOWED.findall(error)[:1]) if name == tool.name else ""
        values = [one for one in re.findall(r"[\w-]+", listed) if one not in ("or", "and")]
        fit = {
            one: (len(value) * (value in error), len(one) * bool(re.search(_words_of(one), error)))
            for one, value in given.items()
            if isinstance(value, str) and value not in values
        }
        if values and fit and any(max(fit.values())):
            told[max(fit, key=fit.__getitem__)] = {"type": "string", "enum": values}
    properties = {name: {**told.get(name, {}), **schema_of(tool, name)} for name in parameters(tool)[0]}
    return tool._replace(schema={**tool.schema, "properties": properties}) if told else tool


def _words_of(name: str) -> str:
    return r"(?i)\b" + r"[\W_]?".join(re.findall(r"[A-Z]?[a-z]+|[A-Z\d]+", name)) + r"(?:e?s)?\b"


def schema_of(tool: Tool, name: str) -> dict[str, Any]:
    """Return the schema of a parameter, with its line in the tool's description if it has no description."""
    schema = parameters(tool)[0].get(name)
    line = re.search(rf"(?m)^\W*{re.escape(name)}\b.*:.*$", tool.description or "")
    described = {"description": line[0]} if line else {}
    return described | schema if isinstance(schema, dict) else described


def shown_values(schema: dict[str, Any]) -> list[Any]:
    """Return the values that a parameter's schema names."""
    shown = [schema[key] for key in ("default", "example") if key in schema]
    if _type_of(schema) == "string":
        described = str(schema.get("description", ""))
        languages = {r"\bSQL\b": SQL, r"(?i)\bJSON ?Path\b": JSON_PATHS}
        in_one = next((texts for language, texts in languages.items() if re.search(language, described)), ())
        listed = [word for words in _LISTED.findall(described) for word in re.split(r"\W+(?:or )?", words)]
        shown += _SHOWN.findall(described) or listed or in_one
    return shown + _listed(schema, "examples") + listed_values(schema)


def listed_values(schema: dict[str, Any]) -> list[Any]:
    """Return all values that a parameter may have, if its schema lists them; of a list, the value with all of them."""
    if _type_of(schema) == "array" and isinstance(schema.get("items"), dict):
        return [*filter(None, [listed_values(schema["items"])])]
    const = [schema["const"]] if "const" in schema else []
    inner = [value for one in _kinds(schema)[1:] for value in listed_values(one)]
    return (_listed(schema, "enum") or const) + inner


def _listed(schema: dict[str, Any], key: str) -> list[Any]:
    return schema[key] if isinstance(schema.get(key), list) else []


def made_value(name: str, schema: Any, turn: int) -> Any:
    """Return a value for a parameter by its type and name; None if that does not tell enough."""
    is_list = isinstance(schema, dict) and _LIST.search(str(schema.get("description"))) is not None
    any_type = isinstance(schema, dict) and schema.keys().isdisjoint(_TYPING)
    typed = [one for one in _kinds(schema) if _type_of(one)]
    schema = min(typed, key=lambda one: _type_of(one) == "string", default={})  # the others say more
    match "string" if any_type else _type_of(schema):
        case "integer" | "number" as kind:
            numbers = _SHARES if re.search(_SHARE, name) else _NUMBERS
            whole = _COUNTED if re.search(_ID, name) else _FEW if re.search(_MOST, name, re.I) else _WHOLE
            fitting = numbers if kind == "number" else whole
            return fitting[turn % len(fitting)]
        case "boolean":
            return turn % 2 == 0
        case "array" if isinstance(schema.get("items"), dict):
            inner = schema["items"] or {"type": "string"}
            items = [made_value(name, inner, place) for place in range(turn, turn + 4)]
            again = items[:1] if turn % 4 < 2 else []  # lists of odd and of even length
            if re.search(_COLUMNS, name, re.I):
                return [*dict.fromkeys(items)] if all(isinstance(one, str) for one in items) else None
            return None if None in items else items[:1] if re.search(_CONDITIONS, name, re.I) else items + again
        case "object" if schema.get("properties"):
            known = {key: made_value(key, own, turn) for key, own in schema["properties"].items()}
            column = next((str(known[key]) for key in known if re.search(_COLUMNS, key, re.I)), "")
            known |= {key: _ROW[column] for key in known if key == "value" and column in _ROW}
            lacking = [key for key in schema.get("required", known) if known.get(key) is None]
            return None if lacking else {key: value for key, value in known.items() if value is not None}
        case "string" if schema.get("enum"):
            return schema["enum"][turn % len(schema["enum"])]
        case "string":
            texts = next(texts for key, texts in _TEXTS.items() if re.search(key, name, re.I))
            turn += (turn // len(texts)) * (len(texts) % 2 == 0)  # by twos, too: each text
            text, other = (texts[place % len(texts)] for place in (turn, turn + 1))
            return f"{text},{other}" if is_list and other != text else text
        case "object":
            return _row(schema.get("additionalProperties"), turn)
        case _:
            return None


def _type_of(schema: dict[str, Any]) -> Any:
    """Return the type, of several the first that is not null; None without one."""
    kinds = _listed(schema, "type") or [schema.get("type")]
    return next((kind for kind in kinds if kind != "null"), None)


def _row(kind: Any, turn: int) -> dict[str, Any] | None:
    """Return an object with keys of the sample of CSV; None if no values of the schema `kind` can be made for them."""
    row = _ROW if turn % 2 == 0 else {**_ROW, "name": "Grace", "score": 7}
    if not isinstance(kind, dict) or kind.keys().isdisjoint(_TYPING):
        return row
    if any(_type_of(one) == "string" and "enum" not in one for one in _kinds(kind)):
        return {key: str(value) for key, value in row.items()}
    made = {key: made_value(key, kind, turn + place) for place, key in enumerate(row)}
    return None if None in made.values() else made


def _kinds(schema: Any) -> list[dict[str, Any]]:
    """Return the schema, and those of which a value has to meet one."""
    if not isinstance(schema, dict):
        return []
    return [schema, *(one for key in ("anyOf", "oneOf") for one in _listed(schema, key) if isinstance(one, dict))]


def leaves(value: Any) -> list[Any]:
    """Return the single values in this one, at any depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if inner is None else [leaf for one in inner for leaf in leaves(one)]
