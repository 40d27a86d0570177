"""What a provider answers: an outage blocks nothing, a refusal that the pull request causes does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import Ran, start
from tests.model_server import Fault, serving
from tests.thorough.attempts.attempt import FILES, Files

MODEL = "agents:\n  one: {type: anthropic, model: a-model}"
SUITE = FILES["tidegate.yaml"].replace("agents:", MODEL) + "trials: {min: 1}\n"


def run(folder: Path, files: Files, fault: Fault) -> Ran:
    """`tidegate pr` where every request to the model ends like this."""
    repo = Repository(folder / "repo")
    repo.commit({**FILES, "tidegate.yaml": SUITE})
    repo.branch("pr", files)
    arguments = ("--base", "main", "--head", "pr", "--pause", "0", "--scenario", "keep_notes")
    with serving([], [fault] * 1000) as server:
        env = {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
        return start(folder / "out", "pr", *arguments, cwd=repo.root, env=env)


@pytest.mark.attempt("is run while the provider has an outage", "inconclusive: a row is not measured", 0)
def test_an_outage_on_both_sides_blocks_nothing(tmp_path: Path) -> None:
    ran = run(
        tmp_path, {"AGENTS.md": FILES["AGENTS.md"] + "\nThat is all.\n"}, Fault(529, headers={"retry-after-ms": "1"})
    )

    assert ran.code == 0, ran.stderr
    assert ran.row("keep_notes", "one")["state"] == "not_measured"
    assert ran.row("keep_notes")["state"] == "ok"


@pytest.mark.attempt("names a model that the provider does not know", "unproven", 5)
def test_a_model_that_the_provider_refuses_is_not_green(tmp_path: Path) -> None:
    ran = run(tmp_path, {"tidegate.yaml": SUITE.replace("a-model", "no-model")}, Fault(404, "not_found_error"))

    assert (ran.code, ran.result["verdict"]["reason"]) == (5, "unproven"), ran.stderr
