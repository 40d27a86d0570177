"""Proofs are stored for trends, and an interrupted one leaves its results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.make import scenario
from tidegate.agents.doc_follower import DocFollower
from tidegate.history import proofs
from tidegate.model.mutant import Mutant, MutantResult, MutantState
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.proof import Proof, ToolProof
from tidegate.model.revision import Revision

HERE = Revision(sha="a" * 40, ref="main")


def plan_row(**fields: Any) -> PlanRow:
    agent = DocFollower(type="doc-follower")
    return PlanRow(key=RowKey(scenario="s", agent="a"), scenario=scenario(**fields), agent=agent, deterministic=True)


def result(name: str, state: MutantState = "caught") -> MutantResult:
    mutant = Mutant(kind="option_ignored", words=f"`{name}` is ignored", name=name)
    return MutantResult(mutant=mutant, state=state, caught_by=("s",) if state == "caught" else ())


def proof(sha: str, at: float, *, dirty: bool = False, state: MutantState = "caught") -> Proof:
    tool = ToolProof(tool="t", counts="", parts=(), mutants=(result("--due", state),))
    return Proof(sha=sha * 40, at=at, dirty=dirty, tools=(tool,))


@pytest.fixture
def repo(make_repository: Callable[[], Repository]) -> Path:
    made = make_repository()
    made.commit({"a": "1"})
    return made.root


def test_a_journal_knows_what_was_decided_and_skips_a_line_that_was_cut_off(repo: Path) -> None:
    first = proofs.journal(repo, HERE, [plan_row()], "1")
    first.add("t", result("--due"))
    first.add("t", result("--lost", "not_run"))
    (file,) = (repo / ".tidegate/proofs").iterdir()
    file.write_text(file.read_text() + file.read_text()[:30])

    again = proofs.journal(repo, HERE, [plan_row()], "1")
    assert again.reuse("t", result("--due").mutant) == result("--due")
    assert again.reuse("other", result("--due").mutant) is None
    assert again.reuse("t", result("--lost").mutant) is None
    assert again.notes == ("results of mutants from an interrupted run were reused: 1",)
    again.finish()
    assert proofs.journal(repo, HERE, [plan_row()], "1").reuse("t", result("--due").mutant) is None


def test_only_results_that_a_run_reuses_are_counted_and_deleted(repo: Path) -> None:
    first = proofs.journal(repo, HERE, [plan_row()], "1")
    for name in ("--due", "--loud"):
        first.add("t", result(name))
    partial = proofs.journal(repo, HERE, [plan_row()], "1")
    assert not partial.notes
    for _ in range(2):
        partial.reuse("t", result("--due").mutant)
    assert partial.notes == ("results of mutants from an interrupted run were reused: 1",)
    partial.finish()
    last = proofs.journal(repo, HERE, [plan_row()], "1")
    known = [last.reuse("t", result(name).mutant) is not None for name in ("--due", "--loud")]
    assert known == [False, True]


def test_a_journal_is_of_one_commit_suite_and_version(repo: Path) -> None:
    proofs.journal(repo, HERE, [plan_row()], "1").add("t", result("--due"))
    other = Revision(sha="b" * 40, ref="main")
    changed = plan_row(prompt="Do something else.")
    for revision, row, version in ((other, plan_row(), "1"), (HERE, changed, "1"), (HERE, plan_row(), "2")):
        assert proofs.journal(repo, revision, [row], version).reuse("t", result("--due").mutant) is None


def test_uncommitted_changes_leave_no_journal(repo: Path) -> None:
    proofs.journal(repo, HERE.model_copy(update={"dirty": True}), [plan_row()], "1").add("t", result("--due"))
    assert not (repo / ".tidegate").exists()


def test_the_newest_proof_of_another_commit_is_the_one_to_compare_with(repo: Path) -> None:
    for one in (proof("a", 1.0), proof("b", 2.0), proof("c", 3.0)):
        proofs.keep(repo, one)
    (repo / ".tidegate/proofs/29990101T000000Z-x.json").write_text("{}")
    found = proofs.earlier(repo, proof("c", 4.0))
    assert found is not None
    assert found.sha == "b" * 40
    changed = proofs.earlier(repo, proof("c", 4.0, dirty=True))
    assert changed is not None
    assert changed.sha == "c" * 40


def test_a_partial_proof_is_neither_stored_nor_compared(repo: Path) -> None:
    sample = proof("a", 1.0).model_copy(update={"partial": "a sample of the mutants"})
    proofs.keep(repo, sample)
    assert proofs.earlier(repo, proof("b", 2.0)) is None
    proofs.keep(repo, proof("b", 2.0))
    assert proofs.earlier(repo, sample) is None


def test_a_proof_without_a_share_is_not_stored_and_old_ones_are_deleted(repo: Path) -> None:
    proofs.keep(repo, proof("a", 1.0, state="not_run"))
    assert proofs.earlier(repo, proof("b", 2.0)) is None
    for number in range(proofs.MOST_PROOFS + 2):
        proofs.keep(repo, proof("a", 100.0 * number))
    assert len([*(repo / ".tidegate/proofs").iterdir()]) == proofs.MOST_PROOFS
