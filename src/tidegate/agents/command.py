"""The agent `command`: any program."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import field_validator

from tidegate.agents.coding import how, own_end, servers_file
from tidegate.agents.streams import STREAMS, StreamName, agentv
from tidegate.model.agent import Agent, Machine, Session
from tidegate.model.event import CommandResult, End, Message, ToolCall
from tidegate.text.placeholders import check_placeholders, filled_command

PLACEHOLDERS = ("prompt", "prompt_file", "workspace", "repo", "mcp_config")
MCP_CONFIG = "TIDEGATE_MCP_CONFIG"


class CommandAgent(Agent):
    """Any program. It gets the prompt by placeholder, in the file `TIDEGATE_PROMPT_FILE`, or with `stdin: prompt` on
    stdin.

    `command` runs by `sh -c` in the workspace. The placeholders `{prompt}`, `{prompt_file}`, `{workspace}`, `{repo}`
    (the side's checkout) and `{mcp_config}` are shell-quoted already, so do not put them in quotes. Write `{{` and `}}`
    for literal braces. If the tool under test is an MCP server, `{mcp_config}` is its configuration file:
    `{mcpServers: {NAME: {command, args}}}`, or `{type, url}` for a server at a URL. The file's path is also in
    `TIDEGATE_MCP_CONFIG`.

    `output` is the format of its standard output: `text`, `events` (Tidegate's JSON lines), `agentv`, or the stream of
    an agent that it imitates, such as `claude-code`.
    """

    type: Literal["command"]
    command: str
    output: StreamName = "text"
    stdin: Literal["none", "prompt"] = "none"

    calls_servers: ClassVar[bool] = True
    starts_server: ClassVar[bool] = True

    @field_validator("command")
    @classmethod
    def _known_placeholders(cls, command: str) -> str:
        return check_placeholders(command, PLACEHOLDERS)

    @property
    def reports_calls(self) -> bool:
        """True unless its output is plain text."""
        return self.output != "text"

    async def check(self, machine: Machine) -> str | None:
        """Return a hash of the files outside of the repository that the command names; None if it names none."""
        try:
            words = shlex.split(self.command)
        except ValueError:
            words = self.command.split()
        found = [file for word in words for file in machine.program_words(word) or (word,)]
        contents = [_content(file) for file in dict.fromkeys(found) if file.startswith("/")]
        digest = hashlib.sha256("".join(filter(None, contents)).encode()).hexdigest()
        return f"sha256:{digest[:12]}" if any(contents) else None

    async def run(self, session: Session) -> End:
        """Run the program, read its output, and return how it ended."""
        server = session.server
        servers = str(session.home_file("mcp.json", servers_file(server))) if server else ""
        values = {
            "prompt": session.prompt,
            "prompt_file": str(session.prompt_file),
            "workspace": str(session.workspace),
            "repo": str(session.repo),
            "mcp_config": servers,
        }
        stdin = session.prompt_file if self.stdin == "prompt" else None

        def watch(line: str, at: float) -> None:
            """Show what the program does as it prints. The events are recorded from the whole output later."""
            for event in STREAMS[self.output].parse(line) if self.output != "agentv" else ():
                if isinstance(event, ToolCall | Message):
                    session.step(event.text if isinstance(event, Message) else event.command or event.tool)

        silent = self.output in ("text", "agentv")
        result = await session.program(
            filled_command(self.command, values),
            stdin=stdin,
            env={MCP_CONFIG: servers} if servers else None,
            watch=watch,
            silent=silent,
        )
        events = STREAMS[self.output].parse(result.stdout)
        for event in events:
            if not isinstance(event, End):
                session.emit(event)
        if self.output in ("text", "agentv"):
            return _end_by_status(result, traced=self.output == "agentv" and agentv.is_traced(result.stdout))
        return own_end(next((event for event in reversed(events) if isinstance(event, End)), None), result)


def _content(file: str) -> str:
    """Return a hash of the file; "" if it is none, or cannot be read."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if Path(file).is_file() else ""
    except OSError:
        return ""


def _end_by_status(result: CommandResult, *, traced: bool) -> End:
    if result.ok:
        return End(end="completed", traced=traced)
    end = "killed" if result.end == "signal" else "crashed"
    return End(end=end, message=how(result), status=result.shell_status, traced=traced)
