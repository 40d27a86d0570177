"""The composite action: the same inputs and outputs, and its step run as the runner would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.gh.emulated.runner import pull_request_payload
from tests.gh.job import Job

ROOT = Path(__file__).parents[3]
CONTAINER: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
NATIVE: dict[str, Any] = yaml.safe_load((ROOT / "native/action.yml").read_text(encoding="utf-8"))
(STEP,) = NATIVE["runs"]["steps"]


def test_both_actions_have_the_same_inputs_and_outputs() -> None:
    outputs = {name: {"description": field["description"]} for name, field in NATIVE["outputs"].items()}

    assert NATIVE["inputs"] == CONTAINER["inputs"]
    assert outputs == CONTAINER["outputs"]


def test_every_input_reaches_the_step_and_every_output_leaves_it() -> None:
    wired = {f"INPUT_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in NATIVE["inputs"]}
    values = {name: field["value"] for name, field in NATIVE["outputs"].items()}

    assert STEP["env"] == wired
    assert values == {name: f"${{{{ steps.{STEP['id']}.outputs.{name} }}}}" for name in NATIVE["outputs"]}


def test_its_step_does_the_main_job(job: Job) -> None:
    """The regression's comment, outputs and exit code, by what its one step says, with the inputs that it wires."""
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    job.pull.push(head)
    step = job.make_step(job.repo.root, job.github.api_url)
    payload = pull_request_payload(job.pull.repository, job.pull.number, head, base, head_ref="pr")
    given = {name: field["default"] for name, field in NATIVE["inputs"].items()} | {"github_token": job.github.token}
    environ = step.environ("pull_request", payload)
    environ |= {name: given[value.removeprefix("${{ inputs.")[:-3]] for name, value in STEP["env"].items()}
    environ["GITHUB_ACTION_PATH"] = str(ROOT / "native")
    (Path(environ["RUNNER_TEMP"]) / "tidegate-venv").symlink_to(sys.prefix)

    ran = step.run(environ, ("bash", "-e", "-o", "pipefail", "-c", STEP["run"]))

    assert ran.exit_code == 1, ran.stderr
    (comment,) = job.pull.bot_comments()
    assert (step.outputs()["verdict"], step.outputs()["comment_url"]) == ("failed", comment.url)


def test_an_old_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path)}
    done = subprocess.run(
        ["bash", ROOT / "native/run.sh"], env=environ, capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert done.returncode == 4
    assert re.search(r"Python 3\.11 or newer.*setup-python", done.stderr)
