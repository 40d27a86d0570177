"""Which calls of an MCP server a first suite tries. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidegate.agents.scripted import parameters
from tidegate.agents.tool_list import input_fault
from tidegate.authoring.build_systems.mcp_files import local
from tidegate.authoring.server_example import Example, Missing
from tidegate.authoring.server_ids import NO_ID, OF_ID, late, taken, told
from tidegate.authoring.server_readers import with_readers
from tidegate.authoring.server_tools import (
    CHANGES,
    READS,
    REMOVES,
    WRITES,
    folders_of,
    is_risky,
    order_of,
    rank_of,
    shared_names,
)
from tidegate.authoring.server_values import (
    FILES,
    HERE,
    OLD,
    PROSE,
    RICH,
    TARGET,
    leaves,
    listed_values,
    made_value,
    schema_of,
    shown_values,
)
from tidegate.model.agent import Tool, taken_from

MOST_CALLS, MOST_OF_TOOL, MOST_OF_FEW = 80, 3, 10  # in all, of a tool, and of all tools if these are few
MOST_SHOWN, MOST_SHOWN_OF_FEW = 6, 24  # calls of a tool that documents and tests show, and of all if these are few
MOST_OPTIONS, MOST_ODD = 320, 40  # calls with one more parameter, and odd ones
MOST_VALUES, MOST_LISTED = 6, 30  # of a parameter, and of a required one
_PATH, _TARGET = re.compile(r"(?i)path|file"), re.compile(r"(?i)dest|target|new|^to|output|dir|folder")
_SOURCE = re.compile(r"source|src|from")  # of a tool for files
_OF_IDS = ("string", "array")  # types
_NAME = re.compile(r"(?i)(?:name|title|label)$")
_ODD = ("", "a(b", RICH, "long text, " * 20)
_FOLDERS = ("new/inner", "inner/..", "..")  # of files


_Ranked = tuple[int, int, Example]  # with the tool's rank, and the turn


def examples(
    tools: Sequence[Tool],
    shown: Sequence[dict[str, Any]],
    answers: Sequence[str] = (),
    missing: Collection[Missing] = (),
    refused: Mapping[str, str] = {},
    sources: Sequence[str] = (),
) -> tuple[Example, ...]:
    """Return calls of each tool: with an input among the `shown` objects, or in its schema, and of its types.

    Tools whose annotations report that they destroy something, or that they reach other systems, are left out. Where a
    tool writes, those that read follow with the same names, and are called again after the last change. Then come
    calls with one more parameter, and those with names that are not there. `answers`: all that the server answered, by
    trial: ids that it gives are used. `missing`: names of what tools wrote that it does not know; it may know another.
    `refused`: why calls failed, by their keys. They get the parameters that the error names, and no others if another
    call of the tool worked. `sources`: tools whose answers give ids.
    """
    ranked = sorted((tool for tool in tools if not is_risky(tool)), key=order_of)
    shared = shared_names(ranked)
    fair = max(1, MOST_CALLS // max(1, len(tools)))
    found: list[_Ranked] = []
    bases: list[tuple[Tool, dict[str, Any]]] = []  # with the input of its first call that works
    written: list[dict[str, Any]] = []  # inputs with which tools write
    for tool in ranked:
        documented = _documented(tool, shown, tools, refused)[: max(MOST_SHOWN, MOST_SHOWN_OF_FEW // len(tools))]
        most = min(fair, max(MOST_OF_TOOL, MOST_OF_FEW // len(ranked), _most_values(tool)))
        known = _known_values(tool, written, shared, missing)
        plain = (_made_call(tool, turn, shared, answers, known, sources) for turn in range(most))
        made = [one._replace(input=_with_old(one.input, written)) for one in plain if one is not None]
        repeats = rank_of(tool) == READS and bool(shared) and parameters(tool)[1] <= shared
        own = [*documented, *made]
        own = own if repeats else [*{one.key: one for one in own}.values()]  # each once
        own.sort(key=lambda one: one.key in refused)
        found += _in_turns(tool, own[: most + len(documented[1:])])
        bases += [(tool, one.input) for one in own[:1]]
        written += [_no_folders(tool, one) for one in own if one.key not in refused] if rank_of(tool) == WRITES else []
    first = sorted(found, key=lambda one: one[1])[:MOST_CALLS]
    calls = [*first, *_others(ranked, first, bases, shared)]
    ordered = _in_order([*calls, *(more for one in calls for more in _with_named(one, ranked, refused))])
    return tuple(with_readers(ordered, {tool.name: rank_of(tool) for tool in ranked}, _own_names(ranked, missing)))


def _own_names(tools: Iterable[Tool], missing: Iterable[Missing]) -> set[tuple[str, str]]:
    """Return tools, each with a name that takes no value which others write: they do not find it, or it is a folder."""
    folders = {(tool.name, name) for tool in tools for name in parameters(tool)[0] if folders_of(tool, name)}
    return {(one.tool, one.name) for one in missing} | folders


def _no_folders(tool: Tool, call: Example) -> dict[str, Any]:
    return {name: value for name, value in call.input.items() if not folders_of(tool, name)}


def _in_turns(tool: Tool, own: Iterable[Example]) -> list[_Ranked]:
    return [(rank_of(tool), turn + late(one.input), one) for turn, one in enumerate(own)]


def _others(
    ranked: Sequence[Tool],
    found: Sequence[_Ranked],
    bases: Iterable[tuple[Tool, dict[str, Any]]],
    shared: Container[str],
) -> Iterator[_Ranked]:
    """Yield calls that write the same again, with one more parameter, with odd values, and with ids of nothing."""
    pool = {key: value for *_, one in reversed(found) for key, value in one.input.items()}
    optional = Counter(name for tool in ranked for name in parameters(tool)[0].keys() - parameters(tool)[1])
    common = {name for name, tools in optional.items() if tools > MOST_OF_TOOL}
    own = (_with_options(tool, given, shared, pool, place, common) for place, (tool, given) in enumerate(bases))
    options = [pair for calls in own for pair in enumerate(calls)]
    ranks = {tool.name: rank_of(tool) for tool in ranked}
    again = [Example(tool.name, _rewritten(given, shared), "odd") for tool, given in bases if rank_of(tool) == WRITES]
    options.sort(key=lambda pair: (ranks[pair[1].tool] != WRITES, pair[0]))
    known = {one.key for *_, one in found}
    more = [one for _, one in options if one.key not in known]
    reached = {one.tool for _, _, one in found}
    odd = [*_unknown(tool for tool in ranked if tool.name not in reached), *_odd(ranked, found, shared)]
    yield from ((ranks[one.tool], MOST_OF_TOOL, one) for one in (*again, *more[:MOST_OPTIONS], *odd))


def _with_named(found: _Ranked, tools: Iterable[Tool], refused: Mapping[str, str]) -> Iterator[_Ranked]:
    """Yield the call, if it was refused, with the parameters that the error names; and so on with this one's error."""
    rank, turn, call = found
    tool = next(one for one in tools if one.name == call.tool)
    while call.tries in ("", "option") and call.key in refused:
        lacking = [
            name
            for name in sorted(parameters(tool)[0].keys() - call.input.keys())
            if re.search(rf"\b{re.escape(name)}\b", refused[call.key])
        ]
        more = {name: _twin(name, call.input) or made_value(name, schema_of(tool, name), 0) for name in lacking}
        if not more or None in more.values():
            break
        call = call._replace(input={**call.input, **more}, tries="option")
        yield rank, turn, call


def _twin(name: str, given: Mapping[str, Any]) -> Any:
    """Return the list that a parameter is given whose name has another number, as `matrix1` of `matrix2`."""
    stem = name.rstrip("0123456789")
    return next((one for key, one in given.items() if isinstance(one, list) and key[:-1] == stem != name), None)


def _known_values(
    tool: Tool, written: Sequence[Mapping[str, Any]], shared: Iterable[str], missing: Collection[Missing]
) -> dict[str, Sequence[Any]]:
    """Return the values that the tool may know, by the name of its parameter.

    A file that it calls otherwise than the tools that write, but for its target, is one that was written.
    """
    given = {name: [one[name] for one in written if name in one] for name in sorted(shared)}
    files = [value for name, values in given.items() if _PATH.search(name) for value in values]
    named = [name for name in parameters(tool)[1] if _PATH.search(name) or _PATH.search(tool.name)]
    sources = [name for name in named if (_PATH.search(name) and not _TARGET.search(name)) or _SOURCE.fullmatch(name)]
    given = {**(dict.fromkeys(sources, files) if files else {}), **{name: own for name, own in given.items() if own}}
    words = [value for one in written for value in one.values() if _is_word(value)]
    return {name: _known(tool, name, own, words, missing) for name, own in given.items()}


def _known(
    tool: Tool, name: str, given: Sequence[Any], others: Iterable[str], missing: Collection[Missing]
) -> Sequence[Any]:
    """Return the values that the tool may know by this name: what was given for it, and if it lacked one, others."""
    unknown = [one.value for one in missing if (one.tool, one.name) == (tool.name, name)]
    return [value for value in (*given, *dict.fromkeys(others)) if value not in unknown] if unknown else given


def _with_old(given: dict[str, Any], contents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the input; a text that it replaces is a word of what was written by the same name."""
    old = [key for key, value in given.items() if re.search(OLD, key) and isinstance(value, str)]
    names = {key: value for key, value in given.items() if key not in old}
    fit = [one for one in contents if any(names.get(key) == value for key, value in one.items())]
    texts = [
        value for one in fit[:1] for value in one.values() if isinstance(value, str) and value not in names.values()
    ]
    words = [word for text in texts for word in re.findall(r"\w+", text)]
    return {**given, **dict.fromkeys(old, words[0])} if words else given


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w./-]{2,60}", value) is not None


def _with_options(
    tool: Tool,
    given: dict[str, Any],
    shared: Container[str],
    pool: Mapping[str, Any],
    place: int,
    common: Container[str],
) -> Iterator[Example]:
    """Yield a call with all other parameters, in which a range ends after its start, and calls with one more each.

    Each value that the schema lists for a required parameter gets a call, too; a parameter with the same ones has the
    next, as the two units of a conversion. One that writes something is repeated with another name.

    Where no value can be made, as of an id, it is what other calls give (`pool`). Of a parameter that many tools have
    (`common`), each tries one value, by its place. Where a parameter has several, as `mode: regex`, a text with special
    characters is tried with each.
    """
    properties, required = parameters(tool)
    number, names = 1, sorted(properties.keys() - given.keys())
    together = _together(tool, names, given)
    if len(together) > 1:
        base = _anew(given, shared, number) if rank_of(tool) == WRITES else given
        yield Example(tool.name, {**base, **together}, "option")
    listing = _listing(tool, given)
    for name in (*listing, *names):
        schema = schema_of(tool, name)
        texts = [key for key in sorted(required - {name}) if shown_values(schema) and _is_text(given.get(key))]
        values = _values(name, schema, given) or [*filter(None, [pool.get(name)])]
        if rank_of(tool) == CHANGES and name not in given and any(isinstance(one, str) for one in values):
            values.append("")
        for value in [values[place % len(values)]] if values and name in common else values:
            number += 1
            bases = [given]
            if rank_of(tool) == WRITES:
                bases.append(_anew(given, shared, number))
            elif rank_of(tool) == READS and texts:
                bases.append({**given, texts[0]: _ODD[1]})
            different = bases[: 1 if bases[-1] == given else None]
            more = {other: _after(value, listed_values(schema)) for other in listing.get(name, ())}
            yield from (Example(tool.name, {**base, name: value, **more}, "option") for base in different)


def _listing(tool: Tool, given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the required parameters whose schemas list values, each with others that list the same."""
    names = sorted(given.keys() & parameters(tool)[1])
    listed = {name: values for name in names if (values := listed_values(schema_of(tool, name)))}
    first = {name: next(one for one in listed if listed[one] == listed[name]) for name in listed}
    return {name: [other for other in first if first[other] == name != other] for name in dict.fromkeys(first.values())}


def _after(value: Any, values: Sequence[Any]) -> Any:
    return values[(values.index(value) + 1) % len(values)] if value in values else value


def _together(tool: Tool, names: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each of these parameters for which one can be made; whole numbers fall from 3 to 1."""
    made = {name: next(iter(_values(name, schema_of(tool, name), given, 0)), None) for name in names}
    low = {name: max(1, 3 - place) for place, name in enumerate(name for name, one in made.items() if _is_whole(one))}
    return {name: low.get(name, value) for name, value in made.items() if value is not None}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _values(name: str, schema: dict[str, Any], given: Mapping[str, Any], turn: int = 1) -> list[Any]:
    """Return values that the schema shows and that are not given already; else those by the parameter's type: a list of
    two and an empty one, a number other than the default.
    """
    shown = [one for one in shown_values(schema) if one not in (schema.get("default"), given.get(name))]
    if shown:
        return shown[: MOST_LISTED if name in given else MOST_VALUES]
    match made_value(name, schema, turn):
        case None:
            return []
        case bool():
            return [not schema.get("default")]
        case [{}]:
            conditions = (made_value(name, schema, turn) for turn in range(1, MOST_VALUES))
            return [*(one for one in conditions if one), []]
        case [one, other, *_]:
            return [[one, other], [], [_ODD[1]]] if isinstance(one, str) else [[one, other], []]
        case value:
            return [value]


def _anew(given: Mapping[str, Any], shared: Container[str], number: int) -> dict[str, Any]:
    """Return the input of a call that writes something, with another name for it."""
    return {
        key: f"{number}-{value}" if isinstance(value, str) and (key in shared or _NAME.search(key)) else value
        for key, value in given.items()
    }


def _odd(tools: Sequence[Tool], found: Iterable[tuple[int, int, Example]], shared: Container[str]) -> list[Example]:
    """Return calls in which one value is odd: it names nothing, is empty or negative, long, or has special characters.

    What writes something new gets no names of nothing; what removes something gets no empty ones.
    """
    first = {one.tool: one.input for _, _, one in reversed([*found])}
    calls = list[tuple[int, bool, Example]]()
    for tool in tools:
        rank, given = rank_of(tool), first.get(tool.name, {})
        for key, value in given.items():
            odd = [] if rank == WRITES and len(leaves(value)) < 2 else _nothing(key, value)
            edges = [] if rank == REMOVES or value in shown_values(schema_of(tool, key)) else _edges(value)
            odd += edges[:1] if OF_ID.search(key) else edges
            for place, one in enumerate(odd):
                base = _anew(given, shared, 20 + len(calls)) if rank == WRITES else given
                calls.append((place, key not in shared, Example(tool.name, {**base, key: one}, "odd")))
    return [one for *_, one in sorted(calls, key=lambda call: call[:2])][:MOST_ODD]


def _rewritten(given: Mapping[str, Any], shared: Container[str]) -> dict[str, Any]:
    """Return the input with longer texts for the same names."""
    texts = {key: value for key, value in given.items() if key not in shared and isinstance(value, str)}
    longer = {key: f"{text}\n{RICH}" for key, text in texts.items() if " " in text or re.search(PROSE, key)}
    return {**given, **longer}


def _unknown(tools: Iterable[Tool]) -> Iterator[Example]:
    """Yield calls of tools that want an id which the server gives to nothing, or which differs in each trial."""
    for tool in tools:
        properties, required = parameters(tool)
        kinds = {name: properties[name].get("type", "string") for name in required if OF_ID.search(name)}
        ids = {name: [NO_ID] if kind == "array" else NO_ID for name, kind in kinds.items() if kind in _OF_IDS}
        others = {name: made_value(name, schema_of(tool, name), 0) for name in required - ids.keys()}
        if ids and None not in others.values():
            yield Example(tool.name, {**ids, **others}, "unknown")


def _nothing(key: str, value: Any) -> list[Any]:
    """Return values that name nothing; for an id that the server gave, one of the same form."""
    if taken_from(value):
        return [NO_ID]
    if isinstance(value, list):
        return [[one] for one in _nothing(key, value[0])] if value else []
    if isinstance(value, dict):
        return [{**value, name: one} for name, inner in value.items() for one in _nothing(name, inner)]
    if not isinstance(value, str):
        return []
    of_server = OF_ID.search(key) and value not in ("first", "second") and value[::-1] != value
    return [value[::-1] if of_server else f"no-such-{key}"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value not in (*FILES, ".")


def _edges(value: Any) -> list[Any]:
    """Return values at the edge of what is allowed in place of this one."""
    match value:
        case bool():
            return []
        case int() | float():
            return [-1, 0]
        case [str(), *_]:
            return [[], [_ODD[1], value[0]]]
        case [int() | float(), *_]:
            return [[], [-abs(one) for one in value if isinstance(one, int | float)]]
        case str():
            return [*_ODD] if _is_text(value) else ["", *(f"{folder}/{value}" for folder in _FOLDERS if value in FILES)]
        case _:
            return []


def _in_order(found: Iterable[_Ranked]) -> list[Example]:
    """Return the calls turn by turn, then what removes something, and what reads the rest. `found` is as in one.

    What the first turn writes is there again for each tool that removes something. A part is removed before the whole:
    what names more comes first.
    """
    turns = sorted(found, key=lambda one: one[1])
    removing: dict[str, list[Example]] = {}
    for one in (one for rank, _, one in turns if rank == REMOVES):
        removing.setdefault(one.tool, []).append(one)
    others = [one for rank, _, one in turns if rank != REMOVES]
    writing = [one for rank, turn, one in turns if rank == WRITES and turn == 0]
    parts_first = sorted(removing.values(), key=lambda own: -len(leaves(own[0].input)))
    removed = [one for own in parts_first for one in (*writing, *own)]
    if not writing:
        return [*others, *removed]
    reading = [one for rank, turn, one in turns if rank == READS and turn < 2]
    reading = [one for place, one in enumerate(reading) if one[:2] not in [other[:2] for other in reading[:place]]]
    return [*(one for one in reading if not one.input), *others, *reading, *removed, *(reading if removing else ())]


def _made_call(
    tool: Tool,
    turn: int,
    shared: Container[str],
    answers: Sequence[str],
    written: Mapping[str, Sequence[Any]],
    sources: Sequence[str],
) -> Example | None:
    """Return a call with a value for each parameter that is required; None if one cannot be made.

    Names of what other tools use as well, in `shared`, come back in the turn after the next. Tools that read use those
    that were `written`. Ids are in `answers`, or taken from those of `sources`.
    """
    given, before = dict[str, Any](), list[list[Any]]()
    for place, name in enumerate(sorted(parameters(tool)[1])):
        schema = schema_of(tool, name)
        known = written.get(name, ()) if rank_of(tool) != WRITES else ()
        shown = [*folders_of(tool, name)] or [*known] or shown_values(schema)
        variant = turn % 2 if name in shared else 2 * turn + place + rank_of(tool)
        if OF_ID.search(name):
            variant = turn + sum(OF_ID.search(one) is not None for one in given)  # the other end of a link
        twins = before.count(shown)  # such as the two units of a conversion
        before.append(shown)
        given[name] = shown[(turn + twins) % len(shown)] if shown else made_value(name, schema, variant)
        if given[name] == TARGET:  # a new one each time
            given[name] = f"{tool.name}-{turn}-{TARGET}"
        if shown and schema.get("type") == "array" and isinstance(given[name], str):
            given[name] = [*dict.fromkeys((given[name], *shown))][:2]
        if given[name] is None:
            given[name] = told(name, schema, turn, answers) or taken(name, schema, sources, [*given.values()])
        if given[name] is None and name in shared and OF_ID.search(name):
            given[name] = ("first", "second")[turn % 2]
    return None if None in given.values() else Example(tool.name, given)


def _most_values(tool: Tool) -> int:
    """Return how many values the schema names for a required parameter, at most."""
    return max((len(shown_values(schema_of(tool, name))) for name in parameters(tool)[1]), default=0)


def _documented(
    tool: Tool, shown: Sequence[dict[str, Any]], tools: Sequence[Tool], refused: Container[str]
) -> list[Example]:
    """Return calls with the inputs of its schema among these objects: those with its name, else those with its required
    keys. What was refused comes last.

    If that is one key, no other of the tools may take it. A server's only tool takes what any function is given.
    """
    named = [value for value in shown if value.get("name", value.get("tool")) == tool.name]
    if not named and len(tools) == 1:
        named = [value for value in shown if isinstance(value.get("arguments"), list)]
    given = [value[key] for value in named for key in ("arguments", "input", "params") if key in value]
    fitting = [one for one in shown if _fits(tool, one)]
    if len(parameters(tool)[1]) == 1:
        fitting = [one for one in fitting if not any(_fits(other, one) for other in tools if other != tool)]
    given = [dict(zip(parameters(tool)[0], one, strict=False)) if isinstance(one, list) else one for one in given]
    inputs = [one for one in given if _is_valid(tool, one)] or [one for one in fitting if _is_valid(tool, one)]
    calls = [Example(tool.name, {key: _here(value) for key, value in one.items()}) for one in inputs]
    return sorted(calls, key=lambda one: one.key in refused)


def _is_valid(tool: Tool, given: Any) -> bool:
    """Return True for an input of the tool's schema, whatever else it has."""
    known = {key: given[key] for key in parameters(tool)[0] if key in given} if isinstance(given, dict) else {}
    return isinstance(given, dict) and not input_fault(tool.schema, known)


def _fits(tool: Tool, given: Mapping[str, Any]) -> bool:
    properties, required = parameters(tool)
    return bool(required) and required <= given.keys() <= properties.keys()


def _here(value: Any) -> Any:
    """Return the value; a path of another machine becomes an absolute one of the current folder."""
    place = local(value) if isinstance(value, str) else value
    return value if place == value else HERE.rstrip("/") if place == "." else HERE + place


def step(call: Example) -> dict[str, Any]:
    """Return the call as a step of the agent `scripted`."""
    return {"call": call.tool, **({"input": call.input} if call.input else {})}
