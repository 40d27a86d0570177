"""Trials and builds that change what checks or what is tested: they pass, and it shows nothing."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.decide.comparison.compare import compare
from tidegate.decide.verdict import is_unproven
from tidegate.model.comparison import Row
from tidegate.model.measurement import Outcome, TrialResult
from tidegate.model.run_row import RunRow
from tidegate.model.trial_spec import Side
from tidegate.reports.verdict_text import reason_text


def trials(side: Side, *files: str, outcome: Outcome = "pass") -> list[TrialResult]:
    """Trials that have changed these files, each of one letter."""
    return [
        make.trial_result(side=side, index=number, outcome=outcome, rewritten=tuple(names))
        for number, names in enumerate(files, 1)
    ]


def row(base: list[TrialResult], head: list[TrialResult], *replaced: str) -> Row:
    rows = (RunRow(scenario=base[0].scenario, agent=base[0].agent, deterministic=True),)
    return compare(make.run(*base, side="base", rows=rows), make.run(*head, rows=rows, replaced=replaced)).rows[0]


@pytest.mark.parametrize("files", [["f"], ["f", "g", "f"], ["fg"]])
def test_a_pass_that_changes_a_file_that_base_leaves_alone_has_no_outcome(files: list[str]) -> None:
    found = row(trials("base", "", "g"), trials("head", *files))

    counted = sum(names == "g" for names in files)
    assert (found.head.passes, found.head.trials, found.head.not_measured) == (counted, counted, len(files) - counted)
    assert (found.state, found.kind, found.not_measured) == ("unconfirmed", "rewritten", None)
    assert is_unproven(found)
    assert found.why is not None
    assert "it changes files that no passing trial of base changes: f" in reason_text(found.state, found.why)


@pytest.mark.parametrize(("base", "head"), [(["f"], ["f"]), (["", "f"], ["f", "f"]), ([""], [""])])
def test_a_file_that_passes_of_base_change_is_a_product(base: list[str], head: list[str]) -> None:
    found = row(trials("base", *base), trials("head", *head))

    assert (found.state, found.head.passes) == ("ok", len(head))


@pytest.mark.parametrize(
    ("of_base", "of_head", "unmeasured"),
    [(("old",), ("old", "f"), 0), (("f",), ("f",), 1), ((), (), 1), (None, ("f",), 1), ((), None, 1)],
)
def test_a_file_that_only_the_setup_of_head_makes_is_a_product(
    of_base: tuple[str, ...] | None, of_head: tuple[str, ...] | None, unmeasured: int
) -> None:
    base = [one.model_copy(update={"made": of_base}) for one in trials("base", "", "")]
    head = [one.model_copy(update={"made": of_head}) for one in trials("head", "f")]

    assert row(base, head).head.not_measured == unmeasured


def test_what_failing_trials_of_base_change_is_no_product() -> None:
    base = [*trials("base", "f", outcome="fail"), make.trial_result(side="base", index=2, outcome="pass")]

    assert row(base, trials("head", "f")).head.not_measured == 1


def test_a_build_that_replaces_files_of_the_commit_is_not_what_is_merged() -> None:
    found = row(trials("base", ""), trials("head", ""), "bin/notes")

    assert (found.state, found.kind) == ("unconfirmed", "rewritten")
    assert found.why is not None
    assert reason_text(found.state, found.why).endswith("which are then not what is tested: bin/notes")
    assert is_unproven(found)
