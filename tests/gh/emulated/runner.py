"""GitHub's runner as a step sees it: variables and files before, and what is made of its files and lines after.

The rules are those of the runner's own source (FileCommandManager, ActionCommand, ContainerActionHandler).
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.warm import run_tidegate

EVENTS = Path(__file__).parent / "events"
MAX_SUMMARY_BYTES = 1024 * 1024
MAX_ANNOTATIONS = 10
KNOWN_COMMANDS = frozenset(
    {"add-mask", "add-matcher", "debug", "echo", "endgroup", "error", "group", "notice", "remove-matcher"}
    | {"save-state", "set-output", "stop-commands", "warning"}
)


class MalformedFileError(Exception):
    """The runner would fail the step: its file cannot be read."""


class Ran(NamedTuple):
    """How the step's program ended."""

    exit_code: int
    log: Log
    stdout: str
    stderr: str


class Step:
    """One step of one job, with files and folders of its own."""

    def __init__(self, folder: Path, workspace: Path, api_url: str = "https://api.github.com") -> None:
        self.workspace = workspace
        self._folder = folder
        self._api_url = api_url
        for name in ("home", "workflow", "file_commands", "runner_temp"):
            (folder / name).mkdir(parents=True)
        for name in ("set_output", "step_summary", "set_env", "add_path", "save_state"):
            (folder / "file_commands" / name).touch()

    def environ(
        self,
        event: str,
        payload: Mapping[str, Any],
        inputs: Mapping[str, str] | None = None,
        run: tuple[int, int] = (1_000, 1),
    ) -> dict[str, str]:
        """All variables of the step. `run`: run id and attempt; `inputs`: as in the workflow's `with:`."""
        event_file = self._folder / "workflow/event.json"
        event_file.write_text(json.dumps(payload), encoding="utf-8")
        commands = self._folder / "file_commands"
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "HOME": str(self._folder / "home"),
            "RUNNER_TEMP": str(self._folder / "runner_temp"),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_REPOSITORY": payload["repository"]["full_name"],
            "GITHUB_API_URL": self._api_url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": "0" * 40,
            "GITHUB_RUN_ID": str(run[0]),
            "GITHUB_RUN_ATTEMPT": str(run[1]),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(commands / "set_output"),
            "GITHUB_STEP_SUMMARY": str(commands / "step_summary"),
            "GITHUB_ENV": str(commands / "set_env"),
            "GITHUB_PATH": str(commands / "add_path"),
            "GITHUB_STATE": str(commands / "save_state"),
            **{f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in (inputs or {}).items()},
        }

    def run(self, environ: Mapping[str, str], command: Sequence[str] = ("tidegate", "action")) -> Ran:
        """Run the action's program as the container's entry point would."""
        if command[0] == "tidegate":
            done = run_tidegate(*command[1:], cwd=self.workspace, env=environ, timeout=300)
        else:
            done = subprocess.run(
                command, cwd=self.workspace, env=dict(environ), capture_output=True, text=True, check=False, timeout=300
            )
        return Ran(done.returncode, read_log(done.stdout + done.stderr), done.stdout, done.stderr)

    def outputs(self) -> dict[str, str]:
        """`steps.ID.outputs`."""
        return read_key_values((self._folder / "file_commands/set_output").read_text(encoding="utf-8"))

    def summary(self) -> str:
        """The summary that the job's page shows; too large a one is dropped, which is an error here."""
        data = (self._folder / "file_commands/step_summary").read_bytes()
        if len(data) > MAX_SUMMARY_BYTES:
            raise MalformedFileError(f"the summary has {len(data)} bytes")
        return data.decode()

    def variables(self) -> dict[str, str]:
        """What the step would set for later steps; the action has to leave it alone."""
        return read_key_values((self._folder / "file_commands/set_env").read_text(encoding="utf-8"))


def pull_request_payload(
    repository: str, number: int, head_sha: str, base_sha: str, head_ref: str = "shorter-flag", **changes: Any
) -> dict[str, Any]:
    """GitHub's own example of `pull_request`, with our numbers in it.

    `changes`: `action`, `title`, `draft`, `base_ref`, `sender`, `head_repo` (None: a fork that was deleted), and
    `changes` (of the action `edited`: what it was before).
    """
    payload = load_event("pull_request.synchronize")
    pull = payload["pull_request"]
    payload["number"] = pull["number"] = number
    payload["action"] = changes.get("action", "synchronize")
    payload["repository"]["full_name"] = repository
    payload["sender"]["login"] = changes.get("sender", "octocat")
    if "label" in changes:
        payload["label"] = {"name": changes["label"]}
    if "changes" in changes:
        payload["changes"] = changes["changes"]
    pull["title"] = changes.get("title", "Shorten --priority to --prio")
    pull["draft"] = changes.get("draft", False)
    pull["head"] |= {"sha": head_sha, "ref": head_ref}
    pull["base"] |= {"sha": base_sha, "ref": changes.get("base_ref", "main")}
    pull["base"]["repo"]["full_name"] = repository
    head_repo = changes.get("head_repo", repository)
    pull["head"]["repo"] = None if head_repo is None else {**pull["base"]["repo"], "full_name": head_repo}
    return payload


def workflow_run_payload(repository: str, run: int, head_sha: str, **changes: Any) -> dict[str, Any]:
    """A run of the pull request's workflow has ended. `changes`: `branch`, `head_repo`, `event`, `conclusion`, …"""
    payload = load_event("workflow_run.completed")
    payload["repository"]["full_name"] = repository
    head_repo = changes.get("head_repo", repository)
    payload["workflow_run"] |= {
        "id": run,
        "run_attempt": changes.get("attempt", 1),
        "event": changes.get("event", "pull_request"),
        "conclusion": changes.get("conclusion", "failure"),
        "head_sha": head_sha,
        "head_branch": changes.get("branch", "shorter-flag"),
        "head_repository": head_repo and {**payload["workflow_run"]["head_repository"], "full_name": head_repo},
        "actor": {**payload["sender"], "login": changes.get("actor", "mallory")},
        "pull_requests": [],  # as always for forks
    }
    return payload


def push_payload(repository: str, sha: str, branch: str = "main") -> dict[str, Any]:
    """Commits came to a branch; `main` is the default one."""
    payload = load_event("push")
    payload["repository"] |= {"full_name": repository, "default_branch": "main"}
    return {**payload, "ref": f"refs/heads/{branch}", "after": sha, "deleted": False}


def dispatch_payload(repository: str, sender: str, inputs: Mapping[str, str]) -> dict[str, Any]:
    """A person has started the workflow by hand."""
    payload = load_event("workflow_dispatch")
    payload["repository"]["full_name"] = repository
    payload["sender"]["login"] = sender
    payload["inputs"] = dict(inputs)
    return payload


def load_event(name: str) -> dict[str, Any]:
    """A payload of `events/`, as GitHub documents it."""
    payload: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return copy.deepcopy(payload)


def read_key_values(text: str) -> dict[str, str]:
    """A file of GITHUB_OUTPUT's kind: whichever of `=` and `<<` comes first decides; a malformed line is an error."""
    values: dict[str, str] = {}
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if not line:
            continue
        equals, block = line.find("="), line.find("<<")
        if equals >= 0 and (block < 0 or equals < block):
            name, value = line[:equals], line[equals + 1 :]
        elif block >= 0:
            name, delimiter = line[:block], line[block + 2 :]
            if not delimiter or delimiter not in lines:
                raise MalformedFileError(f"matching delimiter not found {delimiter!r}")
            end = lines.index(delimiter)
            value = "\n".join(lines[:end])
            del lines[: end + 1]
        else:
            raise MalformedFileError(f"invalid format {line!r}")
        if not name:
            raise MalformedFileError(f"invalid format {line!r}: no name")
        values[name] = value
    return values


@dataclass
class Command:
    """A workflow command that the runner obeys."""

    name: str
    message: str
    properties: dict[str, str] = field(default_factory=dict)


@dataclass
class Log:
    """The step's output: commands, and lines that are only shown."""

    commands: list[Command] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def annotations(self) -> list[Command]:
        """What the pull request shows: at most ten of each level."""
        counts: Counter[str] = Counter()
        found: list[Command] = []
        for command in self.commands:
            if command.name in ("error", "warning", "notice"):
                counts[command.name] += 1
                if counts[command.name] <= MAX_ANNOTATIONS:
                    found.append(command)
        return found


def read_log(text: str) -> Log:
    """Every line as the runner reads it, on stdout and stderr alike."""
    log, stopped = Log(), ""
    for line in re.split(r"\r\n|\n|\r", text):
        command = _command(line, stopped)
        if command is None:
            log.shown.append(line)
        elif command.name == stopped:
            stopped = ""
        elif not stopped:
            log.commands.append(command)
            stopped = command.message if command.name == "stop-commands" else ""
    return log


def _command(line: str, stopped: str) -> Command | None:
    """`::name key=value,key=value::message`, or the old `##[name key=value;]message`; only known names count."""
    found, between = re.match(r"\s*::([^\s:]+)(?: (.*?))?::(.*)", line), ","
    if found is None:
        found, between = re.search(r"##\[([^\s\]]+)(?: (.*?))?\](.*)", line), ";"
    if found is None:
        return None
    name, listed, message = found[1].lower(), found[2] or "", found[3]
    if stopped:
        return Command(found[1], message) if found[1] == stopped else None
    if name not in KNOWN_COMMANDS:
        return None
    pairs = (pair.partition("=") for pair in listed.split(between) if "=" in pair)
    properties = {key.strip(): _unescaped(value, "%3A:", "%2C,") for key, _, value in pairs}
    return Command(name, _unescaped(message), properties)


def _unescaped(text: str, *more: str) -> str:
    for escape in (*more, "%0D\r", "%0A\n", "%25%"):
        text = text.replace(escape[:3], escape[3:])
    return text
