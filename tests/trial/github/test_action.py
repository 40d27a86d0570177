"""The action on a pull request: dry runs, merges, forks and inputs that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gh.emulated.runner import load_event
from tests.gh.job import Job, MakeStep, act_here
from tests.journeys.conftest import FILES, NOTES
from tidegate.github.api import PERMISSIONS


def test_a_test_merge_checkout_is_compared_with_its_first_parent(job: Job) -> None:
    """Base has moved on and broken it meanwhile: not charged to the pull request, and no quiet green either."""
    job.repo.commit({"AGENTS.md": FILES["AGENTS.md"].replace("add second", "nonsense second")}, on="main")
    job.repo.commit({"bin/notes": NOTES + "# a comment\n"}, on="pr")
    job.check_out_merge()

    ran, step = job.run()

    assert ran.exit_code == 5, ran.stderr
    assert step.outputs()["reason"] == "nothing_passes"


def test_a_token_that_may_not_write_leaves_the_exit_code_and_says_what_to_add(job: Job) -> None:
    ran, step = job.run(token=job.github.token_like("read-only"))

    assert ran.exit_code == 1
    assert job.pull.bot_comments() == []
    assert all(line in ran.stdout for line in PERMISSIONS.splitlines())
    assert "notes: unknown command: add" in step.summary()
    assert step.outputs()["comment_url"] == ""


def test_secrets_are_only_sent_to_a_runner_which_masks_them(make_step: MakeStep, tmp_path: Path) -> None:
    environ, command = {"A_TOKEN": "a secret value"}, "::add-mask::a secret value"

    assert act_here(make_step(tmp_path), {**environ, "GITHUB_ACTIONS": "true"}).stdout.splitlines()[0] == command
    assert "a secret value" not in act_here(make_step(tmp_path), environ).stdout


def test_the_events_own_target_variant_is_refused(job: Job, tmp_path: Path) -> None:
    payload = load_event("pull_request.synchronize")
    step = job.make_step(job.repo.root, job.github.api_url)

    ran = job.start(step, step.environ("pull_request_target", payload))

    assert ran.exit_code == 2
    assert "on: pull_request" in ran.stderr


@pytest.mark.attempt("comes from a fork, and its agents have no key", "not measured, which is not a regression", 0)
def test_a_fork_without_a_key_says_so_and_does_not_stay_red(job: Job) -> None:
    keyed = FILES["tidegate.yaml"].replace("docs: {type: doc-follower}", "one: {type: anthropic, model: some-model}")
    job.repo.commit({"tidegate.yaml": keyed}, on="main")
    job.repo.git("rebase", "--quiet", "main", "pr")

    passed, step = job.run(head_repo="stranger/fork")
    failed, _ = job.run(head_repo="stranger/fork", inputs={"fork_without_key": "fail"})
    own, _ = job.run()

    assert (passed.exit_code, step.outputs()["reason"]) == (0, "fork_without_key"), passed.stdout
    assert (failed.exit_code, own.exit_code) == (4, 4)
    assert "the key of the agent one" in step.summary()


@pytest.mark.parametrize("sender", ["mallory", "dependabot[bot]"])
def test_without_secrets_the_agents_that_need_none_have_their_say(job: Job, sender: str) -> None:
    """Red or green by what was run, and the comment's words on what was not."""
    both = FILES["tidegate.yaml"] + "  one: {type: anthropic, model: some-model}\n"
    job.repo.commit({"tidegate.yaml": both}, on="main")
    job.repo.git("rebase", "--quiet", "main", "pr")
    head_repo = job.pull.repository if sender.startswith("dependabot") else "mallory/fork"

    red, step = job.run(head_repo=head_repo, sender=sender)
    strict, _ = job.run(head_repo=head_repo, sender=sender, inputs={"fork_without_key": "fail"})
    job.fix()
    job.repo.commit({"AGENTS.md": FILES["AGENTS.md"] + "\nThat is all.\n"})
    green, _ = job.run(head_repo=head_repo, sender=sender)

    assert (red.exit_code, strict.exit_code, green.exit_code) == (1, 4, 0), red.stderr + green.stderr
    assert "not run: the agent one, without a key" in step.summary()


def test_without_secrets_a_scenario_that_needs_one_is_not_measured(job: Job) -> None:
    """GitHub gives a fork's job the empty text for a secret; what needs none is measured as ever."""
    other = FILES["scenarios/keep.yaml"].replace("name: keep_notes", "name: with_token")
    other = other.replace("--version}", "--version, env: {TOKEN: 'x${TOKEN}'}}")
    job.repo.git("checkout", "--quiet", "main")
    suite = {"tidegate.yaml": FILES["tidegate.yaml"] + "pass_env: [TOKEN]\n"}
    job.repo.commit({**suite, "scenarios/other.yaml": other})
    job.repo.git("rebase", "--quiet", "main", "pr")

    red, _ = job.run(head_repo="mallory/fork")
    job.fix()
    job.repo.commit({"AGENTS.md": FILES["AGENTS.md"] + "\nThat is all.\n"})
    green, step = job.run(head_repo="mallory/fork")
    own, _ = job.run()

    assert (red.exit_code, green.exit_code, own.exit_code) == (1, 0, 2), red.stderr + green.stderr + own.stderr
    assert step.outputs()["verdict"] == "inconclusive"
    assert "no secret reaches this pull request: TOKEN" in step.summary()
    assert "${TOKEN} is not set" in own.stderr


@pytest.mark.parametrize(
    ("head", "pass_env", "agent"),
    [
        (FILES["scenarios/keep.yaml"].replace("--version}", "--version, env: {X: '${TOKEN}'}}"), "[TOKEN]", ""),
        (FILES["scenarios/keep.yaml"].replace("--version}", "--version, env: {X: '${OTHER}'}}"), "[OTHER]", ""),
        (FILES["scenarios/keep.yaml"], "[]", "{type: anthropic, model: some-model}"),
    ],
    ids=["a name of base's", "a name of its own", "an agent with a key"],
)
def test_a_fork_cannot_ask_for_a_secret_so_that_nothing_is_run(job: Job, head: str, pass_env: str, agent: str) -> None:
    """Base's variables and agents are used then; else a broken tool would not be measured, and the job passes."""
    suite = FILES["tidegate.yaml"]
    job.repo.commit({"tidegate.yaml": suite + "pass_env: [TOKEN]\n"}, on="main")
    job.repo.git("rebase", "--quiet", "main", "pr")
    suite = suite.replace("{type: doc-follower}", agent or "{type: doc-follower}")
    job.repo.commit({"scenarios/keep.yaml": head, "tidegate.yaml": f"{suite}pass_env: {pass_env}\n"})

    ran, step = job.run(head_repo="mallory/fork")

    assert (ran.exit_code, step.outputs()["reason"]) == (1, "regression"), ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "given", [{"command": "publish"}, {"command": "history"}, {"command": "nonsense"}, {"args": "--jobs 2"}]
)
def test_an_input_that_would_be_ignored_is_refused(job: Job, given: dict[str, str]) -> None:
    ran, _ = job.run(inputs=given)

    assert ran.exit_code == 2
    assert f"`{given.get('command') or 'args'}`" in ran.stderr
    assert ["no verdict" in comment.body for comment in job.pull.bot_comments()] == [True]
