"""Each input and output is defined in three places, which agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tests.gh.fixtures import make_result
from tidegate.github.announce import outputs
from tidegate.github.settings import Settings
from tidegate.suite.load import load_suite

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXAMPLES: dict[str, Any] = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in (ROOT / "examples/workflows").glob("*.yml")
}
PAGE = (ROOT / "docs/action.md").read_text(encoding="utf-8")


def documented(heading: str) -> list[list[str]]:
    """The cells of the table under a heading; the first cell may name several."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in section.splitlines() if line.startswith("| `")]
    return [[name, *row[1:]] for row in rows for name in re.findall(r"`(\w+)`", row[0])]


def test_inputs_settings_and_documents_name_the_same_in_the_same_order() -> None:
    names = list(ACTION["inputs"])

    assert names == list(Settings.model_fields)
    assert names == [name for name, *_ in documented("Inputs")]


def test_defaults_are_the_same_in_all_places() -> None:
    defaults = {name: field["default"] for name, field in ACTION["inputs"].items()}
    assert defaults.pop("github_token") == "${{ github.token }}"
    environ = {f"INPUT_{name.upper()}": default for name, default in defaults.items()}
    shown = {name: default.strip("`") for name, default, _ in documented("Inputs") if name in defaults}

    assert Settings.from_environ(environ) == Settings()
    assert {f"INPUT_{name.upper()}": default for name, default in shown.items()} == environ


def test_every_choice_is_told_where_the_input_is_described() -> None:
    pages = {name: row for name, _, row in documented("Inputs")}
    for name, field in Settings.model_fields.items():
        for choice in getattr(field.annotation, "__args__", ()):
            if isinstance(choice, str):
                assert choice in ACTION["inputs"][name]["description"]
                assert f"`{choice}`" in pages[name]


def test_every_workflow_that_people_copy_uses_inputs_that_there_are() -> None:
    jobs = [job for text in EXAMPLES.values() for job in text["jobs"].values() if "steps" in job]
    ours = [step for job in jobs for step in job["steps"] if "tidegate" in step.get("uses", "")]
    given = {name for step in ours for name in step.get("with", {})}

    assert len(ours) >= 4
    assert given
    assert given <= set(ACTION["inputs"])


def test_every_upload_that_people_copy_or_call_never_decides() -> None:
    files = [*(ROOT / "examples/workflows").glob("*.yml"), *(ROOT / ".github/workflows").glob("*.yml")]
    jobs = [job for file in files for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()]
    uploads = [step for job in jobs for step in job.get("steps", ()) if "upload-artifact" in step.get("uses", "")]
    released = [step for step in uploads if str(step["with"].get("name", "")).startswith("release-")]

    assert len(uploads) >= 10
    assert all(step.get("continue-on-error") for step in uploads if step not in released)


def test_reusable_workflows_use_inputs_that_there_are() -> None:
    """Both ways to run the action, and with the same inputs and variables."""
    files = sorted((ROOT / ".github/workflows").glob("reusable-*.yml"))
    jobs = [job for file in files for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()]

    assert len(files) == 5
    for job in jobs:
        every = [step for step in job["steps"] if step.get("uses", "").startswith("./.tidegate-action")]
        assert every
        for ours in ([one for one in every if one["with"].get("command") == "link"], every):
            ways = [one for one in ours if one["with"].get("command") == ours[0]["with"].get("command")]
            for step in ways:
                assert set(step["with"]) <= set(ACTION["inputs"])
                assert step["with"] == ways[0]["with"]
                assert set(step.get("env", {})) - {"RUSTUP_HOME"} == set(ways[0].get("env", {}))


def test_copied_workflows_have_the_permissions_and_steps_of_the_called_ones() -> None:
    for name in ("pull-request", "publish", "maintainer", "history"):
        text = (ROOT / f".github/workflows/reusable-{name}.yml").read_text(encoding="utf-8")
        (ours,), (theirs,) = (one["jobs"].values() for one in (yaml.safe_load(text), EXAMPLES[f"complete-{name}"]))
        (calling,) = EXAMPLES[name]["jobs"].values()

        assert calling["permissions"] == theirs["permissions"] == ours.get("permissions", calling["permissions"]), name
        used = [
            step["uses"]
            for step in ours["steps"]
            if step.get("uses", "").startswith("actions/") and step["with"].get("path") != ".tidegate-action"
        ]
        assert [step["uses"] for step in theirs["steps"] if step.get("uses", "").startswith("actions/")] == used, name
        for key in ("if", "environment", "name"):
            assert ours.get(key) == theirs.get(key), (name, key)


def test_what_a_pull_request_s_run_showed_is_saved_after_a_failure_too() -> None:
    """The action `actions/cache` alone saves nothing after a failed step: a red would be forgotten."""
    called = [(ROOT / f".github/workflows/reusable-{name}.yml").read_text() for name in ("pull-request", "sharded")]
    cached = 0
    for workflow in [*map(yaml.safe_load, called), EXAMPLES["complete-pull-request"], EXAMPLES["several-suites"]]:
        for name, job in workflow["jobs"].items():
            steps = [step for step in job.get("steps", ()) if "store/tests" in str(step.get("with"))]
            steps = steps[1:] if name == "confirm-plan" else steps  # it runs no trials, and only reads
            assert [re.sub("@.*", "", step["uses"]) for step in steps] in (
                [],
                ["actions/cache/restore", "actions/cache/save"],
            )
            for step in steps:
                kept = re.findall(r"store/(\w+)", step["with"]["path"])
                assert kept == ["pushes", "tests", "judge"]
            assert [step.get("if") for step in steps[1:]] == ["always()"] * (len(steps) // 2)
            cached += len(steps) // 2
    assert cached == 4


def test_the_page_points_to_every_workflow_and_shows_the_first() -> None:
    page = (ROOT / "docs/github.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n# \.github/workflows/tidegate\.yml\n(.*?)```", page, re.S)
    named = set(re.findall(r"`([a-z-]+)`", page.split("\n## ")[0]))

    assert len(page.splitlines()) <= 250
    assert yaml.safe_load(shown) == EXAMPLES["pull-request"]
    assert {name.removeprefix("complete") for name in EXAMPLES} - {"-pull-request"} <= named


def test_there_are_few_inputs_and_their_names_survive_a_shell() -> None:
    assert len(Settings.model_fields) <= 12
    assert all(re.fullmatch("[a-z_]+", name) for name in ACTION["inputs"])


def test_outputs_are_those_that_the_action_writes() -> None:
    assert list(ACTION["outputs"]) == list(outputs(make_result()))
    assert list(ACTION["outputs"]) == [name for name, *_ in documented("Outputs")]


def test_the_entry_point_gets_signals_and_no_shell_stands_between() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")

    assert ACTION["runs"] == {"using": "docker", "image": "Dockerfile"}
    assert 'ENTRYPOINT ["tini", "--", "tidegate", "action"]' in dockerfile
    assert "USER " not in dockerfile


def test_every_action_of_our_workflows_is_pinned_to_a_commit() -> None:
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    uses = [line for path in workflows for line in re.findall(r"- uses: (\S+)", path.read_text(encoding="utf-8"))]

    assert len(uses) >= 4
    assert all(re.fullmatch(r"\./[\w./-]*|[\w-]+(/[\w-]+)+@[0-9a-f]{40}", used) for used in uses)


def test_the_suite_of_our_own_pull_requests_loads() -> None:
    assert len(load_suite(ROOT, ".github/tidegate.yaml", environ={}).scenarios) == 3


def test_the_workflow_of_our_own_pull_requests_is_the_one_that_people_copy() -> None:
    """As far as events, permissions, checkout and concurrency go."""
    ours = yaml.safe_load((ROOT / ".github/workflows/tidegate.yml").read_text(encoding="utf-8"))
    copied = EXAMPLES["complete-pull-request"]
    (job,), (our_job,) = copied["jobs"].values(), ours["jobs"].values()

    assert copied[True] == ours[True]  # YAML 1.1 reads `on` as true
    assert copied["concurrency"] == ours["concurrency"]
    assert job["permissions"] == our_job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert job["steps"][0] == our_job["steps"][0]
