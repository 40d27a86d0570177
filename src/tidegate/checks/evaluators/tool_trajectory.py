"""The evaluators `tool_trajectory` and `tool_f1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tidegate.checks.evaluators.matching import (
    NO_TRACE,
    ComparedCall,
    ExpectedCall,
    calls_of,
    common_length,
    matched,
)
from tidegate.checks.gates.fields import NonEmpty
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score

Limit = Annotated[int, Field(ge=0)]


class ToolTrajectory(Evaluator):
    """Scores which tools were called, and how. Tools are the agent's own (`bash`, `mcp__db__query`) or subcommands of
    the tool under test (`taskmgr:add`); only the kinds that the evaluator names are compared.

    `mode` is one of:

    - `any_order`: tools called at least as often as in `minimums` / tools listed there
    - `in_order`: longest common subsequence of `expected` and the calls / `expected`
    - `exact`: matching positions / the longer list, so extra calls lower the score
    - `superset`: 1 if every expected call was made
    - `subset`: 1 if no other call was made

    An expected call is `{tool, input, output}`. The output of a command is what it prints on both streams. The actual
    call may have more fields than `input` and `output` name. A list in `output` may have more items, in any order; one
    in `input` must be the whole list. With `exact: true` the call has no other input, and lists in its output have
    these items in this order. With `fails: true` it has to fail, with `fails: false` to work; a call of unknown end did
    neither. A string can also be `{regex: PATTERN}`, and any value `{any: true}`. In every mode, a call of a
    `forbidden` tool or more calls than `max_calls` make the score 0. Not measured if the agent does not report its
    tool calls.
    """

    type: Literal["tool_trajectory"] = "tool_trajectory"
    mode: Literal["any_order", "in_order", "exact", "superset", "subset"]
    minimums: dict[str, Limit] = {}
    expected: tuple[ExpectedCall, ...] = ()
    forbidden: tuple[str, ...] = ()
    max_calls: dict[str, Limit] = {}

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        needed, other = ("minimums", "expected") if self.mode == "any_order" else ("expected", "minimums")
        if not getattr(self, needed):
            other_mode = "; `expected` calls in any order are the mode `superset`" if self.expected else ""
            raise ValueError(f"mode {self.mode} needs `{needed}`: an empty expectation says nothing{other_mode}")
        if getattr(self, other):
            raise ValueError(f"mode {self.mode} does not read `{other}`")
        return self

    @property
    def reads_outputs(self) -> bool:
        """True if it compares what calls of the agent's tools print."""
        return any(call.output is not None for call in self.expected)

    @property
    def compared_tools(self) -> frozenset[str]:
        """The expected tools, and those that are counted."""
        return frozenset({*self._expected_tools, *self.forbidden, *self.max_calls})

    @property
    def _expected_tools(self) -> frozenset[str]:
        return frozenset({*self.minimums, *(call.tool for call in self.expected)})

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Compare the recorded calls. Needs no requests."""
        yield from ()
        compared = calls_of(record, self._expected_tools)
        more = self.compared_tools - self._expected_tools
        counted = calls_of(record, self.compared_tools) if more else compared
        if compared is None or counted is None:
            return Score.unknown(NO_TRACE, "no_trace")
        counts = Counter(call.tool for call in counted)
        if broken := tuple(self._broken(counts)):
            return Score(value=0, reason="; ".join(broken), misses=broken)
        if self.mode == "any_order":
            return self._any_order(counts)
        return self._score(compared)

    def _broken(self, counts: Counter[str]) -> Iterator[str]:
        for tool in self.forbidden:
            if counts[tool]:
                yield f"{tool} was called, which is forbidden"
        for tool, most in self.max_calls.items():
            if counts[tool] > most:
                yield f"{tool} was called {counts[tool]} times, at most {most} allowed"

    def _any_order(self, counts: Counter[str]) -> Score:
        hits = tuple(f"{tool} ×{counts[tool]}" for tool, least in self.minimums.items() if counts[tool] >= least)
        misses = tuple(
            f"{tool} ×{counts[tool]}, at least {least} expected"
            for tool, least in self.minimums.items()
            if counts[tool] < least
        )
        return Score(value=len(hits) / len(self.minimums), reason="; ".join(misses), hits=hits, misses=misses)

    def _score(self, calls: Sequence[ComparedCall]) -> Score:
        expected = self.expected
        misses = tuple(_misses(expected, calls))
        reason = "; ".join([f"called {_names(calls)}, expected {_names(expected)}", *misses[:3]])
        match self.mode:
            case "in_order":
                value = common_length(expected, calls, ExpectedCall.is_met_by) / len(expected)
            case "exact":
                same = sum(one.is_met_by(call) for one, call in zip(expected, calls, strict=False))
                value = same / max(len(expected), len(calls))
            case "superset":
                value = float(not misses)
            case _:
                value = float(all(any(one.is_met_by(call) for one in expected) for call in calls))
        unmatched = tuple(_unmatched(expected, calls))
        return Score(value=1) if value == 1 else Score(value=value, reason=reason, misses=misses, unmatched=unmatched)


def _misses(expected: Sequence[ExpectedCall], calls: Sequence[ComparedCall]) -> Iterator[str]:
    """Yield why no call is left for an expected one: the tool was not called, or with another input or output."""
    for one, met in zip(expected, matched(expected, calls, ExpectedCall.is_met_by), strict=True):
        if not met:
            same = [call for call in calls if call.tool == one.tool and not one.is_met_by(call)]
            other = next((call for call in same if one.input_mismatch(call) is None), same[0] if same else None)
            often = "was not called" if all(call.tool != one.tool for call in calls) else "was not called as often"
            yield f"{one.tool}: {one.mismatch(other)}" if other else f"{one.tool} {often}"


def _unmatched(expected: Sequence[ExpectedCall], calls: Sequence[ComparedCall]) -> Iterator[tuple[str, str]]:
    """Yield each tool that was called, with the pattern that no output of it matches."""
    for one in expected:
        called = any(call.tool == one.tool for call in calls)
        match one.output:
            case {"regex": str(pattern)} if called and not any(one.is_met_by(call) for call in calls):
                yield one.tool, pattern


def _names(calls: Sequence[ComparedCall | ExpectedCall]) -> str:
    shown = [call.tool for call in calls[:12]]
    return " → ".join([*shown, *(["…"] if len(calls) > len(shown) else [])]) or "nothing"


class ToolF1(Evaluator):
    """Scores the called tools against the `expected` tools, both as multisets: the harmonic mean (F1) of precision and
    recall. Precision, recall and routing accuracy (positions that agree / the longer list) are in the details.
    """

    type: Literal["tool_f1"] = "tool_f1"
    expected: tuple[NonEmpty, ...] = Field(min_length=1)

    @property
    def compared_tools(self) -> frozenset[str]:
        """The expected tools."""
        return frozenset(self.expected)

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Count the calls. Needs no requests."""
        yield from ()
        calls = calls_of(record, self.compared_tools)
        if calls is None:
            return Score.unknown(NO_TRACE, "no_trace")
        called = [call.tool for call in calls]
        wanted, made = Counter(self.expected), Counter(called)
        both = (wanted & made).total()
        routed = sum(one == other for one, other in zip(self.expected, called, strict=False))
        details = {
            "tool_recall": both / len(self.expected),
            "tool_routing_accuracy": routed / max(len(self.expected), len(called)),
        }
        if called:
            details["tool_precision"] = both / len(called)
        misses = tuple(sorted((wanted - made).elements()))
        extra = tuple(sorted((made - wanted).elements()))
        reason = "; ".join(
            f"{what} {', '.join(tools[:12])}" for what, tools in (("not called:", misses), ("extra:", extra)) if tools
        )
        value = 2 * both / (len(self.expected) + len(called))
        return Score(value=value, reason=reason, misses=misses, details=details)
