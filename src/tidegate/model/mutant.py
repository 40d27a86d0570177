"""A mutant: the tool under test or its docs with one change, as the wrapper in front of the tool makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from tidegate.model.field_types import only
from tidegate.model.value import Value

# What each kind does, in the words of docs/prove.md.
KINDS: Mapping[str, str] = {
    "option_removed": "an option is refused, and gone from the help",
    "option_ignored": "an option is accepted and has no effect",
    "option_renamed": "an option has another name, in the help too",
    "option_required": "an option has to be given",
    "alias_removed": "another name of an option, such as its short one, is refused",
    "options_first": "options are refused after the arguments",
    "value_refused": "a value of an option or parameter is refused",
    "default_changed": "an option or parameter that is not given has another value, or a switch is on",
    "argument_refused": "the last argument is refused, since an option takes its place",
    "subcommand_removed": "a subcommand is gone",
    "subcommand_renamed": "a subcommand has another name, in the help too",
    "exit_fails": "a call that worked exits with 1",
    "exit_succeeds": "a call that failed exits with 0",
    "error_emptied": "a failed call prints no message",
    "json_key_renamed": "a key of JSON output has another name",
    "json_key_dropped": "a key of JSON output is gone",
    "json_key_retyped": "a key of JSON output has values of another type",
    "json_value_wrong": "a key of JSON output has wrong values",
    "json_wrapped": "JSON output is inside another object",
    "json_list_cut": "lists in JSON output have only their first entry",
    "line_dropped": "the last line of output is missing",
    "lines_reversed": "the lines of output are in reverse order",
    "number_changed": "the first number of the output is wrong",
    "warning_printed": "a warning comes before the output",
    "word_replaced": "the first word of the output is another",
    "output_emptied": "the output is empty",
    "help_dropped": "the help no longer lists an option, which still works",
    "middle_changed": "one value in the middle of the output is wrong",
    "input_fails": "one of the calls that worked exits with 1",
    "input_crashes": "one call crashes, with a traceback in place of its output",
    "prompts": "a call that changes files asks for confirmation first",
    "hangs": "a call never ends",
    "crashes_after": "a call crashes after its effect, without output",
    "effect_lost": "a call reports success and changes nothing",
    "written_cut": "the files that a call writes lose their second half",
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
MutantState = Literal["caught", "alive", "not_reached", "no_change", "not_run"]


class Mutant(Value):
    """One change. `name` is the option, key, parameter or heading that it changes; `command` the subcommand or tool.

    `aliases`: other names of the option. `value`: the one that is refused, or the new default; JSON for a parameter.
    Of a mutant of one input it is the arguments of the call, with ASCII's unit separator between them.
    `default`: the old one, or the value that is taken instead. `file`: the guidance file. `words`: the change in a
    maintainer's words.
    """

    kind: Annotated[str, only(*KINDS, what="is not a kind of mutant")]
    words: str
    command: str = ""
    name: str = ""
    aliases: tuple[str, ...] = ()
    takes_value: bool = False
    value: str = ""
    default: str = ""
    commands: tuple[str, ...] = ()  # all subcommands of the tool, the longest first
    file: str = ""


class MutantResult(Value):
    """The result of a mutant. `caught_by`: the scenarios that regressed; `met_by`: those whose calls meet it."""

    mutant: Mutant
    state: MutantState
    why: str = ""
    met_by: tuple[str, ...] = ()
    caught_by: tuple[str, ...] = ()
