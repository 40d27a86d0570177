"""A reusable workflow as GitHub runs it for a caller, with expressions evaluated by GitHub's own evaluator."""

from __future__ import annotations

import atexit
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.gh.emulated.node import evaluate_command
from tests.gh.emulated.runner import Ran, Step, pull_request_payload
from tests.gh.job import Job

ROOT = Path(__file__).parents[3]
LEVELS = ("none", "read", "write")
OWN = {"workflow_repository": "owner/tidegate", "workflow_sha": "0" * 40}
TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "boolean": bool, "number": (int, float)}


class RefusedError(Exception):
    """GitHub would not start the run; the message says why."""


def evaluated(value: object, contexts: Mapping[str, Any], *, failed: bool = False) -> Any:
    """Return the value with all expressions replaced. An undefined context is an error, as on GitHub."""
    ours = _evaluator()
    assert ours.stdin
    assert ours.stdout
    print(json.dumps({"contexts": contexts, "failed": failed, "value": value}), file=ours.stdin, flush=True)
    said = json.loads(ours.stdout.readline())
    assert "error" not in said, said
    return said["value"]


@cache
def _evaluator() -> subprocess.Popen[str]:
    """One for this process: to start Node takes longer than any expression."""
    started = subprocess.Popen(evaluate_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(started.communicate)
    return started


@dataclass(frozen=True)
class Event:
    """What starts the caller: name and payload, the run's id, the repository's secrets."""

    name: str
    payload: Mapping[str, Any]
    run: int = 1
    secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def github(self) -> dict[str, Any]:
        """The context `github`."""
        repository = self.payload["repository"]["full_name"]
        return {
            "event": self.payload,
            "event_name": self.name,
            "ref": f"refs/pull/{self.payload.get('number', 0)}/merge",
            "repository": repository,
            "run_id": self.run,
            "run_attempt": 1,
        }


@dataclass
class Called:
    """The one job of a reusable workflow, with its caller's inputs and secrets."""

    workflow: Mapping[str, Any]
    job: Mapping[str, Any]
    contexts: dict[str, Any]
    granted: Mapping[str, str] = field(default_factory=dict)  # by the calling job

    @property
    def concurrency(self) -> Any:
        """Group and whether a newer run cancels, of the workflow or else of the job."""
        return evaluated(self.workflow.get("concurrency") or self.job.get("concurrency"), self.contexts)

    @property
    def starts(self) -> bool:
        """Whether the job's `if:` lets it start."""
        return bool(evaluated({"if": self.job.get("if", "true")}, self.contexts)["if"])

    @property
    def permissions(self) -> dict[str, str]:
        """Those of the job's token."""
        return dict(self.job.get("permissions", self.granted))


def call(caller: str, event: Event, name: str = "", **contexts: Any) -> Called:
    """Resolve the caller's `uses:`. Raises RefusedError for what GitHub refuses: inputs, secrets and permissions.

    `name`: which job, of several; `contexts`: its `needs` and `matrix`.
    """
    outer = yaml.safe_load(caller)
    (calling,) = outer["jobs"].values()
    path = calling["uses"].partition("@")[0].removeprefix("owner/tidegate/")
    workflow = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    (job,) = [jobs[name]] if name else jobs.values()
    accepted = workflow[True]["workflow_call"] or {}  # YAML 1.1 reads `on` as true
    github = {"github": event.github}
    inputs = _inputs(accepted.get("inputs", {}), evaluated(calling.get("with", {}), github))
    handed = evaluated(calling.get("secrets", {}), {**github, "secrets": dict(event.secrets)})
    if unknown := set(handed) - set(accepted.get("secrets", {})):
        raise RefusedError(f"secrets that are not declared: {unknown}")
    for permission, level in (
        (key, value) for one in jobs.values() for key, value in one.get("permissions", {}).items()
    ):
        if LEVELS.index(level) > LEVELS.index(calling["permissions"].get(permission, "none")):
            raise RefusedError(f"a job asks for `{permission}: {level}`, which the caller does not have")
    known = {**github, "inputs": inputs, "secrets": {**handed}, "job": OWN, **contexts}
    return Called(workflow, job, known, calling["permissions"])


def complete(text: str, event: Event) -> Called:
    """A workflow that calls no other, with one job; its secrets are the repository's."""
    workflow = yaml.safe_load(text.replace("OWNER/tidegate@COMMIT", "./.tidegate-action"))
    (job,) = workflow["jobs"].values()
    contexts = {"github": event.github, "secrets": dict(event.secrets), "job": OWN}
    return Called({**workflow, "copied": True}, job, contexts)


def _inputs(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := set(given) - set(declared):
        raise RefusedError(f"inputs that are not declared: {unknown}")
    for name, value in given.items():
        if not isinstance(value, TYPES[declared[name]["type"]]):
            raise RefusedError(f"input `{name}` is not a {declared[name]['type']}")
    return {name: given.get(name, field.get("default")) for name, field in declared.items()}


def opened(job: Job, run: int, **changes: Any) -> Event:
    """Return the event of a pull request that was opened, with its test merge checked out."""
    head, base = job.repo.git("rev-parse", "pr"), job.repo.git("rev-parse", "main")
    job.pull.push(head)
    changes = {"action": "opened", "head_ref": "pr", **changes}
    return Event("pull_request", pull_request_payload(job.pull.repository, job.pull.number, head, base, **changes), run)


@dataclass
class Ended:
    """A job that has ended: how our step did, and what was uploaded."""

    ran: Ran
    step: Step
    token: str
    uploads: dict[str, bytes] = field(default_factory=dict)
    failed: bool = False  # the job's conclusion
    said: str = ""  # by the steps that are commands
    env: Mapping[str, str] = field(default_factory=dict)  # of the job, in the end


@dataclass
class _Running:
    """A job between two of its steps."""

    event: Event
    token: str
    contexts: dict[str, Any]
    env: dict[str, str]
    failed: bool = False
    said: str = ""
    ours: Ended | None = None


@dataclass
class Runner:
    """Runs a called job. `workspace` is what actions/checkout leaves; `token_with` makes a token, GitHub's if None.

    `environ` is added to the job's variables; of it, those for an OIDC token only with the permission.
    """

    workspace: Path
    pull_request: Job
    token_with: Callable[[Mapping[str, str]], str] | None = None
    artifacts: Mapping[str, bytes] = field(default_factory=dict)  # of the run's earlier jobs
    environ: Mapping[str, str] = field(default_factory=dict)
    refuses: str = ""  # what the artifact service says to every upload

    def run(self, called: Called, event: Event) -> Ended:
        """Run all steps whose `if:` holds."""
        token_with = self.token_with or self.pull_request.github.token_with
        token = token_with({"metadata": "read", **called.permissions})
        contexts = {**called.contexts, "github": {**called.contexts["github"], "token": token}, "steps": {}}
        contexts["env"] = evaluated(called.job.get("env", {}), contexts)
        if "copied" in called.workflow:
            (self.workspace / ".tidegate-action").symlink_to(ROOT)
        job = _Running(event, token, contexts, {**contexts["env"], **self._more(called)})
        steps = called.job["steps"]
        ahead = next(index for index, step in enumerate(steps) if step.get("uses", "").startswith("./")) + 1
        before = evaluated([step | {"if": step.get("if", "true")} for step in steps[:ahead]], contexts)
        for step in before:
            self._step(step, job)
        for step in steps[ahead:]:
            self._step(evaluated(step | {"if": step.get("if", "true")}, job.contexts, failed=job.failed), job)
        assert job.ours is not None
        job.ours.failed, job.ours.said, job.ours.env = job.failed, job.said, job.env
        return job.ours

    def _step(self, step: Mapping[str, Any], job: _Running) -> None:
        if not step["if"]:
            return
        ok, outputs, uses = True, dict[str, str](), step.get("uses", "")
        if uses.startswith("./"):
            ended = self._ours({**step, "env": {**job.env, **step.get("env", {})}}, job)
            ok, outputs = ended.ran.exit_code == 0, ended.step.outputs()
            job.ours = job.ours or ended
        elif uses.startswith("actions/checkout@"):
            self._checked_out(step.get("with", {}))
        elif uses.startswith("actions/download-artifact@"):
            ok = self._download(step["with"])
        elif uses.startswith("actions/upload-artifact@"):
            ok, outputs = self._upload(step["with"], job)
        elif "run" in step:
            ok = self._command(step, job)
        job.contexts["steps"][step.get("id", "")] = {"outcome": "success" if ok else "failure", "outputs": outputs}
        job.failed |= not ok and not step.get("continue-on-error", False)

    def _command(self, step: Mapping[str, Any], job: _Running) -> bool:
        """A step that is a command. What it writes to GITHUB_ENV holds for the later steps."""
        file = self.workspace.parent / "github-env"
        file.write_text("")
        given = {name: _text(value) for name, value in {**job.env, **step.get("env", {})}.items()}
        environ = {"PATH": "/usr/bin:/bin", "GITHUB_ENV": str(file), **given}
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=self.workspace, env=environ, capture_output=True, text=True, check=False)
        job.said += done.stdout + done.stderr
        job.env |= {name: value for name, _, value in (line.partition("=") for line in file.read_text().splitlines())}
        return done.returncode == 0

    def _upload(self, given: Mapping[str, Any], job: _Running) -> tuple[bool, dict[str, str]]:
        if self.refuses:
            job.said += f"::error::Failed to CreateArtifact: {self.refuses}\n"
            return False, {}
        uploaded = self._uploaded(given)
        assert job.ours is not None
        job.ours.uploads |= uploaded
        page = f"https://github.com/{job.event.payload['repository']['full_name']}/actions/runs/{job.event.run}"
        return True, {"artifact-url": f"{page}/artifacts/77"} if uploaded else {}

    def _more(self, called: Called) -> dict[str, str]:
        has_identity = called.permissions.get("id-token") == "write"
        return {key: value for key, value in self.environ.items() if has_identity or not key.startswith("ACTIONS_ID_")}

    def _checked_out(self, given: Mapping[str, Any]) -> None:
        """Put our own repository at the path that it is checked out to. The caller's is there already."""
        if "repository" in given:
            assert (given["repository"], given["ref"]) == tuple(OWN.values())
            (self.workspace / given["path"]).symlink_to(ROOT)

    def _download(self, given: Mapping[str, Any]) -> bool:
        """Unpack one artifact into the path, or those of the pattern, each into a folder of its name."""
        for name, data in self.artifacts.items():
            if name == given.get("name") or fnmatch(name, given.get("pattern", "")):
                folder = self.workspace / given["path"] / ("" if "name" in given else name)
                zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
        return given.get("name", "") in ("", *self.artifacts)

    def _ours(self, step: Mapping[str, Any], job: _Running) -> Ended:
        """Run the action that lies in the workspace, with its defaults, as the runner does."""
        event, token, contexts = job.event, job.token, job.contexts
        action = yaml.safe_load((self.workspace / step["uses"] / "action.yml").read_text(encoding="utf-8"))
        given = {name: _text(value) for name, value in step.get("with", {}).items()}
        assert set(given) <= set(action["inputs"])
        defaults = {name: field.get("default", "") for name, field in action["inputs"].items()}
        inputs = {**evaluated(defaults, contexts), **given}
        ours = self.pull_request.make_step(self.workspace, self.pull_request.github.api_url)
        env = {name: _text(value) for name, value in step.get("env", {}).items()}
        environ = {**ours.environ(event.name, event.payload, inputs, (event.run, 1)), **env}
        if action["runs"]["using"] == "docker":
            return Ended(self.pull_request.start(ours, environ), ours, token)
        (inner,) = action["runs"]["steps"]
        environ = {key: value for key, value in environ.items() if not key.startswith("INPUT_")}
        environ |= evaluated(inner["env"], {**contexts, "inputs": inputs})
        environ["GITHUB_ACTION_PATH"] = str(self.workspace / step["uses"])
        (Path(environ["RUNNER_TEMP"]) / "tidegate-venv").symlink_to(sys.prefix)
        return Ended(ours.run(environ, ("bash", "-e", "-o", "pipefail", "-c", inner["run"])), ours, token)

    def _uploaded(self, given: Mapping[str, Any]) -> dict[str, bytes]:
        """Pack the named files that exist. All of ours lie in one folder, whose name is not part of the archive."""
        paths = [self.workspace / line for line in given["path"].split()]
        if not given.get("archive", True):
            (path,) = paths
            return {path.name: path.read_bytes()} if path.is_file() else {}
        assert given["include-hidden-files"] or all(not line.startswith(".") for line in given["path"].split())
        found = [path for path in paths if path.is_file()]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path in found:
                archive.write(path, path.name)
        return {given["name"]: packed.getvalue()} if found else {}


def _text(value: object) -> str:
    """A value as an input or variable."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return str(value)
