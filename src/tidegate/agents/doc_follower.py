"""The agent `doc-follower`: runs the commands in the docs, without a model."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tidegate.agents.invocations.metrics import subcommand
from tidegate.model.agent import Agent, Session
from tidegate.model.event import CommandResult, End, Message, Warning

if TYPE_CHECKING:
    from tidegate.agents.instructions import Block
    from tidegate.agents.invocations.shell_grammar import ShellLine

SUFFIXES = (".md", ".markdown", ".mkd", ".rst")  # of documents whose examples can be read
READMES = ("README.md", "README.rst")
MAX_LINES = 200
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9_-]*")
MAX_CHARACTERS = 200_000  # characters of one document


class DocFollower(Agent):
    """Runs the commands in your docs verbatim. Deterministic, free and fast: it finds docs that no longer match the
    tool.

    It reads the prompt, then the guidance files and README.md or README.rst in the workspace. Documents are
    Markdown or reStructuredText. It reads fences of a shell language (`sh`, `console`, …), fences without a
    language if all their lines are commands, plain text with prompts such as `$ `, and indented blocks (outside the
    prompt only those with prompts, unless `indented` is set). In a block with prompts, it runs only the lines typed
    there. In blocks that call the tool under test, it runs the lines in order, identical lines once. `cd`, `export`
    and variables last until the end of the block. When a call of the tool fails, it runs `TOOL SUBCOMMAND --help`
    and then the line again. It reads documents before it runs anything, and stops after 200 lines of each.

    Lines of documents that are not examples are skipped and counted: a synopsis (`[OPTIONS]`, `FILE`, `a|b`, `…`), a
    placeholder (`<id>`, `path/to/x`), help text, and lines that name a file which the workspace lacks, before the
    document's first call of the tool: later, the tool may have had to write it. So are lines that are not about the
    tool alone: they call programs other than common file tools, name paths outside of the workspace, install into
    `~/.local/bin`, or need an address on the network. A whole block is skipped if a line in it that does not call the
    tool calls such a program: it belongs to a longer procedure. `run_all: true` runs these too.
    Of the prompt, every line without a placeholder is run. `skip` lists commands of documents that are known to fail.
    """

    type: Literal["doc-follower"]
    run_all: bool = False
    skip: tuple[str, ...] = ()
    indented: bool = False

    @property
    def is_deterministic(self) -> bool:
        """True, unless `deterministic: false` is set because the tool under test is not."""
        return self.deterministic is not False

    async def run(self, session: Session) -> End:
        """Follow the prompt, then the guidance, then the README. Always completes."""
        reading = _Following(session, run_all=self.run_all, skip=self.skip)
        for name, blocks in [*_documents(session, indented=self.indented)]:  # all are read before anything runs
            await reading.follow(name, blocks)
        return End(end="completed", message=reading.summary())


PROMPT = "the prompt"


def _documents(session: Session, *, indented: bool) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """Yield each document to follow, with its blocks."""
    from tidegate.agents.instructions import blocks, markdown_of  # 40 ms: slow imports that only this agent needs

    yield PROMPT, blocks(session.prompt, session.binary, indented=True)
    guides = (path for path in session.guidance if path.lower().endswith(SUFFIXES))
    for path in dict.fromkeys((*guides, *READMES)):
        text = session.document(path) or ""
        if len(text) > MAX_CHARACTERS:
            session.emit(Warning(text=f"only the first {MAX_CHARACTERS} characters of {path} were read"))
        yield path, blocks(markdown_of(path, text[:MAX_CHARACTERS]), session.binary, indented=indented)


@dataclass
class _Following:
    """The agent's progress through its documents."""

    session: Session
    run_all: bool = False
    skip: tuple[str, ...] = ()
    failed: int = 0
    skipped: int = 0
    seen: int = 0  # lines of the document that were run or skipped
    has_called: bool = False  # the tool, in the document
    results: dict[str, CommandResult] = field(default_factory=dict)

    def summary(self) -> str:
        if not self.results and not self.skipped:
            return f"found no instruction that calls {self.session.binary}"
        return f"ran {len(self.results)} lines, {self.failed} failed, {self.skipped} skipped"

    async def follow(self, name: str, blocks: tuple[Block, ...]) -> None:
        """Run the lines of one document."""
        self.seen, self.has_called = 0, False
        if blocks:
            lines = sum(map(len, blocks))
            self.session.emit(Message(text=f"Following {name}. Commands: {lines}."))
        for block in blocks:
            state: list[str] = []  # state of the reader's shell after the block's earlier lines
            lacking: str | None = None  # the block's first step that was left out, which later lines may need
            for line in block:
                reason = line.unfit
                if name != PROMPT:
                    listed = "`skip` lists it" if _command(state, line) in self.skip else None
                    reason = reason or lacking or listed or self._why_not(line, block)
                if reason:
                    self._skip(f"{name}, line {line.row} was skipped, {reason}: {line.text[:200]}")
                    if not line.calls and lacking is None and name != PROMPT:
                        lacking = f"line {line.row} before it was skipped"
                else:
                    state += await self._state_after(line, state)

    def _why_not(self, line: ShellLine, block: Block) -> str | None:
        """Return why a line of a document is not run; None if it is.

        After a call, a line is run whether its file exists or not: the tool may have had to write it.
        """
        from tidegate.agents.instructions import address, foreign, missing_file, synopsis, unfinished  # 40 ms

        own = self.session.binary
        other = None if self.run_all else foreign(line, own) or address(line.text) or unfinished(block, own)
        missing = None if self.has_called else missing_file(line, self.session.workspace, self.results)
        return synopsis(line, block) or other or missing

    async def _state_after(self, line: ShellLine, state: list[str]) -> list[str]:
        """Run the line, unless it ran before, and return what it changed in the reader's shell."""
        command = _command(state, line)
        if command not in self.results:
            if self.seen >= MAX_LINES:
                self._skip(f"the limit of {MAX_LINES} lines is reached; no more of them are run")
                return []
            self.seen += 1
            self.results[command] = await self._run(command, line, state)
            self.failed += not self.results[command].ok
        self.has_called |= bool(line.calls)
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

    def _skip(self, warning: str) -> None:
        """Count a line that is not run. Warn only up to the first line over the limit."""
        if self.seen <= MAX_LINES:
            self.session.emit(Warning(text=warning))
        self.skipped += 1
        self.seen += 1


def _command(state: Sequence[str], line: ShellLine) -> str:
    return " && ".join([*state, line.text])


def _help(line: ShellLine) -> str:
    """Return `TOOL SUBCOMMAND --help` for the line's last call, which usually sets its exit status."""
    call = line.calls[-1]
    name = subcommand(call.program, call.argv, None) or ""
    return shlex.join([call.program, *([name] if _SUBCOMMAND.fullmatch(name) else []), "--help"])
