from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import ValidationError

from tidegate.agents.agentv_cli import AgentVBatch, AgentVCli
from tidegate.agents.command import CommandAgent
from tidegate.model.event import CommandResult
from tidegate.trial.program_lookup import program_words

if TYPE_CHECKING:
    from tests.trial.agents.conftest import LocalSession

PROMPT = """Add "milk" & don't $(touch pwned) `x`\nsecond line"""


def braces(text: str) -> str:
    """The text as a command has to write it: every brace doubled."""
    return text.replace("{", "{{").replace("}", "}}")


def command(line: str, output: Literal["text", "events", "agentv"] = "text") -> CommandAgent:
    return CommandAgent(type="command", command=line, output=output)


def test_placeholders_are_shell_quoted(session: LocalSession) -> None:
    session.prompt = PROMPT
    agent = command("printf '%s|' {prompt} {prompt_file} {workspace} {repo} ; echo {{a,b}}")
    assert session.run(agent).end == "completed"
    words = [PROMPT, str(session.prompt_file), str(session.workspace), str(session.repo)]
    assert session.messages == ["|".join(words) + "|{a,b}"]
    assert not (session.workspace / "pwned").exists()


def test_the_prompt_comes_on_stdin_only_when_asked_for(session: LocalSession) -> None:
    session.prompt = PROMPT
    session.run(CommandAgent(type="command", command="cat", stdin="prompt"))
    session.run(command('echo "[$(cat)]"'))
    assert session.messages == [PROMPT, "[]"]


def test_the_prompt_file_is_in_the_environment(session: LocalSession) -> None:
    session.prompt = PROMPT
    session.run(command('cat "$TIDEGATE_PROMPT_FILE"'))
    assert session.messages == [PROMPT]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x {promt}", "unknown placeholder {promt}; there are {prompt}, {prompt_file}, {workspace}, {repo}"),
        ("x ${HOME}", "unknown placeholder {HOME}"),
        ("x {}", "unknown placeholder {}"),
        ("x {prompt!r}", "a name in braces and nothing more"),
        ("x {prompt:>9}", "a name in braces and nothing more"),
        ("x {prompt", "expected '}'"),
        ("x }", "Single '}'"),
        ('x "{prompt}"', "{prompt} stands inside quotes"),
        ("x {repo} '{prompt}'", "{prompt} stands inside quotes"),
    ],
)
def test_a_wrong_command_is_a_validation_error(line: str, problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        command(line)
    assert problem in str(caught.value)


def test_quotes_that_are_closed_before_a_placeholder_are_fine() -> None:
    assert command("""x "a'b" 'c"d' {prompt}""").output == "text"


def test_text_crashes_with_status_and_last_word(session: LocalSession) -> None:
    end = session.run(command("echo half; echo first >&2; echo 'no key' >&2; exit 3"))
    assert (end.end, end.message, end.status) == ("crashed", "exit 3: no key", 3)
    assert session.messages == ["half"]


def test_a_missing_program_crashes_and_says_not_found(session: LocalSession) -> None:
    end = session.run(command("no-such-agent {prompt}"))
    assert end.end == "crashed"
    assert "not found" in end.message


DONE = '{"type": "end", "end": "completed", "turns": 2, "cost_usd": 0.01}'


def test_events_are_emitted_and_the_end_event_is_the_end(session: LocalSession) -> None:
    hello = '{"type": "message", "text": "hi"}'
    end = session.run(command(f"echo '{braces(hello)}'; echo '{braces(DONE)}'", "events"))
    assert (end.end, end.turns, end.cost_usd, end.tokens_in) == ("completed", 2, 0.01, None)
    assert [event.type for event in session.events] == ["message"]


@pytest.mark.parametrize(
    ("line", "end", "message", "status"),
    [
        ("true", "crashed", "ended without an end event, exit 0", 0),
        ("echo oops >&2; exit 4", "crashed", "ended without an end event, exit 4: oops", 4),
        (f"echo '{braces(DONE)}'; exit 1", "crashed", "said completed, but exit 1", 1),
        ("""echo '{{"type": "end", "end": "max_turns", "message": "30"}}'; exit 1""", "max_turns", "30", None),
    ],
)
def test_events_complete_only_by_end_event_and_status(
    session: LocalSession, line: str, end: str, message: str, status: int | None
) -> None:
    last = session.run(command(line, "events"))
    assert (last.end, last.message, last.status) == (end, message, status)


def test_a_crash_after_completed_keeps_the_usage(session: LocalSession) -> None:
    end = session.run(command(f"echo '{braces(DONE)}'; exit 1", "events"))
    assert (end.end, end.turns) == ("crashed", 2)


def test_agentv_output_is_read(session: LocalSession) -> None:
    text = '{"output_messages": [{"role": "assistant", "content": "ok", "tool_calls": [{"tool": "t", "input": {}}]}]}'
    end = session.run(command(f"echo '{braces(text)}'", "agentv"))
    assert end.end == "completed"
    assert [event.type for event in session.events] == ["message", "tool_call"]


def test_not_deterministic_unless_stated() -> None:
    assert not command("x").is_deterministic
    assert CommandAgent(type="command", command="x", deterministic=True).is_deterministic


class Computer:
    """A machine whose programs are in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.repo = folder, folder
        self.credentials: dict[str, str] = {}

    def program_words(self, name: str) -> tuple[str, ...] | None:
        return program_words(name, str(self.folder))

    async def output(self, command: str) -> CommandResult:
        raise AssertionError(command)


def test_its_version_is_the_content_of_the_programs_outside_of_the_repository(tmp_path: Path) -> None:
    program, script = tmp_path / "my-agent", tmp_path / "steps.py"
    program.write_text("exit 0")
    program.chmod(0o755)

    def version(line: str) -> str | None:
        return asyncio.run(command(line).check(Computer(tmp_path)))

    lines = (f"my-agent {script} < /dev/zero", "my-agent {prompt}")
    before = [version(line) for line in lines]
    script.write_text("2")
    middle = [version(line) for line in lines]
    program.write_text("exit 1")
    after = [version(line) for line in lines]
    assert [len({one[number] for one in (before, middle, after)}) for number in (0, 1)] == [3, 2]
    assert (version("gone {prompt}"), version("cat /dev/zero")) == (None, None)


@pytest.mark.parametrize("kind", [AgentVCli, AgentVBatch])
@pytest.mark.parametrize(("status", "end"), [(0, "completed"), (3, "crashed")])
def test_a_target_of_agentv_crashes_with_its_status(
    session: LocalSession, kind: type[AgentVCli], status: int, end: str
) -> None:
    line = json.dumps({"id": session.scenario, "text": "half"})
    last = session.run(kind(command_template=f"echo {shlex.quote(line)}; exit {status}"))
    assert (last.end, last.status) == (end, status or None)
    assert session.messages == ["half"]
