"""Jobs of agents without a key: the calling job grants the permission for an OIDC token."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.clouds import GITHUB, clouds
from tests.conftest import Repository
from tests.gh.emulated.called import Ended, Runner, call, opened
from tests.gh.job import RENAMED, Job
from tests.journeys.conftest import FILES
from tests.model_server import Step
from tests.warm import run_tidegate
from tidegate.authoring.callers import FOLDER, ActionSource, Needs, workflow

ROOT = Path(__file__).parents[3]
OURS = ActionSource("owner/tidegate", "0" * 40)
AGENT = (
    "agents: {claude: {type: anthropic, model: claude-haiku-4-5, deterministic: true, "
    "provider: {type: anthropic, federation_rule: fdrl_1, organization: org-1}}}\n"
)
SUITE = FILES["tidegate.yaml"].partition("agents:")[0] + AGENT
STEPS = [Step("I add both.", ("notes add first", "notes add second")), Step("Done.")]


@pytest.fixture
def job(job: Job) -> Job:
    """A pull request that breaks the tool, with an agent that has no key."""
    job.repo.commit({"tidegate.yaml": SUITE}, on="main")
    job.repo.git("branch", "--quiet", "--delete", "--force", "pr")
    job.repo.branch("pr", {"bin/notes": RENAMED})
    return job


def run(job: Job, tmp_path: Path, *, keyless: bool) -> tuple[Ended, list[str]]:
    """The pull request's job to its end, and which hosts were asked."""
    text, event = workflow("pull-request", OURS, "main", Needs(identity=keyless)).text, opened(job, 77)
    with clouds(tmp_path, STEPS) as (server, environ):
        ended = Runner(job.repo.root, job, environ=environ).run(call(text, event), event)
        return ended, server.hosts()


@pytest.mark.own_process
@pytest.mark.usefixtures("evaluator")
def test_the_job_s_oidc_token_becomes_the_agent_s_credential(job: Job, tmp_path: Path) -> None:
    ended, asked = run(job, tmp_path, keyless=True)

    (comment,) = job.pull.bot_comments()
    assert (ended.ran.exit_code, ended.step.outputs()["comment_url"]) == (1, comment.url), ended.ran.stderr
    result = json.loads((job.repo.root / ".tidegate/pr/result.json").read_text(encoding="utf-8"))
    ((row,),) = (result["rows"],)
    assert (row["agent"], row["state"]) == ("claude", "regressed")
    assert asked.count(GITHUB) == 1
    assert "api.anthropic.com" in asked
    whole = ended.ran.stdout + ended.ran.stderr + comment.body
    assert "cloud-token" not in whole


@pytest.mark.own_process
@pytest.mark.usefixtures("evaluator")
def test_the_workflow_without_the_permission_ends_with_what_it_lacks(job: Job, tmp_path: Path) -> None:
    ended, asked = run(job, tmp_path, keyless=False)

    assert ended.ran.exit_code == 4
    assert "The agent claude (anthropic) needs the permission `id-token: write`." in ended.ran.stderr
    assert asked == []


def test_jobs_that_run_no_agent_do_not_have_it() -> None:
    inherited = set()
    for path in (ROOT / ".github/workflows").glob("reusable-*.yml"):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        assert not [name for name, one in jobs.items() if "id-token" in one.get("permissions", {})]
        file = path.stem.removeprefix("reusable-")
        inherited |= {(file, name) for name, one in jobs.items() if "permissions" not in one}

    assert inherited - {("sharded", "confirm")} == {
        ("pull-request", "tidegate"),
        ("sharded", "shard"),
        ("sharded", "tidegate"),
        ("maintainer", "tidegate"),
        ("history", "history"),
    }


FREE_AGENT = FILES["tidegate.yaml"]
PANEL = "judge:\n- {type: anthropic, model: a}\n- {type: openai, model: o, provider: {type: openai, key: OWN_KEY}}\n"
KEYLESS_JUDGE = "judge: {type: anthropic, model: m, provider: {type: bedrock, region: us-east-1, role: r}}\n"


@pytest.mark.parametrize(
    ("suite", "identity", "key"),
    [
        (SUITE, True, False),
        (FREE_AGENT, False, False),
        (FREE_AGENT + KEYLESS_JUDGE, True, False),
        (FREE_AGENT + PANEL, False, True),
    ],
    ids=["agent without a key", "free agent", "judge without a key", "panel with keys"],
)
def test_init_writes_them_for_a_suite_that_exchanges_a_token(
    suite: str, identity: bool, key: bool, make_repository: Callable[..., Repository]
) -> None:
    repo = make_repository("suite")
    repo.commit({**FILES, "tidegate.yaml": suite})

    assert run_tidegate("init", cwd=repo.root).returncode == 0

    for name in ("tidegate", "tidegate-maintainer", "tidegate-history"):
        (calling,) = yaml.safe_load((repo.root / f"{FOLDER}/{name}.yml").read_text())["jobs"].values()
        assert ("id-token" in calling["permissions"]) == identity
        assert ("secrets" in calling) == (key and name != "tidegate-maintainer"), (
            "an environment has a maintainer's keys"
        )
    assert "id-token" not in (repo.root / f"{FOLDER}/tidegate-publish.yml").read_text()
