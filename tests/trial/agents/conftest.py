"""A session without a supervisor: it really runs `sh -c` in a real workspace with a small real target."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tidegate.agents.invocations.metrics import cost_of
from tidegate.model.agent import Agent, ServerScript, ServerTools, ToolAnswer, Watch
from tidegate.model.event import CommandResult, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.prices import Price
from tidegate.model.probe import ServerPart

T = TypeVar("T")

TARGET = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1" in
  add) [ -n "$2" ] || { echo "add: no title" >&2; exit 2; }; echo "$2" >> tasks.txt; wc -l < tasks.txt | tr -d ' ' ;;
  list) cat tasks.txt 2>/dev/null || true ;;
  done) grep -qx "$2" ids.txt 2>/dev/null || sed -n "$2p" tasks.txt | grep -q . ;;
  import) cat >> tasks.txt ;;
  where) pwd; echo "$TASKMGR_HOME" ;;
  --help) echo "usage: taskmgr COMMAND" ;;
  *) [ "$2" = --help ] && { echo "usage"; exit 0; }; echo "unknown command $1" >&2; exit 2 ;;
esac
"""


@dataclass
class LocalSession:
    """The Session protocol by asyncio's own subprocesses; `calls` is what the target itself saw."""

    root: Path
    prompt: str = ""
    scenario: str = "tasks"
    trial_id: str = "head/tasks/agent/1"
    guidance: tuple[str, ...] = ("AGENTS.md",)
    binary: str = "taskmgr"
    max_turns: int | None = None
    credentials: Mapping[str, str] = field(default_factory=dict)
    told: End | None = None
    price: Price | None = None
    server: ServerScript | None = None
    tools: ServerTools = field(default_factory=ServerTools)
    answers: list[ToolAnswer] = field(default_factory=list)  # to calls of tools, in order
    steps: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    workspace: Path = field(init=False)
    repo: Path = field(init=False)
    prompt_file: Path = field(init=False)
    home: Path = field(init=False)
    recorder: Path | None = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.root / "home"
        self.recorder = self.root / "bin" / "taskmgr"
        self.workspace = self.root / "work space"
        self.repo = self.root / "repo"
        self.prompt_file = self.root / "prompt.txt"
        for folder in (self.workspace, self.repo, self.home, self.root / "bin"):
            folder.mkdir()
        target = self.root / "bin" / "taskmgr"
        target.write_text(TARGET)
        target.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        log = self.root / "calls.txt"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def commands(self) -> list[str]:
        return [event.command or "" for event in self.events if isinstance(event, ToolCall)]

    @property
    def warnings(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Warning)]

    @property
    def messages(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Message)]

    def program_words(self, name: str) -> tuple[str, ...] | None:
        return (name,)

    async def shell(self, command: str, *, timeout_secs: float | None = None, shown: int = 4000) -> CommandResult:
        name = f"call-{len(self.events)}"
        self.emit(ToolCall(id=name, tool="shell", command=command))
        result = await self.program(command)
        status = "ok" if result.ok else "error"
        self.emit(ToolResult(id=name, status=status, exit_code=result.exit_code, output=result.stdout + result.stderr))
        return result

    async def program(
        self,
        command: str,
        *,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        silent: bool = False,
    ) -> CommandResult:
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        with (stdin or Path(os.devnull)).open("rb") as given:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                command,
                cwd=self.workspace,
                env={
                    "PATH": path,
                    "CALLS": str(self.root / "calls.txt"),
                    "HOME": str(self.home),
                    "TIDEGATE_PROMPT_FILE": str(self.prompt_file),
                    **(env or {}),
                },
                stdin=given,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await process.communicate()
        for line in out.decode().splitlines() if watch else ():
            if watch and watch(line, 1.0):
                break
        return CommandResult(
            command=command, end="exited", exit_code=process.returncode, stdout=out.decode(), stderr=err.decode()
        )

    async def server_tools(self) -> ServerTools:
        return self.tools

    async def ask_server(
        self, what: ServerPart, tool: str, given: Mapping[str, Any], *, timeout_secs: float, shown: int = 4000
    ) -> ToolAnswer:
        name = f"call-{len(self.events)}"
        kind = {"tool": "", "resource": "resource ", "prompt": "prompt "}[what]
        self.emit(ToolCall(id=name, tool=f"{kind}{tool}", input=dict(given)))
        answer = self.answers.pop(0)
        self.emit(ToolResult(id=name, status=answer.status, output=answer.text))
        return answer

    async def in_time(self, waiting: Awaitable[T]) -> T:
        return await waiting

    def cost(self, used: End) -> float | None:
        return None if self.price is None else cost_of(used, self.price)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def step(self, text: str) -> None:
        self.steps.append(text)

    def home_file(self, name: str, text: str) -> Path:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def side_file(self, path: Path) -> str:
        return path.read_text()

    def read_text(self, path: str) -> str | None:
        file = self.workspace / path
        return file.read_text() if file.is_file() else None

    def document(self, path: str) -> str | None:
        return self.read_text(path)

    def write_text(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def write(self, path: str, text: str) -> None:
        (self.workspace / path).write_text(text)

    def run(self, agent: Agent) -> End:
        self.prompt_file.write_text(self.prompt)
        return asyncio.run(agent.run(self))


@pytest.fixture
def session(tmp_path: Path) -> LocalSession:
    return LocalSession(tmp_path)


@pytest.fixture
def new_session(tmp_path: Path) -> Callable[[str, str], LocalSession]:
    """One more session, by trial id and scenario."""

    def make(trial_id: str, scenario: str) -> LocalSession:
        root = tmp_path / trial_id.replace("/", "-")
        root.mkdir()
        return LocalSession(root, trial_id=trial_id, scenario=scenario)

    return make
