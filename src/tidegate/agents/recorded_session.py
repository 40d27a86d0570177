"""The agent that replays a session of base: each step is done again, without a model."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from tidegate.agents.actions import Action, CannotRepeatError, action_of, edited
from tidegate.model.agent import Agent, ServerTools, Session
from tidegate.model.event import End, Message, ToolCall, ToolResult
from tidegate.model.trial import FOLDER_MARK, STDERR, Places, SessionRecord, SessionStep, without_folder
from tidegate.text.noise import Names, Printed, new_names, with_names

MOST_CHARACTERS = 200_000  # of a step's output
LEAST_SECS, TIMES = 30.0, 10.0  # a step may take so long, or so many times what it took when it was recorded
_CHANGES_FOLDER = re.compile(r"\b(?:cd|pushd|popd)\b")
_HIDDEN = "-not -path '*/.git/*' -not -name .git"


class RecordedSession(Agent):
    """Replays one session. Newly generated ids replace the recorded ones in later steps."""

    type: Literal["recorded-session"] = "recorded-session"
    session: SessionRecord

    async def run(self, session: Session) -> End:
        """Do the steps, and stop at one that takes too long."""
        recorded = self.session
        trial, checkout = str(session.workspace.parent), str(session.repo)
        places = Places(trial=trial, checkout=checkout, user=_user(session.workspace))
        if recorded.server:
            session.emit(ToolResult(id="offered", status="ok", output=_described(await session.server_tools())))
        again = _Again(recorded, session, places)
        for number, step in enumerate(recorded.steps, 1):
            result = await again.repeat(number, step)
            if result is None:
                return End(end="completed", message=f"step {number} took too long")
        return End(end="completed", message=f"repeated {len(recorded.steps)} steps")


class _Again:
    """The state of a replay: the current folder, and the new names of generated ids."""

    def __init__(self, recorded: SessionRecord, session: Session, places: Places) -> None:
        self._recorded = recorded
        self._session = session
        self._places = places
        self._folder = str(session.workspace)
        self._names: Names = {}

    async def repeat(self, number: int, step: SessionStep) -> ToolResult | None:
        """Do one step again, and record it as the events of the trial. Return None if it took too long."""
        action = action_of(step, self._recorded.server)
        seconds = LEAST_SECS + TIMES * step.secs
        match action.kind:
            case "shell":
                result = await self._shell(self._filled(action.text), seconds)
            case "call":
                given = self._filled_value(dict(action.given))
                answer = await self._session.ask_server(
                    "tool", action.text, given, timeout_secs=seconds, shown=MOST_CHARACTERS
                )
                result = ToolResult(id="", status=answer.status, output=answer.text)
            case "nothing":
                return ToolResult(id="", status="ok")
            case "write" | "edit":
                result = self._change(number, step, action)
            case _:
                result = await self._shell(
                    _command(action, self._filled(action.path), self._filled(action.text)), seconds
                )
        if result.status == "timeout":
            return None
        before = Printed(step.output, step.at, step.secs)
        self._names.update(new_names(before, Printed(self._places.hide(without_folder(result.output)), 0.0, step.secs)))
        return result

    async def _shell(self, command: str, seconds: float) -> ToolResult:
        line = command
        moved = self._folder != str(self._session.workspace)
        if self._recorded.keeps_folder and (moved or _CHANGES_FOLDER.search(command)):
            told = f"trap 'echo; echo \"{FOLDER_MARK}$PWD\"' EXIT"
            line = f"cd {shlex.quote(self._folder)} && {told}\n{command}"
        if self._recorded.shell == "bash":
            line = f"bash -c {shlex.quote(line)}"
        done = await self._session.shell(line, timeout_secs=seconds, shown=MOST_CHARACTERS)
        self._session.emit(Message(role="system", text=f"{STDERR}{done.stderr}"))
        if FOLDER_MARK in line and (found := re.findall(rf"^{FOLDER_MARK}(/.*)$", done.stdout, re.MULTILINE)):
            self._folder = found[-1]
        return ToolResult(id="", status=done.status, exit_code=done.shell_status, output=done.printed)

    def _change(self, number: int, step: SessionStep, action: Action) -> ToolResult:
        """Write or edit a file of the workspace, as the agent's own tool did."""
        name = self._name(self._filled(action.path))
        session = self._session
        session.emit(ToolCall(id=f"step-{number}", tool=step.tool, input={"path": name}))
        edits = tuple(edit._replace(old=self._filled(edit.old), new=self._filled(edit.new)) for edit in action.edits)
        text = self._filled(action.text) if action.kind == "write" else edited(session.read_text(name), edits)
        if text is not None:
            session.write_text(name, text)
        result = ToolResult(id=f"step-{number}", status="error" if text is None else "ok")
        session.emit(result)
        return result

    def _name(self, path: str) -> str:
        """Return the path relative to the workspace. Raises CannotRepeatError if it leads out of it."""
        workspace = PurePosixPath(self._session.workspace)
        whole = PurePosixPath(os.path.normpath(workspace / path))
        if not whole.is_relative_to(workspace) or whole == workspace:
            raise CannotRepeatError(f"{path} is not in the workspace")
        return str(whole.relative_to(workspace))

    def _filled(self, text: str) -> str:
        return self._places.fill_in(with_names(text, self._names))

    def _filled_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._filled(value)
        if isinstance(value, Mapping):
            return {key: self._filled_value(one) for key, one in value.items()}
        return [self._filled_value(one) for one in value] if isinstance(value, list) else value


def _command(action: Action, path: str, text: str) -> str:
    """Return the command that shows what an agent's own tool showed."""
    where = shlex.quote(path)
    match action.kind:
        case "read":
            return f"cat -- {where}"
        case "list":
            return f"ls -A -- {where}"
        case "find":
            return f"find {where} {_HIDDEN} | sort"
        case _:
            return f"grep -rnIE --exclude-dir=.git -e {shlex.quote(text)} -- {where} | sort"


def _described(offered: ServerTools) -> str:
    tools = [f"{tool.name}: {tool.description} {tool.schema}" for tool in offered.tools]
    return "\n".join([*tools, offered.instructions])


def _user(workspace: Path) -> str:
    """Return the number of the trial's user; '' if trials run as Tidegate's own."""
    owner = workspace.stat().st_uid
    return "" if owner == os.geteuid() else str(owner)
