"""What `tidegate prove` finds: mutants of the tool, which of them the suite catches, and the parts that it uses."""

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Annotated, Literal

from tidegate.model.field_types import only
from tidegate.model.surface import Part
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


class UsedPart(Value):
    """A part of the surface and the scenarios that use it."""

    part: Part
    scenarios: tuple[str, ...]


class Draft(Value):
    """A check that catches a mutant: a line for the gates or the evaluators of the scenario in `file`."""

    catches: str
    file: str
    text: str
    into: Literal["gates", "evaluators"]


class ToolProof(Value):
    """What was found for one tool under test. `counts`: how much of its surface is used.

    `scenarios`: how many pass on base; only they use something.
    """

    tool: str
    counts: str
    scenarios: int = 0
    parts: tuple[UsedPart, ...]
    mutants: tuple[MutantResult, ...] = ()
    drafts: tuple[Draft, ...] = ()


# What people call and read, and what options do; all other kinds are about results.
_SURFACE = frozenset(
    (
        *("option_removed", "option_renamed", "option_required", "alias_removed", "options_first", "value_refused"),
        *("argument_refused", "subcommand_removed", "subcommand_renamed", "help_dropped", "section_dropped"),
        *("example_dropped", "flag_misspelt", "subcommand_misspelt", "tool_removed", "tool_renamed"),
        *("parameter_renamed", "parameter_required", "description_emptied"),
    )
)
_OPTIONS = frozenset(("option_ignored", "default_changed"))
_REFUSALS = frozenset(("exit_succeeds", "exit_changed", "error_emptied", "error_wrong"))
_WEIGHTS = {"results": 9, "options": 3, "refusals": 2, "surface": 6}  # as often as each breaks in real tools
_UNSEEN = {"input_fails": 3, "result_emptied": 1}  # per part, beside one for each different result that is known


def share_of(results: Iterable[MutantResult]) -> float | None:
    """Return how much of the tool is protected: the mean of its groups, weighted; None if unknown.

    In each of these, a part counts once, however many mutants it has. Of a part with few different results, a breakage
    is often in what none of them shows: n of n + 3 are seen, of a server's tool one of two.
    """
    parts: dict[str, dict[tuple[str, str], list[bool]]] = {}
    seen, unseen, used = Counter[str](), dict[str, int](), set[tuple[str, str]]()
    for one in results:
        part, reached = (one.mutant.command, one.mutant.name), one.state != "not_reached"
        if reached and one.mutant.kind in _UNSEEN:
            seen[one.mutant.command] += 1
            unseen[one.mutant.command] = _UNSEEN[one.mutant.kind]
        used |= {part} if reached and one.mutant.kind in _OPTIONS else set()
        if one.state in ("caught", "alive", "not_reached"):
            parts.setdefault(_group(one.mutant.kind), {}).setdefault(part, []).append(one.state == "caught")

    def weight(group: str, command: str, name: str) -> float:
        """Return how much of a part is seen: of an option that no call has, its help, of results those of the calls."""
        if group == "surface":
            return 0.5 if name.startswith("-") and (command, name) not in used else 1.0
        if group != "results" or (name and not seen[command]):  # of a sample without a call
            return 1.0
        return seen[command] / (seen[command] + unseen.get(command, 1))

    of_groups = {
        group: fmean(weight(group, *part) * fmean(caught) for part, caught in own.items())
        for group, own in parts.items()
    }
    total = sum(_WEIGHTS[group] for group in of_groups)
    return sum(_WEIGHTS[group] * own for group, own in of_groups.items()) / total if total else None


def _group(kind: str) -> str:
    groups = {"surface": _SURFACE, "options": _OPTIONS, "refusals": _REFUSALS}
    return next((group for group, kinds in groups.items() if kind in kinds), "results")


class Proof(Value):
    """All of it. `at`: when it began. `dirty`: with uncommitted changes. `notes`: sentences about what was left out.

    `partial`: why not all mutants, or not all scenarios, were run; '' if they were.
    """

    sha: str
    at: float = 0.0
    dirty: bool = False
    partial: str = ""
    tools: tuple[ToolProof, ...]
    notes: tuple[str, ...] = ()
    trials: int = 0
    seconds: float = 0.0

    @property
    def mutants(self) -> tuple[MutantResult, ...]:
        """The mutants of all tools."""
        return tuple(one for tool in self.tools for one in tool.mutants)

    def count(self, *states: str) -> int:
        """Return how many mutants are in one of these states."""
        return sum(one.state in states for one in self.mutants)

    @property
    def share(self) -> float | None:
        """How much of the tools is protected, by their parts; None if no mutant was decided."""
        return share_of(self.mutants)
