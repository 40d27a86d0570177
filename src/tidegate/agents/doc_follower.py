"""An agent without a model: it does what the docs say, literally."""

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
MAX_CHARACTERS = 200_000  # of one document


class DocFollower(Agent):
    """Executes what the docs say, literally. Deterministic, free and fast: it finds docs that no longer match the tool.

    It reads the prompt, then the guidance files and README.md in the workspace: fenced blocks marked `sh`, `bash`,
    `shell`, `console` or not at all, and indented ones (outside the prompt only those with `$ ` prompts); in a block
    with `$ ` prompts only what was typed there. Of the blocks that call the target it runs every line, in order,
    identical ones once. `cd`, `export` and variables hold until the end of their block. When a call of the target
    fails, it runs `TARGET SUBCOMMAND --help`, then the same line once more. A line with a placeholder (`<id>`, `…`)
    is skipped and counted. It stops after 200 lines.
    """

    type: Literal["doc-follower"]

    @property
    def is_deterministic(self) -> bool:
        """Always, unless `deterministic: false` says that the target itself is not."""
        return self.deterministic is not False

    async def run(self, session: Session) -> End:
        """Follow the prompt, then the guidance, then README.md; always completes."""
        reading = _Reading(session)
        for name, blocks in _documents(session):
            await reading.follow(name, blocks)
        return End(end="completed", message=reading.summary())


def _documents(session: Session) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """What there is to follow, each document with its blocks; only read when its turn has come."""
    from tidegate.agents.instructions import blocks  # the Markdown parser and the grammar load for this agent alone

    yield "the prompt", blocks(session.prompt, session.binary, indented=True)
    guidance = [path for path in session.guidance if path.lower().endswith((".md", ".markdown"))]
    for path in dict.fromkeys([*guidance, "README.md"]):
        text = session.read_text(path) or ""
        if len(text) > MAX_CHARACTERS:
            session.emit(Warning(text=f"only the first {MAX_CHARACTERS} characters of {path} were read"))
        yield path, blocks(text[:MAX_CHARACTERS], session.binary)


@dataclass
class _Reading:
    """How far the agent has come in its documents."""

    session: Session
    failed: int = 0
    skipped: int = 0
    results: dict[str, CommandResult] = field(default_factory=dict)

    def summary(self) -> str:
        if not self.results and not self.skipped:
            return f"found no instruction that calls {self.session.binary}"
        return f"ran {len(self.results)} lines, {self.failed} failed, {self.skipped} skipped"

    async def follow(self, name: str, blocks: tuple[Block, ...]) -> None:
        """Run what is to be run of one document."""
        if blocks:
            lines = sum(len(block.lines) for block in blocks)
            self.session.emit(Message(text=f"Following {name}: {lines} lines in {len(blocks)} blocks."))
        for block in blocks:
            state: list[str] = []  # what earlier lines of the block have changed in the reader's shell
            for line in block.lines:
                if line.unfit:
                    self._skip(f"{name}, line {line.row} was skipped, {line.unfit}: {line.text[:200]}")
                else:
                    state += await self._state_after(line, state)

    async def _state_after(self, line: ShellLine, state: list[str]) -> list[str]:
        """Run the line, unless it was run before, and say what it changed in the reader's shell."""
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
        """Run the line; if it calls the target and fails, read the help and run it once more."""
        if line.variable:
            command += f' && printf %s "${line.variable}"'  # so that the next lines can be given the value
        result = await self.session.shell(command)
        if result.ok or not line.calls:
            return result
        await self.session.shell(" && ".join([*state, _help(line)]))
        return await self.session.shell(command)

    def _is_full(self) -> bool:
        return len(self.results) + self.skipped >= MAX_LINES

    def _skip(self, warning: str) -> None:
        """Count a line that is not run; only those within the limit, and the first after it, are warned of."""
        if len(self.results) + self.skipped <= MAX_LINES:
            self.session.emit(Warning(text=warning))
        self.skipped += 1


def _help(line: ShellLine) -> str:
    """`TARGET SUBCOMMAND --help` for the line's last call: the one that, as a rule, its exit status belongs to."""
    call = line.calls[-1]
    name = subcommand(call.program, call.argv, None)
    return shlex.join([call.program, *([name] if name else []), "--help"])
