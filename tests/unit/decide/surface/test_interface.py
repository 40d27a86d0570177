"""What a tool offers on both sides: which differences break callers, and what its list of tools costs."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.decide.surface.interface import Survey, interface, steady
from tidegate.decide.surface.parts import of_help
from tidegate.decide.surface.server_parts import MOST_PARTS, of_server
from tidegate.decide.surface.used import Scenario
from tidegate.model.cause import Place
from tidegate.model.surface import Interface, ObservedCall

TEXT = {"type": "string"}
PERSON = {"type": "object", "properties": {"name": TEXT, "age": {"type": "integer"}}, "required": ["name"]}


def server(inputs: Any = None, outputs: Any = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"p": inputs}} if inputs is not None else {"type": "object"}
    tool = {"name": "t", "description": "Does it.", "inputSchema": schema, "annotations": more.pop("hints", {})}
    if outputs is not None:
        tool["outputSchema"] = {"type": "object", "properties": {"r": outputs}, "required": ["r"]}
    return {"tools": [tool], **more}


def compared(base: dict[str, Any], head: dict[str, Any]) -> Interface:
    return interface("s", Survey(of_server(base)), Survey(of_server(head)), {})


def found(base: dict[str, Any], head: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.impact, f"{one.part}: {one.detail}") for one in compared(base, head).changes]


def required(*names: str) -> dict[str, Any]:
    properties = dict.fromkeys(("a", "b", "c"), TEXT)
    return {"tools": [{"name": "t", "inputSchema": {"properties": properties, "required": list(names)}}]}


BREAKING = [
    (server(TEXT), {"prompts": [{"name": "q"}]}, "`t`: gone"),
    (server(TEXT), server(), "`p` of `t`: gone"),
    (server({"enum": ["a", "b"]}), server({"enum": ["a"]}), '`p` of `t`: no longer takes `"b"`'),
    (server(TEXT), server({"enum": ["a"]}), '`p` of `t`: only `"a"`'),
    (required("a"), required("a", "b"), "`b` of `t`: required"),
    (server(TEXT), server({"type": "integer"}), "`p` of `t`: type string → integer"),
    (server({"type": ["string", "null"]}), server(TEXT), "`p` of `t`: type null or string → string"),
    (server({"type": "number"}), server({"type": "integer"}), "`p` of `t`: type number → integer"),
    (server({"items": TEXT}), server({"items": {"type": "object"}}), "`p[]` of `t`: type string → object"),
    (server(PERSON), server({**PERSON, "required": ["name", "age"]}), "`p.age` of `t`: required"),
    (server(TEXT), server({**TEXT, "maxLength": 9}), "`p` of `t`: maxLength none → 9"),
    (server({**TEXT, "minLength": 1}), server({**TEXT, "minLength": 2}), "`p` of `t`: minLength 1 → 2"),
    (server({"default": 5}), server({"default": 6}), "`p` of `t`: default 5 → 6"),
    (server({"default": 5}), server({}), "`p` of `t`: default 5 → not listed"),
    (server(outputs=TEXT), server(), "the structured result of `t`: gone"),
    (
        server(outputs=PERSON),
        server(outputs={**PERSON, "properties": {"name": TEXT}}),
        "`r.age` in the result of `t`: gone",
    ),
    (
        server(outputs=TEXT),
        server(outputs={"type": ["string", "null"]}),
        "`r` in the result of `t`: type string → null or string",
    ),
    (
        server(outputs=PERSON),
        server(outputs={**PERSON, "required": []}),
        "`r.name` in the result of `t`: may be missing",
    ),
    (
        server(outputs={**TEXT, "maxLength": 9}),
        server(outputs=TEXT),
        "`r` in the result of `t`: maxLength 9 → none",
    ),
    (
        server(hints={"destructiveHint": True}),
        server(hints={"destructiveHint": False}),
        "`t`: destructiveHint true → false",
    ),
    (server(hints={"readOnlyHint": True}), server(), "`t`: readOnlyHint true → absent"),
    (server(resources=[{"uri": "a://b"}]), server(), "resource `a://b`: gone"),
    (
        server(resources=[{"uri": "a", "mimeType": "x"}]),
        server(resources=[{"uri": "a", "mimeType": "y"}]),
        "resource `a`: type x → y",
    ),
    (server(resources=[{"uri": "a", "mimeType": "x"}]), server(resources=[{"uri": "a"}]), "resource `a`: type x → any"),
    (
        server(prompts=[{"name": "q", "arguments": [{"name": "x"}]}]),
        server(prompts=[{"name": "q", "arguments": [{"name": "x", "required": True}, {"name": "x"}]}]),
        "`x` of `q`: required, listed twice none → true",
    ),
    (server(resourceTemplates=[{"uriTemplate": "a/{b}"}]), server(), "template `a/{b}`: gone"),
    (server(prompts=[{"name": "t"}]), server(), "prompt `t`: gone"),
    (
        server(prompts=[{"name": "q"}]),
        server(prompts=[{"name": "q", "arguments": [{"name": "x", "required": True}]}]),
        "`x` of `q`: new and required",
    ),
    (server(capabilities={"resources": {"subscribe": True}}), server(), "capability `resources.subscribe`: gone"),
]


def test_a_constant_that_its_list_lacks_is_no_value() -> None:
    changes = found(server({"const": "a"}), server({"const": "a", "enum": ["b"]}))
    assert ("breaking", "`p` of `t`: type string → nothing") in changes


@pytest.mark.parametrize(("base", "head", "said"), BREAKING)
def test_what_callers_rely_on_is_breaking(base: Any, head: Any, said: str) -> None:
    assert [one for one in found(base, head) if one != ("additive", "prompt `q`: new")] == [("breaking", said)]


@pytest.mark.parametrize(
    ("base", "head", "kind"),
    [
        (server(), server(TEXT), "additive"),
        (server({"enum": ["a"]}), server({"enum": ["a", "b"]}), "additive"),
        (server({"type": "integer"}), server({"type": "number"}), "additive"),
        (server({**TEXT, "maxLength": 8}), server({**TEXT, "maxLength": 9}), "additive"),
        (server(outputs={"type": ["string", "null"]}), server(outputs=TEXT), "additive"),
        (server(outputs=TEXT), server(outputs={**TEXT, "maxLength": 9}), "additive"),
        (server(), server(outputs=PERSON), "additive"),
        (server(), server(hints={"readOnlyHint": True}), "additive"),
        (server(hints={"destructiveHint": True}), server(), "additive"),
        (server(), server(prompts=[{"name": "q", "arguments": [{"name": "x", "required": True}]}]), "additive"),
        (server(), server(instructions="Be quick."), "text"),
        (server(instructions="Be quick."), server(), "text"),
        (server(TEXT), server({**TEXT, "description": "A text."}), "text"),
    ],
)
def test_what_breaks_no_caller_is_additive_or_text(base: Any, head: Any, kind: str) -> None:
    assert [impact for impact, _ in found(base, head)] == [kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"enum": ["a", "b"]}, {"oneOf": [{"const": "b"}, {"const": "a"}]}),
        ({"type": "integer", "enum": [1]}, {"const": 1}),
        ({"type": "string", "enum": ["a"]}, {"anyOf": [False, {"const": "a"}]}),
        (PERSON, {"allOf": [{**PERSON, "properties": {"name": TEXT}}, {"properties": {"age": {"type": "integer"}}}]}),
        ({**TEXT, "minLength": 0}, {"$comment": "x", **TEXT}),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {"type": "object"}),
    ],
)  # fmt: skip
def test_two_ways_to_write_the_same_schema_do_not_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert found(server(one), server(other)) == []


def test_a_schema_behind_references_is_read_like_one_in_place() -> None:
    inside = server(PERSON)
    behind = server({"$ref": "#/$defs/Person"})
    behind["tools"][0]["inputSchema"]["$defs"] = {"Person": PERSON}
    assert found(inside, behind) == []


def inputs(**keywords: Any) -> dict[str, Any]:
    """A server whose tool has these keywords beside its parameter."""
    made = server(TEXT)
    made["tools"][0]["inputSchema"].update(keywords)
    return made


@pytest.mark.parametrize(
    "head",
    [
        inputs(maxProperties=1),
        inputs(dependentRequired={"p": ["q"]}),
        inputs(**{"if": {"required": ["p"]}, "then": False}),
        inputs(unevaluatedProperties=False),
        inputs(keywordOfTomorrow=1),
        server(False),
        server({"oneOf": [TEXT, TEXT]}),
        server({"allOf": [TEXT, {"type": "integer"}]}),
        server({**TEXT, "const": None}),
        server({**TEXT, "readOnly": True}),
        server({**TEXT, "properties": {f"p{number}": TEXT for number in range(MOST_PARTS)}}),
        server({**TEXT, "enum": []}),
        server({**TEXT, "enum": [None]}),
        server({**TEXT, "allOf": [False]}),
        server({**TEXT, "anyOf": [False]}),
        server({"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]}),
        server({"anyOf": [{**TEXT, "maxLength": 1}, {**TEXT, "maxLength": 2}]}),
        server({"anyOf": [{"enum": ["a"]}, {"type": "string", "contentEncoding": "base64"}]}),
    ],
)
def test_what_is_not_known_to_be_harmless_in_a_schema_is_breaking(head: dict[str, Any]) -> None:
    assert "breaking" in [impact for impact, _ in found(server(TEXT), head)]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({**TEXT, "maxLength": 5}, {"allOf": [{**TEXT, "maxLength": 1}, {"maxLength": 5}]}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a"]}),
        ({"type": "array", "items": TEXT}, {"type": "array", "items": False}),
        ({"anyOf": [{"type": "array", "minItems": 1}, TEXT]}, {"anyOf": [{"type": "array", "minItems": 2}, TEXT]}),
    ],
)
def test_what_a_combination_of_schemas_restricts_is_breaking(base: dict[str, Any], head: dict[str, Any]) -> None:
    assert "breaking" in [impact for impact, _ in found(server(base), server(head))]


def test_a_further_alternative_is_additive() -> None:
    some = [TEXT, {"type": "array", "minItems": 1}]
    assert [
        impact for impact, _ in found(server({"anyOf": some}), server({"anyOf": [*some, {"type": "integer"}]}))
    ] == ["additive"]


def nested(age: str) -> dict[str, Any]:
    """A tree: each person has children."""
    made = server({"$ref": "#/$defs/P"})
    child = {"type": "array", "items": {"$ref": "#/$defs/P"}}
    made["tools"][0]["inputSchema"]["$defs"] = {"P": {"properties": {"children": child, "age": {"type": age}}}}
    return made


def test_a_schema_inside_itself_is_read_once() -> None:
    assert found(nested("integer"), nested("string")) == [("breaking", "`p.age` of `t`: type integer → string")]


def defined(reference: str, *, keyword: str = "$ref", **definitions: Any) -> dict[str, Any]:
    """A server whose parameter is what the reference means."""
    made = server({keyword: reference})
    made["tools"][0]["inputSchema"]["$defs"] = definitions
    return made


def node(child: str, **more: Any) -> dict[str, Any]:
    return {"properties": {"child": {"$ref": f"#/$defs/{child}"}, **more}}


def test_a_schema_inside_itself_is_compared_with_the_one_that_it_is_not_by_its_name() -> None:
    base = defined("#/$defs/N", N=node("N", age=TEXT))
    assert found(base, defined("#/$defs/Renamed", Renamed=node("Renamed", age=TEXT))) == []
    head = defined("#/$defs/N", N=node("M", age=TEXT), M=node("N", age={"type": "integer"}))
    assert ("breaking", '`p.child` of `t`: same as "p" → none') in found(base, head)
    extended = {"allOf": [{"$ref": "#/$defs/N"}, {"properties": {"more": {"type": "integer"}}}]}
    of_text = {"allOf": [{"$ref": "#/$defs/N"}, {"properties": {"more": TEXT}}]}
    sides = (defined("#/$defs/N", N={"properties": {"child": one}}) for one in (of_text, extended))
    assert ("breaking", "`p.child.more` of `t`: type string → integer") in found(*sides)


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("reference", "keyword", "named"),
    [
        ("#x", "$ref", {"$anchor": "x"}),
        ("urn:x", "$ref", {"$id": "urn:x"}),
        ("#x", "$dynamicRef", {"$dynamicAnchor": "x"}),
        ("#/$defs/a b", "$ref", {}),
        ("#/$defs/a%20b", "$ref", {}),
        ("#/$defs/a b/anyOf/0", "$ref", {"anyOf": [{"$ref": "#/$defs/c"}]}),
    ],
)
def test_a_type_behind_any_kind_of_reference_is_compared(reference: str, keyword: str, named: dict[str, Any]) -> None:
    base, head = (
        defined(reference, keyword=keyword, **{"a b": {**named, **({} if "anyOf" in named else one)}, "c": one})
        for one in (TEXT, INTEGER)
    )
    assert found(base, base) == []
    assert [impact for impact, _ in found(base, head)] == ["breaking"]


def in_a_limit(of: dict[str, Any]) -> dict[str, Any]:
    return defined("#/$defs/y", x=of, y={"prefixItems": [{"$ref": "#/$defs/x"}]})


def from_another_start(of: dict[str, Any]) -> dict[str, Any]:
    inside = {"$id": "urn:y", "$defs": {"x": of}, "properties": {"a": {"$ref": "#/$defs/x"}}}
    return defined("#/$defs/y", x=TEXT, y=inside)


@pytest.mark.parametrize("made", [in_a_limit, from_another_start])
def test_what_is_behind_a_reference_that_is_not_followed_is_compared_as_text(made: Any) -> None:
    assert found(made(TEXT), made(TEXT)) == []
    assert found(made(TEXT), made(INTEGER)) == [("breaking", "`…` of `t`: its schema")]


@pytest.mark.parametrize("reference", ["#/properties/p", "#/$defs/none", "#none"])
def test_a_reference_that_leads_to_nothing_allows_nothing(reference: str) -> None:
    broken = server({"$ref": reference})
    assert ("breaking", "`p` of `t`: type string → nothing") in found(server(TEXT), broken)
    result = server(outputs={"$ref": "#/$defs/none"})
    assert found(server(outputs=TEXT), result) == [("breaking", "`r` in the result of `t`: type string → nothing")]
    assert found(server({"$ref": "#/$defs/none"}), server(TEXT)) == [("additive", "`p` of `t`: type nothing → string")]


@pytest.mark.parametrize(
    ("base", "head", "impact"),
    [
        (
            {"patternProperties": {"^x": TEXT}, "additionalProperties": False},
            {"additionalProperties": False},
            "breaking",
        ),
        ({"prefixItems": [TEXT], "items": False}, {"items": False}, "breaking"),
        ({"keywordOfTomorrow": 1}, {"keywordOfTomorrow": 2}, "breaking"),
        ({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9, "exclusiveMaximum": True}, "breaking"),
        ({"type": "array"}, {"type": "array", "items": TEXT}, "breaking"),
        ({"type": "array", "items": TEXT}, {"type": "array"}, "additive"),
        ({**TEXT, "pattern": "^x"}, TEXT, "additive"),
        ({"propertyNames": TEXT}, {}, "additive"),
    ],
)
def test_only_limits_on_which_no_keyword_depends_may_go(
    base: dict[str, Any], head: dict[str, Any], impact: str
) -> None:
    assert [one for one, _ in found(server(base), server(head))] == [impact]


@pytest.mark.parametrize(
    ("before", "after", "impacts"),
    [
        ("forbidden", "required", ["breaking", "additive"]),
        ("optional", "required", ["breaking"]),
        ("optional", None, ["breaking"]),
        (None, "optional", ["additive"]),
        (None, "forbidden", []),
    ],
)
def test_a_tool_that_can_only_be_called_as_a_task_is_breaking(
    before: str | None, after: str | None, impacts: list[str]
) -> None:
    sides = [server(TEXT), server(TEXT)]
    for side, support in zip(sides, (before, after), strict=True):
        side["tools"][0]["execution"] = {"taskSupport": support} if support else {}
    assert [impact for impact, _ in found(*sides)] == impacts


def wide(last: dict[str, Any]) -> dict[str, Any]:
    names = [f"f{number}" for number in range(MOST_PARTS + 1)]
    return server({"properties": {**dict.fromkeys(names, TEXT), "last": last}})


def test_a_change_beyond_what_is_read_of_a_schema_is_not_missed() -> None:
    assert found(wide(TEXT), wide({"type": "integer"})) == [("breaking", "`…` of `t`: its schema")]
    assert found(wide(TEXT), wide({**TEXT, "description": "x"})) == []


def test_schemas_that_are_no_schemas_are_compared_without_an_error() -> None:
    odd = {"type": 3, "enum": "x", "properties": [], "required": {"a": 1}, "items": 7, "$ref": "#/$defs/none"}
    assert found(server(odd), server(odd)) == []
    assert found({"tools": [3, {"name": None, "inputSchema": []}]}, {"tools": "x", "prompts": [{}]}) != []


def test_a_difference_names_the_scenarios_that_use_it_and_a_description_those_of_the_tool() -> None:
    call = ObservedCall(argv=("t", '{"p": "x"}'), exit_code=0)
    calls = {"uses_p": Scenario((call,), ""), "other": Scenario((), "")}
    base = server(TEXT)
    head = server({"type": "integer", "description": "A number."})
    told = interface("s", Survey(of_server(base)), Survey(of_server(head)), calls)
    assert [(one.impact, one.scenarios) for one in told.changes] == [("breaking", ("uses_p",)), ("text", ("uses_p",))]


def test_places_in_docs_that_name_what_is_gone() -> None:
    texts = ["- `t` does it", "t as a word", "keep_all(title) keeps all"]
    docs = [Place(side="head", path="README.md", line=number, text=text) for number, text in enumerate(texts, 1)]
    base = {"tools": [{"name": "t"}, {"name": "keep_all"}, {"name": "rest"}]}
    told = interface("s", Survey(of_server(base)), Survey(of_server({"tools": [{"name": "rest"}]})), {}, docs)
    assert [one.docs for one in told.changes] == [("README.md:1",), ("README.md:3",)]


ADDED = ("additive", "`--as`: takes `yaml`")


def help_of(*options: str) -> Survey:
    return Survey(of_help({"": "Usage: n\n\nOptions:\n" + "".join(f"  {one}  x\n" for one in options)}, "n"))


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ("--due DATE", "--by DATE", [("breaking", "`--due`: gone"), ("additive", "`--by`: new")]),
        ("--due DATE", "--due", [("breaking", "`--due`: no longer takes a value")]),
        ("--as {text,json}", "--as {text,yaml}", [("breaking", "`--as`: no longer takes `json`"), ADDED]),
        ("--as {text,json}", "--as FORMAT", [("breaking", "`--as`: no longer lists `text`, `json`")]),
        ("-d, --due DATE", "--due DATE", [("breaking", "`--due`: no longer `-d`")]),
        ("-d DATE", "-d, --due DATE", [("additive", "`--due`: also `--due`")]),
    ],
)  # fmt: skip
def test_options_of_a_program(base: str, head: str, said: list[tuple[str, str]]) -> None:
    told = interface("n", help_of(base, "--all"), help_of(head, "--all"), {})
    assert [(one.impact, f"{one.part}: {one.detail}") for one in told.changes] == said


KNOWN, NOTHING = Survey(of_server(server(TEXT))), Survey(())


@pytest.mark.parametrize(
    ("base", "head", "why", "by_head"),
    [
        (KNOWN, Survey((), "it hung", inside=True), "head: it hung", True),
        (KNOWN, Survey((), "the budget ended"), "head: the budget ended", False),
        (KNOWN, NOTHING, "head: it lists nothing", True),
        (NOTHING, KNOWN, "base: it lists nothing", False),
        (Survey((), "it hung", inside=True), Survey((), "it hung", inside=True), "base: it hung", False),
        (NOTHING, NOTHING, "", False),
    ],
)
def test_a_side_that_lists_nothing_was_not_measured(base: Survey, head: Survey, why: str, by_head: bool) -> None:
    told = interface("s", base, head, {})
    assert (told.why, told.by_head, told.changes, told.breaking) == (why, by_head, (), ())


def session(number: int, said: str = "", *, required: bool = False, more: str = "") -> dict[str, Any]:
    """Return what a server offers in one session: a resource named by it, and a tool."""
    named = {"uri": f"session://info/{number}", "name": "info"}
    resources = [named, *([{"uri": more, "name": more}] if more else [])]
    names = ["p"] if required else []
    schema = {"type": "object", "properties": {"p": TEXT}, "required": names}
    return {"tools": [{"name": "t", "description": f"Does it. {said}", "inputSchema": schema}], "resources": resources}


def asked_twice(one: dict[str, Any], other: dict[str, Any]) -> Survey:
    return Survey(of_server(one), again=of_server(other))


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ((session(1), session(2)), (session(3), session(4)), []),
        ((session(1, "at 1"), session(2, "at 2")), (session(3, "at 3"), session(4, "at 4")), []),
        (
            (session(1, "at 1"), session(2, "at 2")),
            (session(3, required=True), session(4, required=True)),
            [("breaking", "`p` of `t`: required")],
        ),
        (
            (session(1, more="a:b"), session(2, more="a:b")),
            (session(3), session(4)),
            [("breaking", "resource `a:b`: gone")],
        ),
        (
            (session(1), session(2)),
            (session(3, more="a:b"), session(4, more="a:b")),
            [("additive", "resource `a:b`: new")],
        ),
        ((session(1), session(2, more="a:b")), (session(3, more="a:b"), session(4, more="a:b")), []),
        (
            (session(1), session(1)),
            (session(3), session(4)),
            [("breaking", "resource `session://info/1`: gone"), ("additive", "resource `session://info/3`: new")],
        ),
    ],
    ids=["names", "texts", "else required", "gone", "new", "half there", "only head"],
)
def test_what_base_offers_otherwise_each_time_is_not_compared(
    base: tuple[dict[str, Any], dict[str, Any]],
    head: tuple[dict[str, Any], dict[str, Any]],
    said: list[tuple[str, str]],
) -> None:
    changes = interface("s", *steady(asked_twice(*base), asked_twice(*head)), {}).changes
    assert [(one.impact, f"{one.part}: {one.detail}") for one in changes] == said


def test_tokens_are_estimated_per_tool_and_a_tenth_more_is_growth() -> None:
    base, head = server(TEXT), server({**TEXT, "description": "long " * 100})
    head["tools"].append({"name": "more", "inputSchema": {}})
    told = compared(base, head)
    (before, after), of_more = told.tokens["t"], told.tokens["more"]
    assert before is not None
    assert after is not None
    assert (100 < after - before < 150, of_more[0], told.grew, compared(base, base).grew) == (True, None, True, False)


def test_rare_characters_take_more_tokens_than_others() -> None:
    plain, rare = (compared(server(TEXT), server({**TEXT, "description": one * 100})).total[1] for one in "xᚠ")
    assert rare - plain in (45, 46)  # two bytes more each


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("  -f, --full   Whole page", "  -f, --all   Whole page", [("--full",)]),
        ("  -t, --tables   Enable tables", "  --jobs   Run in parallel", [("--tables", "-t")]),
        ("  --tables   Enable tables", "  --tables   Draw tables", []),
        ("  --tables   Draw\n  --grid   Draw", "  -t, --tables, --grid   Draw", []),
    ],
)
def test_the_names_that_are_gone_are_those_that_head_does_not_list(
    before: str, after: str, gone: list[tuple[str, ...]]
) -> None:
    pages = (f"usage: s [options]\n\nOptions:\n  --other   Other\n{lines}\n" for lines in (before, after))
    base, head = (Survey(of_help({"": page}, "s")) for page in pages)
    assert [(one.name, *one.aliases) for one in interface("s", base, head, {}).gone] == gone


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("note SOURCE", "note SOURCE DEST", ["`note`: needs SOURCE DEST, and on base SOURCE"]),
        ("note [NAME]", "note NAME", ["`note`: needs NAME, and on base no argument"]),
        ("note SOURCE", "note [--all] FILE [DEST]", []),  # usages name them as they like
        ("note", "note FILE", []),  # base's usage may have left it out
        ("note FILE", "note file and another", ["`note`: no longer lists FILE"]),
        ("note [FILE]", "note", []),
        ("note FILE", "note [--all] [--due DATE]\n            FILE", []),
        ("note FILE", "note [--all]\n            FILE DEST", ["`note`: needs FILE DEST, and on base FILE"]),
        ("note FILE", "note --from DIR\n       note FILE", []),
    ],
)
def test_a_call_that_needs_more_arguments_is_breaking(before: str, after: str, found: list[str]) -> None:
    base, head = (Survey(of_help({"": f"usage: {usage}\n\n  --out FILE  x"}, "note")) for usage in (before, after))
    changes = interface("note", base, head, {}).breaking
    assert [f"{one.part}: {one.detail}" for one in changes] == found


def test_of_a_limit_that_base_changes_each_time_the_others_are_compared() -> None:
    base = asked_twice(server({**TEXT, "maxLength": 1}), server({**TEXT, "maxLength": 2}))
    head = asked_twice(*[server({**TEXT, "maxLength": 3, "pattern": "a"})] * 2)
    changes = interface("s", *steady(base, head), {}).changes
    assert [(one.impact, one.detail) for one in changes] == [("breaking", 'pattern none → "a"')]
