"""List the mutants of a tool: from its surface, its recorded calls, and its guidance files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.decide.surface.parts import command_of, commands, json_keys
from tidegate.lab.mutants.kinds import OF_ARGUMENTS, OF_EFFECT, OF_JSON, OF_KEY, OF_OUTPUT, of_parameter, of_values
from tidegate.lab.mutants.met import meets
from tidegate.model.mutant import Mutant, MutantKind
from tidegate.model.surface import ObservedCall, Part
from tidegate.trial.mutation import is_help

MOST_KEYS = 30  # of one subcommand
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
    if Counter(call.home for call in calls).most_common(1)[0][1] > 1:
        yield _mutant("works_once", f"{of} works only once", command)


def _mutant(kind: MutantKind, words: str, command: str = "", **fields: object) -> Mutant:
    return Mutant.model_validate({"kind": kind, "words": words, "command": command, **fields})
