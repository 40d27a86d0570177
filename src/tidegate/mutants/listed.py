"""List the mutants of a tool: from its surface, its recorded calls, and its guidance files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.model.mutant import Mutant, MutantKind
from tidegate.model.surface import ObservedCall, Part
from tidegate.mutants.change import is_help
from tidegate.mutants.values import of_parameter, of_values
from tidegate.surface.parts import command_of, commands, json_keys

MOST_KEYS = 30  # of one subcommand
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]{2,}")
_FENCE = re.compile(r"^\s*(```|~~~)")

# What each kind does, in the words of docs/prove.md.
KINDS: Mapping[MutantKind, str] = {
    "option_removed": "an option is refused, and gone from the help",
    "option_ignored": "an option is accepted and has no effect",
    "option_renamed": "an option has another name, in the help too",
    "value_refused": "a value of an option or parameter is refused, and gone from the help",
    "default_changed": "an option or parameter that is not given has another value, or a switch is on",
    "subcommand_removed": "a subcommand is gone",
    "subcommand_renamed": "a subcommand has another name, in the help too",
    "exit_fails": "a call that worked exits with 1",
    "exit_succeeds": "a call that failed exits with 0",
    "error_emptied": "a failed call prints no message",
    "error_wrong": "a failed call prints a message that does not help",
    "json_key_renamed": "a key of JSON output has another name",
    "json_key_dropped": "a key of JSON output is gone",
    "json_key_retyped": "a key of JSON output has values of another type",
    "line_dropped": "the last line of output is missing",
    "output_truncated": "the second half of the output is missing",
    "output_emptied": "the output is empty",
    "help_dropped": "the help no longer lists an option, which still works",
    "streams_swapped": "output goes to stderr, and messages to stdout",
    "prompts": "a call that changes files asks for confirmation first",
    "slower": "a call takes ten times as long",
    "hangs": "a call never ends",
    "crashes_after": "a call crashes after its effect, without output",
    "effect_lost": "a call reports success and changes nothing",
    "section_dropped": "a section of a guidance file is gone",
    "flag_misspelt": "a guidance file misspells an option",
    "tool_removed": "an MCP tool is gone",
    "tool_renamed": "an MCP tool has another name",
    "parameter_renamed": "a parameter of an MCP tool has another name",
    "parameter_required": "an MCP tool requires one more parameter",
    "description_emptied": "the description of an MCP tool is empty",
    "error_flag_flipped": "results of an MCP tool are marked as errors, and errors as results",
    "result_reshaped": "an MCP tool wraps its result in JSON",
    "result_emptied": "an MCP tool returns an empty result",
}


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
            found += _of_outputs(command, own, binary)
            found += _of_effects(command, own, binary)
    for command in sorted(set(names) - set(used)):
        if not any(name.startswith(f"{command} ") for name in names):  # it has no subcommands of its own
            found.append(_mutant("exit_fails", f"`{command}` exits with 1", command))
            found.append(_mutant("output_emptied", f"`{command}` prints nothing", command))
    often = Counter({command: len(own) for command, own in used.items() if command or not names}).most_common(1)
    for command, _ in often:
        found.append(_mutant("slower", f"`{command or binary}` takes ten times as long", command))
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
            if name in called:
                found += [
                    _mutant("error_flag_flipped", f"results of `{name}` are marked as errors", name),
                    _mutant("result_reshaped", f"`{name}` wraps its result in JSON", name),
                    _mutant("result_emptied", f"`{name}` returns an empty result", name),
                ]
        elif part.kind == "parameter":
            words = f"the parameter `{name}` of `{tool}` is renamed"
            found.append(_mutant("parameter_renamed", words, tool, name=name))
            found += of_parameter(part)
    return tuple(found)


def of_guidance(texts: Mapping[str, str], *, read: bool) -> tuple[Mutant, ...]:
    """Return the mutants of guidance files. Without `read`, sections without examples are left out: no agent reads
    them.
    """
    found: list[Mutant] = []
    for file, text in texts.items():
        for heading, lines in sections(text):
            if read or any(_FENCE.match(line) for line in lines):
                words = f"{file}: the section “{heading}” is gone"
                found.append(_mutant("section_dropped", words, name=heading, file=file))
        for flag in dict.fromkeys(_FLAG.findall(text)):
            words = f"{file}: `{flag}` is misspelt"
            found.append(_mutant("flag_misspelt", words, name=flag, file=file))
    return tuple(found)


def changed_guidance(mutant: Mutant, text: str) -> str:
    """Return the text of the guidance file as the mutant has it."""
    if mutant.kind == "flag_misspelt":
        middle = len(mutant.name) // 2 + 1
        wrong = mutant.name[:middle] + mutant.name[middle + 1 :]
        return re.sub(rf"(?<![\w-]){re.escape(mutant.name)}(?![\w-])", wrong, text)
    parts = [*sections(text)]
    start = text.splitlines()[: len(text.splitlines()) - sum(len(lines) for _, lines in parts)]
    dropped = next((number for number, (heading, _) in enumerate(parts) if heading == mutant.name), -1)
    kept = [line for number, (_, lines) in enumerate(parts) if number != dropped for line in lines]
    return "\n".join([*start, *kept]) + "\n"


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
            if command in asked:
                yield _mutant("help_dropped", f"the help of {of} no longer lists `{name}`", command, **option)


def _of_outputs(command: str, calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    name = f"`{command or binary}`"
    worked = [call for call in calls if call.exit_code == 0]
    failed = [call for call in calls if call.exit_code]
    if worked:
        yield _mutant("exit_fails", f"{name} exits with 1", command)
    if failed:
        yield _mutant("exit_succeeds", f"{name} exits with 0 where it fails", command)
    if any(call.stderr or call.stdout for call in failed):
        yield _mutant("error_emptied", f"{name} fails without a message", command)
        yield _mutant("error_wrong", f"{name} fails with “something went wrong”", command)
    keys = dict.fromkeys(key for call in calls for key in json_keys(call.stdout))
    for key in [*keys][:MOST_KEYS]:
        yield _mutant("json_key_renamed", f"{name}: key `{key}` is renamed", command, name=key)
        yield _mutant("json_key_dropped", f"{name}: key `{key}` is gone", command, name=key)
        yield _mutant("json_key_retyped", f"{name}: key `{key}` has another type", command, name=key)
    if any(call.stdout.count("\n") > 1 for call in worked):
        yield _mutant("line_dropped", f"the last line of the output of {name} is missing", command)
    if any(call.stdout for call in worked):
        yield _mutant("output_truncated", f"the output of {name} ends in the middle", command)
        yield _mutant("output_emptied", f"{name} prints nothing", command)
    if any(call.stdout != call.stderr for call in calls):
        yield _mutant("streams_swapped", f"{name} prints its output to stderr", command)


def _of_effects(command: str, calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    if any(call.written for call in calls):
        name = f"`{command or binary}`"
        yield _mutant("effect_lost", f"{name} reports success and changes nothing", command)
        yield _mutant("crashes_after", f"{name} crashes after its effect", command)
        yield _mutant("prompts", f"{name} asks for confirmation", command)


def _mutant(kind: MutantKind, words: str, command: str = "", **fields: object) -> Mutant:
    return Mutant.model_validate({"kind": kind, "words": words, "command": command, **fields})
