"""JUnit XML, read back by a library that this project does not write it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from junit2htmlreport.parser import Junit  # type: ignore[import-untyped]

from tidegate.model.result import Result
from tidegate.reports.junit import junit_xml

Stories = Mapping[str, Callable[[], Result]]
EXPECTED = {"regressed": "failed"} | dict.fromkeys(
    ("unconfirmed", "not_measured", "removed", "not_comparable"), "skipped"
)


def read(result: Result, folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """(agent, scenario) → (outcome, message), as the reader sees them."""
    path = folder / "junit.xml"
    path.write_text(junit_xml(result), encoding="utf-8")
    (suite,) = Junit(filename=str(path)).suites
    return {
        (case.testclass.name, case.name): (str(case.outcome().value), str(case.failure_msg or case.skipped_msg or ""))
        for case in suite.all()
    }


def test_every_row_is_a_test_case_of_its_state(story: tuple[str, Result], tmp_path: Path) -> None:
    name, result = story
    cases = read(result, tmp_path)
    assert len(cases) == len(result.rows)
    if name != "hostile":
        for row in result.rows:
            outcome, message = cases[row.agent, row.scenario]
            assert outcome == EXPECTED.get(row.state, "passed"), row.state
            assert row.reason in message or outcome == "passed"


def test_a_failure_carries_its_evidence(stories: Stories) -> None:
    text = junit_xml(stories["one_regression"]())
    assert "unrecognized arguments: --prio" in text
    assert (
        "tidegate run --rev b82d07e4c9f3a1560e7d8c9bab1a2f3e4d5c6b7a --scenario add_high_priority --agent docs" in text
    )
    assert 'tests="4"' in text
    assert 'failures="1"' in text


def test_what_head_has_not_run_is_no_pass(stories: Stories, tmp_path: Path) -> None:
    fine = stories["all_fine"]()
    head = fine.rows[0].head.model_copy(update={"trials": 0, "passes": 0})
    rows = (fine.rows[0].model_copy(update={"head": head}),)
    ((outcome, _),) = read(fine.model_copy(update={"rows": rows}), tmp_path).values()
    assert outcome == "skipped"


@pytest.mark.parametrize("character", ["\0", "\x1b", "\ud800", "\ufffe", "\uffff", "]]>", "<&"])
def test_no_character_spoils_the_file(stories: Stories, tmp_path: Path, character: str) -> None:
    fine = stories["one_regression"]()
    rows = tuple(
        row.model_copy(update={"scenario": f"{row.scenario}{character}", "reason": character}) for row in fine.rows
    )
    assert len(read(fine.model_copy(update={"rows": rows}), tmp_path)) == len(rows)
