"""The kinds of mutants, in words. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidegate.decide.surface.parts import command_of, commands
from tidegate.model.mutant import Mutant, MutantKind
from tidegate.model.surface import ObservedCall, Part
from tidegate.trial.mutation import is_help, value_of

MOST_CHOICES, MOST_SEEN = 6, 2  # values of one option: listed ones, and of others those in recorded calls
# What each kind does, in the words of docs/prove.md.
KINDS: Mapping[MutantKind, str] = {
    "option_removed": "an option is refused, and gone from the help",
    "option_ignored": "an option is accepted and has no effect",
    "option_renamed": "an option has another name, in the help too",
    "option_required": "an option has to be given",
    "alias_removed": "another name of an option, such as its short one, is refused, and gone from the help",
    "options_first": "options are refused after the arguments",
    "value_refused": "a value of an option or parameter is refused, and gone from the help",
    "value_swapped": "a value of an option is taken for another",
    "default_changed": "an option or parameter that is not given has another value, or a switch is on",
    "arguments_swapped": "the last two arguments are taken in the other order",
    "argument_cut": "of an argument with spaces only the first word is taken",
    "argument_lowered": "capital letters of arguments are lost",
    "argument_refused": "the last argument is refused, since an option takes its place",
    "subcommand_removed": "a subcommand is gone",
    "subcommand_renamed": "a subcommand has another name, in the help too",
    "exit_fails": "a call that worked exits with 1",
    "exit_succeeds": "a call that failed exits with 0",
    "exit_changed": "a call that failed exits with another code",
    "error_emptied": "a failed call prints no message",
    "error_wrong": "a failed call prints a message that does not help",
    "json_key_renamed": "a key of JSON output has another name",
    "json_key_dropped": "a key of JSON output is gone",
    "json_key_retyped": "a key of JSON output has values of another type",
    "json_value_wrong": "a key of JSON output has wrong values",
    "json_value_null": "a key of JSON output is null",
    "json_wrapped": "JSON output is inside another object",
    "json_reformatted": "JSON output is on one line, or no longer is",
    "json_list_cut": "lists in JSON output have only their first entry",
    "json_list_reversed": "lists in JSON output are in reverse order",
    "line_dropped": "the last line of output is missing",
    "first_line_dropped": "the first line of output is missing",
    "lines_reversed": "the lines of output are in reverse order",
    "lines_cut": "the lines of output are cut after 20 characters",
    "number_changed": "the first number of the output is wrong",
    "coloured": "the output has codes for colours",
    "warning_printed": "a warning comes before the output",
    "warning_on_stderr": "a warning comes on stderr",
    "lines_prefixed": "each line of output begins with `INFO: `",
    "line_ends_changed": "lines of output end as on Windows",
    "letters_lowered": "the output has no capital letters",
    "spaces_doubled": "words of the output are further apart",
    "word_replaced": "the first word of the output is another",
    "output_repeated": "the output comes twice",
    "output_truncated": "the second half of the output is missing",
    "output_emptied": "the output is empty",
    "help_dropped": "the help no longer lists an option, which still works",
    "streams_swapped": "output goes to stderr, and messages to stdout",
    "prompts": "a call that changes files asks for confirmation first",
    "slower": "a call takes ten times as long",
    "hangs": "a call never ends",
    "crashes_after": "a call crashes after its effect, without output",
    "effect_lost": "a call reports success and changes nothing",
    "effect_twice": "a call takes effect twice",
    "written_cut": "the files that a call writes lose their second half",
    "written_renamed": "the files that a call writes have other names",
    "works_once": "a call works only once in a trial",
    "section_dropped": "a section of a guidance file is gone",
    "example_dropped": "a command is missing from an example of a guidance file",
    "flag_misspelt": "a guidance file misspells an option",
    "subcommand_misspelt": "a guidance file misspells a subcommand",
    "tool_removed": "an MCP tool is gone",
    "tool_renamed": "an MCP tool has another name",
    "parameter_renamed": "a parameter of an MCP tool has another name",
    "parameter_required": "an MCP tool requires one more parameter",
    "description_emptied": "the description of an MCP tool is empty",
    "error_flag_flipped": "results of an MCP tool are marked as errors, and errors as results",
    "result_reshaped": "an MCP tool wraps its result in JSON",
    "result_emptied": "an MCP tool returns an empty result",
}

OF_OUTPUT: Mapping[MutantKind, str] = {
    "exit_fails": "{of} exits with 1",
    "exit_succeeds": "{of} exits with 0 where it fails",
    "exit_changed": "{of} exits with another code where it fails",
    "error_emptied": "{of} fails without a message",
    "error_wrong": "{of} fails with “something went wrong”",
    "line_dropped": "the last line of the output of {of} is missing",
    "first_line_dropped": "the first line of the output of {of} is missing",
    "lines_reversed": "{of} prints its lines in reverse order",
    "lines_cut": "{of} cuts its lines after 20 characters",
    "number_changed": "{of} prints a wrong number",
    "coloured": "{of} prints codes for colours",
    "warning_printed": "{of} prints a warning before its output",
    "warning_on_stderr": "{of} prints a warning to stderr",
    "lines_prefixed": "{of} prints `INFO: ` before each line",
    "line_ends_changed": "{of} ends its lines as on Windows",
    "letters_lowered": "{of} prints no capital letters",
    "spaces_doubled": "{of} prints its words further apart",
    "word_replaced": "the first word of the output of {of} is another",
    "output_repeated": "{of} prints its output twice",
    "output_truncated": "the output of {of} ends in the middle",
    "output_emptied": "{of} prints nothing",
    "streams_swapped": "{of} prints its output to stderr",
}
OF_KEY: Mapping[MutantKind, str] = {
    "json_key_renamed": "is renamed",
    "json_key_dropped": "is gone",
    "json_key_retyped": "has another type",
    "json_value_wrong": "has wrong values",
    "json_value_null": "is null",
}
OF_ARGUMENTS: Mapping[MutantKind, str] = {
    "options_first": "{of} takes no options after its arguments",
    "arguments_swapped": "{of} takes its last two arguments in the other order",
    "argument_cut": "{of} takes only the first word of an argument with spaces",
    "argument_lowered": "{of} loses the capital letters of its arguments",
    "argument_refused": "{of} takes an option instead of its last argument",
}
OF_JSON: Mapping[MutantKind, str] = {
    "json_wrapped": "{of} prints its JSON inside another object",
    "json_reformatted": "{of} prints its JSON with other spaces",
    "json_list_cut": "{of} prints only the first entry of lists in its JSON",
    "json_list_reversed": "{of} prints lists in its JSON in reverse order",
}
OF_EFFECT: Mapping[MutantKind, str] = {
    "effect_lost": "{of} reports success and changes nothing",
    "crashes_after": "{of} crashes after its effect",
    "prompts": "{of} asks for confirmation",
    "effect_twice": "{of} takes effect twice",
    "written_cut": "the files that {of} writes are cut in the middle",
    "written_renamed": "the files that {of} writes have other names",
}


def of_values(parts: Sequence[Part], calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    """Yield the mutants of a command-line tool's options."""
    names = commands(parts)
    for part in parts:
        if part.kind == "option":
            own = [call for call in calls if not part.command or command_of(call.argv, names) == part.command]
            for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else _seen(part, own):
                words = f"`{part.name} {value}` is refused by `{part.command or binary}`"
                yield _mutant("value_refused", words, part, value)
                if (other := _other(value, part.choices)) is not None and len(part.choices) > 1:
                    words = f"`{part.name} {value}` of `{part.command or binary}` is taken as {other}"
                    swapped = _mutant("value_swapped", words, part, value)
                    yield swapped.model_copy(update={"default": other})
            if part.command or not names:
                yield from _defaults(part, binary)


def of_parameter(part: Part) -> Iterator[Mutant]:
    """Yield the mutants of a parameter of an MCP tool."""
    of = f"`{part.name}` of `{part.command}`"
    for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else ():
        yield _mutant("value_refused", f"{value} is refused for {of}", part, value)
    if part.default:
        choices = [json.loads(one) for one in part.choices]
        new = _other(json.loads(part.default), choices)
        if new is not None:
            words = f"the default of {of} is {json.dumps(new)}, not {part.default}"
            yield _mutant("default_changed", words, part, json.dumps(new))


def _defaults(part: Part, binary: str) -> Iterator[Mutant]:
    of = f"`{part.command or binary}`"
    if not part.takes_value:
        pair = any(name.startswith("--no-") for name in part.aliases)  # one of them is the default
        if not pair:
            yield _mutant("default_changed", f"`{part.name}` is on by default in {of}", part, "")
    elif part.default:
        known = int(part.default) if part.default.isdecimal() and not part.choices else part.default
        new = _other(known, part.choices)
        if new is not None:
            words = f"the default of `{part.name}` of {of} is {new}, not {part.default}"
            yield _mutant("default_changed", words, part, str(new))


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


def _mutant(kind: MutantKind, words: str, part: Part, value: str) -> Mutant:
    fields = {"name": part.name, "aliases": part.aliases, "takes_value": part.takes_value, "default": part.default}
    return Mutant.model_validate({"kind": kind, "words": words, "command": part.command, "value": value, **fields})
