"""Mutants of the tool under test: which there are, what each changes, and which recorded calls meet it. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidegate.decide.surface.parts import command_of, commands, json_keys
from tidegate.model.proof import Mutant
from tidegate.model.surface import ObservedCall, Part
from tidegate.trial import mutation as change
from tidegate.trial.mutation import Result, is_help, value_of

MOST_CHOICES, MOST_SEEN = 6, 2  # values of one option: listed ones, and of others those in recorded calls

OF_OUTPUT: Mapping[str, str] = {
    "exit_fails": "{of} exits with 1",
    "exit_succeeds": "{of} exits with 0 where it fails",
    "error_emptied": "{of} fails without a message",
    "line_dropped": "the last line of the output of {of} is missing",
    "lines_reversed": "{of} prints its lines in reverse order",
    "number_changed": "{of} prints a wrong number",
    "warning_printed": "{of} prints a warning before its output",
    "word_replaced": "the first word of the output of {of} is another",
    "output_emptied": "{of} prints nothing",
    "middle_changed": "{of} prints a wrong value in the middle",
}
OF_INPUT: Mapping[str, str] = {"input_fails": "`{call}` exits with 1", "input_crashes": "`{call}` crashes"}
OF_KEY: Mapping[str, str] = {
    "json_key_renamed": "is renamed",
    "json_key_dropped": "is gone",
    "json_key_retyped": "has another type",
    "json_value_wrong": "has wrong values",
}
OF_ARGUMENTS: Mapping[str, str] = {
    "options_first": "{of} takes no options after its arguments",
    "argument_refused": "{of} takes an option instead of its last argument",
}
OF_JSON: Mapping[str, str] = {
    "json_wrapped": "{of} prints its JSON inside another object",
    "json_list_cut": "{of} prints only the first entry of lists in its JSON",
}
OF_EFFECT: Mapping[str, str] = {
    "effect_lost": "{of} reports success and changes nothing",
    "crashes_after": "{of} crashes after its effect",
    "prompts": "{of} asks for confirmation",
    "written_cut": "the files that {of} writes are cut in the middle",
}


def of_values(parts: Sequence[Part], calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    """Yield the mutants of a command-line tool's options."""
    names = commands(parts)
    for part in parts:
        if part.kind == "option":
            own = [call for call in calls if not part.command or command_of(call.argv, names) == part.command]
            for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else _seen(part, own):
                words = f"`{part.name} {value}` is refused by `{part.command or binary}`"
                yield _of_kind("value_refused", words, part, value)
            if part.command or not names:
                yield from _defaults(part, binary)


def of_parameter(part: Part) -> Iterator[Mutant]:
    """Yield the mutants of a parameter of an MCP tool."""
    of = f"`{part.name}` of `{part.command}`"
    for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else ():
        yield _of_kind("value_refused", f"{value} is refused for {of}", part, value)
    if part.default:
        choices = [json.loads(one) for one in part.choices]
        new = _other(json.loads(part.default), choices)
        if new is not None:
            words = f"the default of {of} is {json.dumps(new)}, not {part.default}"
            yield _of_kind("default_changed", words, part, json.dumps(new))


def _defaults(part: Part, binary: str) -> Iterator[Mutant]:
    of = f"`{part.command or binary}`"
    if not part.takes_value:
        pair = any(name.startswith("--no-") for name in part.aliases)  # one of them is the default
        if not pair:
            yield _of_kind("default_changed", f"`{part.name}` is on by default in {of}", part, "")
    elif part.default:
        known = int(part.default) if part.default.isdecimal() and not part.choices else part.default
        new = _other(known, part.choices)
        if new is not None:
            words = f"the default of `{part.name}` of {of} is {new}, not {part.default}"
            yield _of_kind("default_changed", words, part, str(new))


def _seen(part: Part, calls: Sequence[ObservedCall]) -> list[str]:
    """Return values that recorded calls give to the option."""
    option = {"name": part.name, "aliases": part.aliases, "takes_value": part.takes_value}
    given = [value_of(option, list(call.argv)) for call in calls if part.takes_value and not is_help(list(call.argv))]
    return [value for value in dict.fromkeys(given) if value and len(value) <= 40][:MOST_SEEN]


def _other(default: Any, choices: Sequence[Any]) -> Any:
    """Return another value: the next choice, the opposite, or one more; None if none is known to be valid."""
    if choices:
        return next((one for one in choices if one != default), None)
    if isinstance(default, bool):
        return not default
    return default + 1 if isinstance(default, int | float) else None


def _of_kind(kind: str, words: str, part: Part, value: str) -> Mutant:
    fields = {"name": part.name, "aliases": part.aliases, "takes_value": part.takes_value, "default": part.default}
    return Mutant.model_validate({"kind": kind, "words": words, "command": part.command, "value": value, **fields})


# The wrapper does something else than to change arguments or outputs, or the state depends on the kind.
_OTHERWISE = frozenset(
    (*("effect_lost", "written_cut", "crashes_after", "hangs", "option_ignored", "default_changed"),)
)


def meets(mutant: Mutant, call: ObservedCall) -> bool:
    """Return True if the call of a command-line tool would get or do something else with the mutant."""
    data, argv = mutant.model_dump(mode="json"), list(call.argv)
    if mutant.kind in ("prompts", "effect_lost", "written_cut", "crashes_after"):
        return bool(call.written) and call.exit_code == 0 and change.meets(data, argv) and not change.is_help(argv)
    if mutant.kind == "hangs":
        return change.meets(data, argv) and not change.is_help(argv)
    given, instead = change.before(data, argv)
    result = (call.exit_code, call.stdout, call.stderr)
    return instead is not None or given != argv or change.after(data, argv, result) != result


def server_meets(mutant: Mutant, call: ObservedCall, *, lists: bool) -> bool:
    """Return True if the call of an MCP server meets the mutant. `lists`: the agent's script records the tool list."""
    listed = call.argv[0] == "tools/list" and lists
    changes_list = mutant.kind in ("tool_removed", "tool_renamed", "parameter_renamed", "parameter_required")
    if mutant.kind == "description_emptied":
        return call.argv[0] == "tools/list"
    if listed and changes_list:
        return True
    if call.argv[0] != (mutant.name if mutant.kind.startswith("tool_") else mutant.command):
        return False
    if mutant.kind not in ("parameter_renamed", "value_refused", "default_changed"):
        return True
    given = json.loads(call.argv[1])
    if mutant.kind == "value_refused":
        return mutant.name in given and given[mutant.name] == json.loads(mutant.value)
    return (mutant.name in given) is (mutant.kind == "parameter_renamed")


def done_to(mutant: Mutant, calls: Iterable[ObservedCall]) -> Hashable | None:
    """Return what a mutant of a command-line tool does to recorded calls; None if they do not show all that it does."""
    if mutant.kind in _OTHERWISE or mutant.file:
        return None
    data = mutant.model_dump(mode="json")
    return tuple(_done_to(data, call) for call in calls)


def _done_to(data: dict[str, object], call: ObservedCall) -> tuple[tuple[str, ...] | None, Result]:
    """Return the arguments that the tool gets, None if it is not called, and the result that the caller gets."""
    argv = list(call.argv)
    given, instead = change.before(data, argv)
    was = call.was or (call.exit_code, call.stdout, call.stderr)
    return None if instead else tuple(given), change.after(data, argv, instead or was)


MOST_KEYS, MOST_INPUTS = 30, 12  # of one subcommand
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]{2,}")
_FENCE = re.compile(r"^\s*(```|~~~)")
_PROMPT = re.compile(r"^\s*\$ ")


def of_program(parts: Sequence[Part], calls: Sequence[ObservedCall], binary: str) -> tuple[Mutant, ...]:
    """Return the mutants of a command-line tool."""
    names = commands(parts)
    asked = {command_of(call.argv, names) for call in calls if is_help(list(call.argv))}
    found = [*_of_parts(parts, binary, asked), *of_values(parts, calls, binary)]
    used: dict[str, list[ObservedCall]] = {}
    for call in calls:
        if not is_help(list(call.argv)):
            used.setdefault(command_of(call.argv, names), []).append(call)
    for command, own in used.items():
        if command or not names:
            shown = (*_of_outputs(command, own, binary), *_of_arguments(command, binary))
            shown = tuple(one.model_copy(update={"commands": names}) for one in shown)
            found += [one for one in shown if any(meets(one, call) for call in own)]
            found += _of_effects(command, own, binary)
    shown_of = {
        command for command, own in used.items() if any(call.exit_code == 0 or call.stdout.strip() for call in own)
    }
    for command in sorted({*names, *(() if names else ("",))} - shown_of):
        if not any(name.startswith(f"{command} ") for name in names):  # it has no subcommands of its own
            found.append(_mutant("exit_fails", f"`{command or binary}` exits with 1", command))
            found.append(_mutant("output_emptied", f"`{command or binary}` prints nothing", command))
    often = Counter({command: len(own) for command, own in used.items() if command or not names}).most_common(1)
    for command, _ in often:
        found.append(_mutant("hangs", f"`{command or binary}` never ends", command))
    return tuple(one.model_copy(update={"commands": names}) for one in found)


def of_server(parts: Sequence[Part], calls: Sequence[ObservedCall], *, read: bool) -> tuple[Mutant, ...]:
    """Return the mutants of an MCP server. `read`: an agent with a model reads the descriptions of its tools."""
    found: list[Mutant] = []
    called = {call.argv[0] for call in calls}
    for part in parts:
        name, tool = part.name, part.command
        if part.kind == "tool":
            found += [
                _mutant("tool_removed", f"the tool `{name}` is gone", name, name=name),
                _mutant("tool_renamed", f"the tool `{name}` is renamed", name, name=name),
                _mutant("parameter_required", f"`{name}` requires one more parameter", name),
            ]
            if read:
                found.append(_mutant("description_emptied", f"the description of `{name}` is empty", name))
            found.append(_mutant("result_emptied", f"`{name}` returns an empty result", name))
            if name in called:
                found += [
                    _mutant("error_flag_flipped", f"results of `{name}` are marked as errors", name),
                    _mutant("result_reshaped", f"`{name}` wraps its result in JSON", name),
                ]
        elif part.kind == "parameter":
            words = f"the parameter `{name}` of `{tool}` is renamed"
            found.append(_mutant("parameter_renamed", words, tool, name=name))
            found += of_parameter(part)
    return tuple(found)


def of_guidance(
    texts: Mapping[str, str], binary: str = "", names: Sequence[str] = (), *, read: bool
) -> tuple[Mutant, ...]:
    """Return the mutants of guidance files. `names`: of the program's subcommands.

    Without `read`, what is outside of code blocks that name the program is left out: no agent reads it.
    """
    found: list[Mutant] = []
    for file, text in texts.items():
        for heading, lines in sections(text):
            if read or any(_blocks(lines, binary)):
                words = f"{file}: the section “{heading}” is gone"
                found.append(_mutant("section_dropped", words, name=heading, file=file))
        for example in examples(text, binary) if binary else ():
            words = f"{file}: the example “{example}” is gone"
            found.append(_mutant("example_dropped", words, name=example, file=file))
        seen = text if read else "\n".join(_blocks(text.splitlines(), binary))
        for flag in dict.fromkeys(_FLAG.findall(seen)):
            words = f"{file}: `{flag}` is misspelt"
            found.append(_mutant("flag_misspelt", words, name=flag, file=file))
        for call in (f"{binary} {name}" for name in names if binary):
            if re.search(rf"(?<![\w-]){re.escape(call)}(?![\w-])", text):
                words = f"{file}: `{call}` is misspelt"
                found.append(_mutant("subcommand_misspelt", words, name=call, file=file))
    return tuple(found)


def changed_guidance(mutant: Mutant, text: str) -> str:
    """Return the text of the guidance file as the mutant has it."""
    if mutant.kind in ("flag_misspelt", "subcommand_misspelt"):
        word = mutant.name.rfind(" ") + 1  # only the subcommand of a call is misspelt
        middle = word + (len(mutant.name) - word) // 2 + (not word)
        wrong = mutant.name[:middle] + mutant.name[middle + 1 :]
        return re.sub(rf"(?<![\w-]){re.escape(mutant.name)}(?![\w-])", wrong, text)
    if mutant.kind == "example_dropped":
        return "".join(line for line in text.splitlines(keepends=True) if _PROMPT.sub("", line).strip() != mutant.name)
    parts = [*sections(text)]
    start = text.splitlines()[: len(text.splitlines()) - sum(len(lines) for _, lines in parts)]
    dropped = next((number for number, (heading, _) in enumerate(parts) if heading == mutant.name), -1)
    kept = [line for number, (_, lines) in enumerate(parts) if number != dropped for line in lines]
    return "\n".join([*start, *kept]) + "\n"


def examples(text: str, binary: str) -> tuple[str, ...]:
    """Return the calls of the program in the code blocks of a Markdown text."""
    found, fenced = dict[str, None](), False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        call = _PROMPT.sub("", line).strip()
        if fenced and re.match(rf"{re.escape(binary)}(?![\w-])", call):
            found[call] = None
    return tuple(found)


def _blocks(lines: Iterable[str], binary: str) -> Iterator[str]:
    """Yield the code blocks of Markdown that name the program; all if it has no name."""
    block: list[str] | None = None
    for line in lines:
        if not _FENCE.match(line):
            if block is not None:
                block.append(line)
        elif block is None:
            block = []
        else:
            code, block = "\n".join(block), None
            if re.search(rf"(?<![\w-]){re.escape(binary)}(?![\w-])", code):
                yield code


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading of a Markdown text with its lines, up to the next heading."""
    heading, lines, fenced = "", list[str](), False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        found = None if fenced else _HEADING.match(line)
        if found and heading:
            yield heading, lines
        if found:
            heading, lines = found[2], []
        if heading:
            lines.append(line)
    if heading:
        yield heading, lines


def _of_parts(parts: Sequence[Part], binary: str, asked: Iterable[str]) -> Iterator[Mutant]:
    for part in parts:
        name, command = part.name, part.command
        of = f"`{command or binary}`"
        if part.kind == "subcommand":
            yield _mutant("subcommand_removed", f"`{name}` is gone", name=name)
            yield _mutant("subcommand_renamed", f"`{name}` is renamed", name=name)
        elif part.kind == "option":
            option = {"name": name, "aliases": part.aliases, "takes_value": part.takes_value}
            yield _mutant("option_ignored", f"`{name}` is ignored by {of}", command, **option)
            yield _mutant("option_removed", f"`{name}` is no longer taken by {of}", command, **option)
            yield _mutant("option_renamed", f"`{name}` of {of} is renamed", command, **option)
            yield _mutant("option_required", f"`{name}` of {of} has to be given", command, **option)
            for alias in part.aliases:
                words = f"`{alias}` for `{name}` is no longer taken by {of}"
                yield _mutant("alias_removed", words, command, name=alias, takes_value=part.takes_value)
            if command in asked:
                yield _mutant("help_dropped", f"the help of {of} no longer lists `{name}`", command, **option)


def _of_outputs(command: str, calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    """Yield changes of what calls print, some of which may change nothing in these calls."""
    name = f"`{command or binary}`"
    for kind, words in OF_OUTPUT.items():
        yield _mutant(kind, words.format(of=name), command)
    of_results = {(call.exit_code, call.stdout): call.argv for call in reversed(calls)}  # equal ones show nothing more
    for argv in list(dict.fromkeys(reversed(of_results.values())))[:MOST_INPUTS]:
        for kind, words in OF_INPUT.items():
            shown = words.format(call=shlex.join([binary, *argv]))
            yield _mutant(kind, shown, command, value=change.JOIN.join(argv))
    keys = dict.fromkeys(key for call in calls for key in json_keys(call.stdout))
    for key in [*keys][:MOST_KEYS]:
        for kind, words in OF_KEY.items():
            yield _mutant(kind, f"{name}: key `{key}` {words}", command, name=key)
    for kind, words in OF_JSON.items() if keys else ():
        yield _mutant(kind, words.format(of=name), command)


def _of_arguments(command: str, binary: str) -> Iterator[Mutant]:
    for kind, words in OF_ARGUMENTS.items():
        yield _mutant(kind, words.format(of=f"`{command or binary}`"), command)


def _of_effects(command: str, calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    of = f"`{command or binary}`"
    if any(call.written for call in calls):
        for kind, words in OF_EFFECT.items():
            yield _mutant(kind, words.format(of=of), command)


def _mutant(kind: str, words: str, command: str = "", **fields: object) -> Mutant:
    return Mutant.model_validate({"kind": kind, "words": words, "command": command, **fields})
