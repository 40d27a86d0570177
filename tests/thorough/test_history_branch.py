"""A history on a branch that others have written to."""

from __future__ import annotations

from tests.conftest import Repository
from tests.journeys.test_history_branch import BRANCH, Make, pr
from tests.journeys.test_history_branch import repo as repo


def test_what_somebody_has_changed_on_the_branch_is_ignored_and_said(repo: Repository, tidegate: Make) -> None:
    repo.git("checkout", "--quiet", BRANCH)
    (file,) = (repo.root / "history").glob("*.jsonl")
    first, *others = file.read_text(encoding="utf-8").splitlines()
    repo.commit({str(file.relative_to(repo.root)): "\n".join([first.replace('"pass"', '"fail"'), *others])})

    ran = pr(tidegate, repo)

    assert ran.result["sides"]["base"]["history_trials"] == 9
    assert "1 ignored: its digest does not match" in ran.comment


def test_a_branch_without_a_history_is_ignored_and_said(repo: Repository, tidegate: Make) -> None:
    repo.git("branch", "--force", BRANCH, "main")

    ran = pr(tidegate, repo)

    assert ran.result["cost"]["trials"] == {"base": 3, "head": 3}
    assert "it is not a history of this version" in ran.comment
