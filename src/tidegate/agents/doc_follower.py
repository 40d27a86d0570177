"""The agent `doc-follower`: runs the commands in the docs, without a model."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tidegate.invocations.metrics import subcommand
from tidegate.model.agent import Agent, Session
from tidegate.model.command import CommandResult
from tidegate.model.event import End, Message, Warning

if TYPE_CHECKING:
    from tidegate.agents.instructions import Block
    from tidegate.invocations.shell_grammar import ShellLine

MAX_LINES = 200
MAX_CHARACTERS = 200_000  # characters of one document


class DocFollower(Agent):
    """Runs the commands in your docs verbatim. Deterministic, free and fast: it finds docs that no longer match the
    tool.

    It reads the prompt, then the guidance files and README.md in the workspace. It reads fenced blocks marked `sh`,
    `bash`, `shell`, `console` or not at all, and indented blocks (outside the prompt only those with `$ ` prompts). In
    a block with `$ ` prompts, it runs only the lines typed there. In blocks that call the tool under test, it runs
    every line in order, identical lines once. `cd`, `export` and variables last until the end of the block. When a call
    of the tool fails, it runs `TOOL SUBCOMMAND --help` and then the line again. Lines with a placeholder (`<id>`, `…`)
    are skipped and counted. It stops after 200 lines.
    """

    type: Literal["doc-follower"]

    @property
    def is_deterministic(self) -> bool:
        """True, unless `deterministic: false` is set because the tool under test is not."""
        return self.deterministic is not False

    async def run(self, session: Session) -> End:
        """Follow the prompt, then the guidance, then README.md. Always completes."""
        reading = _Reading(session)
        for name, blocks in _documents(session):
            await reading.follow(name, blocks)
        return End(end="completed", message=reading.summary())


def _documents(session: Session) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """Yield each document to follow, with its blocks. A document is only read when it is reached."""
    from tidegate.agents.instructions import blocks  # slow imports that only this agent needs

    yield "the prompt", blocks(session.prompt, session.binary, indented=True)
    guidance = [path for path in session.guidance if path.lower().endswith((".md", ".markdown"))]
    for path in dict.fromkeys([*guidance, "README.md"]):
        text = session.read_text(path) or ""
        if len(text) > MAX_CHARACTERS:
            session.emit(Warning(text=f"only the first {MAX_CHARACTERS} characters of {path} were read"))
        yield path, blocks(text[:MAX_CHARACTERS], session.binary)


@dataclass
class _Reading:
    """The agent's progress through its documents."""

    session: Session
    failed: int = 0
    skipped: int = 0
    results: dict[str, CommandResult] = field(default_factory=dict)

    def summary(self) -> str:
        if not self.results and not self.skipped:
            return f"found no instruction that calls {self.session.binary}"
        return f"ran {len(self.results)} lines, {self.failed} failed, {self.skipped} skipped"

    async def follow(self, name: str, blocks: tuple[Block, ...]) -> None:
        """Run the lines of one document."""
        if blocks:
            lines = sum(len(block.lines) for block in blocks)
            self.session.emit(Message(text=f"Following {name}: {lines} lines in {len(blocks)} blocks."))
        for block in blocks:
            state: list[str] = []  # state of the reader's shell after the block's earlier lines
            for line in block.lines:
                if line.unfit:
                    self._skip(f"{name}, line {line.row} was skipped, {line.unfit}: {line.text[:200]}")
                else:
                    state += await self._state_after(line, state)

    async def _state_after(self, line: ShellLine, state: list[str]) -> list[str]:
        """Run the line, unless it ran before, and return what it changed in the reader's shell."""
        command = " && ".join([*state, line.text])
        if command not in self.results:
            if self._is_full():
                self._skip(f"the limit of {MAX_LINES} lines is reached; no more of them are run")
                return []
            self.results[command] = await self._run(command, line, state)
            self.failed += not self.results[command].ok
        result = self.results[command]
        if not result.ok:
            return []
        return [f"{line.variable}={shlex.quote(result.stdout)}"] if line.variable else list(line.state)

    async def _run(self, command: str, line: ShellLine, state: list[str]) -> CommandResult:
        """Run the line. If it calls the tool and fails, read the help and run it again."""
        if line.variable:
            command += f' && printf %s "${line.variable}"'  # so that later lines can use the value
        result = await self.session.shell(command)
        if result.ok or not line.calls:
            return result
        await self.session.shell(" && ".join([*state, _help(line)]))
        return await self.session.shell(command)

    def _is_full(self) -> bool:
        return len(self.results) + self.skipped >= MAX_LINES

    def _skip(self, warning: str) -> None:
        """Count a line that is not run. Warn only up to the first line over the limit."""
        if len(self.results) + self.skipped <= MAX_LINES:
            self.session.emit(Warning(text=warning))
        self.skipped += 1


def _help(line: ShellLine) -> str:
    """Return `TOOL SUBCOMMAND --help` for the line's last call, which usually sets its exit status."""
    call = line.calls[-1]
    name = subcommand(call.program, call.argv, None)
    return shlex.join([call.program, *([name] if name else []), "--help"])
