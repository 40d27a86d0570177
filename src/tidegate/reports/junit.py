"""Render a result as JUnit XML. Each scenario × agent is a test case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.result import Result
from tidegate.reports.filters import words
from tidegate.reports.model_filters import console, passed
from tidegate.text.safe import one_line, visible

if TYPE_CHECKING:
    from junitparser import TestCase

_SKIPPED = frozenset({"unconfirmed", "not_measured", "not_comparable", "removed"})  # neither a pass nor a failure


def junit_xml(result: Result) -> str:
    """Return the XML: regressed rows are failures; rows without a definite result are skipped, with the reason."""
    from junitparser import JUnitXml, TestSuite

    suite = TestSuite(f"tidegate {_attribute(result.instance)}")
    suite.add_property("verdict", result.verdict.state)
    suite.add_property("summary", _attribute(result.verdict.summary))
    of_head = by_row(trial for trial in result.trials if trial.side == "head")
    suite.add_testcases([_case(row, _seconds(of_head[row.key])) for row in result.rows])
    report = JUnitXml("tidegate")
    report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = report.tostring()  # type: ignore[no-untyped-call]
    return text.decode()


def _case(row: Row, seconds: float) -> TestCase:
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(_attribute(row.scenario), _attribute(row.agent), seconds)
    reason = _attribute(row.reason)
    if row.state == "regressed":
        failure = Failure(reason, "regressed")
        failure.text = _evidence(row)
        case.result = [failure]
    elif row.state in _SKIPPED or not row.head.trials:
        case.result = [Skipped(f"{words(row.state)}: {reason}")]
    case.system_out = _legal(f"{words(row.state)}: base {passed(row.base)}, head {passed(row.head)}")
    return case


def _seconds(trials: Iterable[TrialResult]) -> float:
    """Return the seconds that the trials took together."""
    return sum(trial.metrics.duration_s or 0.0 for trial in trials)


def _evidence(row: Row) -> str:
    found = row.evidence
    if found is None:
        return ""
    parts = (found.gate or "", found.message, console(found.calls), found.reproduce)
    return _legal("\n".join(filter(None, parts)))


def _attribute(text: str) -> str:
    return _legal(one_line(text))


def _legal(text: str) -> str:
    """Return the text without characters that XML 1.0 forbids even when escaped (section 2.2)."""
    return visible(text).translate({0xFFFE: None, 0xFFFF: None})
