"""The evaluator `tool_f1`."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from tidegate.checks.evaluators.compared_calls import NO_TRACE, calls_of
from tidegate.checks.gates.fields import NonEmpty
from tidegate.model.evaluator import Evaluation, Evaluator, Record, Score


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

    def evaluate(self, record: Record) -> Evaluation:
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
