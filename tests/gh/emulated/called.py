"""A reusable workflow as GitHub runs it for a caller, with expressions evaluated by GitHub's own evaluator."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
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
    given = json.dumps({"contexts": contexts, "failed": failed, "value": value})
    done = subprocess.run(evaluate_command(), input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
    granted: Mapping[str, str]

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
        """Those of the job's token: a job that names none has those that the caller grants."""
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
    asked = [pair for one in jobs.values() for pair in one.get("permissions", {}).items()]
    for permission, level in asked:
        if LEVELS.index(level) > LEVELS.index(calling["permissions"].get(permission, "none")):
            raise RefusedError(f"a job asks for `{permission}: {level}`, which the caller does not have")
    known = {**github, "inputs": inputs, "secrets": {**handed}, "job": OWN, **contexts}
    return Called(workflow, job, known, calling["permissions"])


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
    uploads: dict[str, bytes]


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

    def run(self, called: Called, event: Event) -> Ended:
        """Run all steps whose `if:` holds."""
        token_with = self.token_with or self.pull_request.github.token_with
        token = token_with({"metadata": "read", **called.permissions})
        contexts = {**called.contexts, "github": {**called.contexts["github"], "token": token}}
        before = [step | {"if": step.get("if", "true")} for step in called.job["steps"]]
        ended: Ended | None = None
        for step, written in zip(evaluated(before, contexts), called.job["steps"], strict=True):
            if step["uses"].startswith("./") and step["if"]:
                assert ended is None
                ended = self._ours(
                    step | {"env": {**step.get("env", {}), **self._more(called)}}, event, token, contexts
                )
            elif step["uses"].startswith("actions/checkout@"):
                self._checked_out(step.get("with", {}))
            elif step["uses"].startswith("actions/download-artifact@") and step["if"]:
                self._download(step["with"])
            elif step["uses"].startswith("actions/upload-artifact@"):
                assert ended is not None
                condition = {"if": written.get("if", "true")}
                if evaluated(condition, contexts, failed=ended.ran.exit_code != 0)["if"]:
                    ended.uploads |= self._uploaded(step["with"])
        assert ended is not None
        return ended

    def _more(self, called: Called) -> dict[str, str]:
        has_identity = called.permissions.get("id-token") == "write"
        return {key: value for key, value in self.environ.items() if has_identity or not key.startswith("ACTIONS_ID_")}

    def _checked_out(self, given: Mapping[str, Any]) -> None:
        """Put our own repository at the path that it is checked out to. The caller's is there already."""
        if "repository" in given:
            assert (given["repository"], given["ref"]) == tuple(OWN.values())
            (self.workspace / given["path"]).symlink_to(ROOT)

    def _download(self, given: Mapping[str, Any]) -> None:
        """Unpack one artifact into the path, or those of the pattern, each into a folder of its name."""
        assert given.get("name", "") in ("", *self.artifacts), "the action fails"
        for name, data in self.artifacts.items():
            if name == given.get("name") or fnmatch(name, given.get("pattern", "")):
                folder = self.workspace / given["path"] / ("" if "name" in given else name)
                zipfile.ZipFile(io.BytesIO(data)).extractall(folder)

    def _ours(self, step: Mapping[str, Any], event: Event, token: str, contexts: Mapping[str, Any]) -> Ended:
        """Run the action that lies in the workspace, with its defaults, as the runner does."""
        action = yaml.safe_load((self.workspace / step["uses"] / "action.yml").read_text(encoding="utf-8"))
        given = {name: _text(value) for name, value in step.get("with", {}).items()}
        assert set(given) <= set(action["inputs"])
        defaults = {name: field.get("default", "") for name, field in action["inputs"].items()}
        inputs = {**evaluated(defaults, contexts), **given}
        ours = self.pull_request.make_step(self.workspace, self.pull_request.github.api_url)
        env = {name: _text(value) for name, value in step.get("env", {}).items()}
        environ = {**ours.environ(event.name, event.payload, inputs, (event.run, 1)), **env}
        if action["runs"]["using"] == "docker":
            return Ended(self.pull_request.start(ours, environ), ours, token, {})
        (inner,) = action["runs"]["steps"]
        environ = {key: value for key, value in environ.items() if not key.startswith("INPUT_")}
        environ |= evaluated(inner["env"], {**contexts, "inputs": inputs})
        environ["GITHUB_ACTION_PATH"] = str(self.workspace / step["uses"])
        (Path(environ["RUNNER_TEMP"]) / "tidegate-venv").symlink_to(sys.prefix)
        return Ended(ours.run(environ, ("bash", "-e", "-o", "pipefail", "-c", inner["run"])), ours, token, {})

    def _uploaded(self, given: Mapping[str, Any]) -> dict[str, bytes]:
        """Pack the named files that exist. All of ours lie in one folder, whose name is not part of the archive."""
        paths = [self.workspace / line for line in given["path"].split()]
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
