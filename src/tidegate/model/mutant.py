"""A mutant: the tool under test or its docs with one change, as the wrapper in front of the tool makes it."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value

MutantKind = Literal[
    "option_removed",
    "option_ignored",
    "option_renamed",
    "option_required",
    "alias_removed",
    "options_first",
    "value_refused",
    "value_swapped",
    "default_changed",
    "arguments_swapped",
    "argument_cut",
    "argument_lowered",
    "argument_refused",
    "subcommand_removed",
    "subcommand_renamed",
    "exit_fails",
    "exit_succeeds",
    "exit_changed",
    "error_emptied",
    "error_wrong",
    "json_key_renamed",
    "json_key_dropped",
    "json_key_retyped",
    "json_value_wrong",
    "json_value_null",
    "json_wrapped",
    "json_reformatted",
    "json_list_cut",
    "json_list_reversed",
    "line_dropped",
    "first_line_dropped",
    "lines_reversed",
    "lines_cut",
    "number_changed",
    "coloured",
    "warning_printed",
    "warning_on_stderr",
    "lines_prefixed",
    "line_ends_changed",
    "letters_lowered",
    "spaces_doubled",
    "word_replaced",
    "output_repeated",
    "output_truncated",
    "output_emptied",
    "help_dropped",
    "streams_swapped",
    "middle_changed",
    "fields_swapped",
    "rounded",
    "lines_swapped",
    "input_fails",
    "input_crashes",
    "prompts",
    "slower",
    "hangs",
    "crashes_after",
    "effect_lost",
    "effect_twice",
    "written_cut",
    "written_renamed",
    "works_once",
    "section_dropped",
    "example_dropped",
    "flag_misspelt",
    "subcommand_misspelt",
    "tool_removed",
    "tool_renamed",
    "parameter_renamed",
    "parameter_required",
    "description_emptied",
    "error_flag_flipped",
    "result_reshaped",
    "result_emptied",
]
MutantState = Literal["caught", "alive", "not_reached", "no_change", "not_run"]


class Mutant(Value):
    """One change. `name` is the option, key, parameter or heading that it changes; `command` the subcommand or tool.

    `aliases`: other names of the option. `value`: the one that is refused, or the new default; JSON for a parameter.
    Of a mutant of one input it is the arguments of the call, with ASCII's unit separator between them.
    `default`: the old one, or the value that is taken instead. `file`: the guidance file. `words`: the change in a
    maintainer's words.
    """

    kind: MutantKind
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
