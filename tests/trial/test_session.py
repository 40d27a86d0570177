"""The input and the end of a watched agent program, under a real supervisor."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import pytest

from tests import mcp_server
from tests.make import DOCS, scenario, spec
from tidegate.model.access import NetworkAccess
from tidegate.model.agent import ServerScript
from tidegate.model.event import End, Message, ToolCall, ToolResult, Warning
from tidegate.model.plan import PlanRow, row_key
from tidegate.model.prices import Price
from tidegate.model.suite import Budget, Limits
from tidegate.model.target import McpServer
from tidegate.trial.cost_meter import CostMeter, Spending
from tidegate.trial.directories import Attempt, Folders, TrialDirectories
from tidegate.trial.mcp import recording
from tidegate.trial.processes import Supervisor
from tidegate.trial.recorder import Stops, receiving
from tidegate.trial.session import AgentStopped, TrialSession
from tidegate.trial.workspace import Prepared

T = TypeVar("T")
RunJob = Callable[[TrialSession], Awaitable[T]]
KEY = "dummy-secret-key"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
STOPS: dict[Path, Stops] = {}  # of the session in that folder, once it is over


def server_script(folders: Folders, quirks: str) -> ServerScript:
    """The MCP server of the tests, behind the recorder."""
    server = McpServer(command=f"{sys.executable} -IS {mcp_server.__file__} {quirks}", name="shelf")
    script = recording.install(
        folders.scratch / "recorder", server, ENVIRONMENT, folders.workspace, folders.calls, folders.early_server
    )
    return ServerScript(server.name, script)


def place(folder: Path, limits: Limits) -> TrialDirectories:
    """Where the session runs: most of it is not used."""
    path = ENVIRONMENT["PATH"]
    return TrialDirectories(
        prepared=Prepared(folder, ()),
        of_agent=Prepared(folder, ()),
        repo=folder,
        definitions=folder,
        path=path,
        target_path=path,
        of_server={},
        check_path=path,
        wraps_target=False,
        agent_path=path,
        passed_env={},
        credentials={"THE_KEY": KEY, "THE_URL": "http://127.0.0.1:1"},
        limits=limits,
        network=NetworkAccess(),
        untested=(),
        hidden={},
        readable=(),
    )


def at_work(
    tmp_path: Path,
    work: RunJob[T],
    *,
    seconds: float = 60,
    silence: float = 20,
    meter: CostMeter | None = None,
    server: str | None = None,
    limits: Limits | None = None,
) -> T:
    """The work's answer, done in a session that may take that long; `server` are the quirks of its MCP server."""

    async def run() -> T:
        folders = Folders(record=tmp_path / "record", scratch=tmp_path / "scratch")
        folders.make(None)
        folders.workspace.mkdir()
        async with await Supervisor.start() as supervisor:
            attempt = Attempt(
                spec=spec(),
                row=PlanRow(
                    key=row_key("s", "a"),
                    scenario=scenario(timeout_secs=seconds),
                    agent=DOCS,
                    deterministic=True,
                ),
                place=place(tmp_path, limits or Limits()),
                folders=folders,
                supervisor=supervisor,
                deadline=math.inf,
                on_step=lambda text: None,
                meter=meter,
            )
            script = None if server is None else server_script(folders, server)
            session = TrialSession(attempt, ENVIRONMENT, server=script, silence_secs=silence)
            with receiving(folders.calls, folders.record / folders.calls.name):
                async with aclosing(session):
                    try:
                        return await work(session)
                    finally:
                        STOPS[tmp_path] = session.stops

    return asyncio.run(run())


def stopped(
    tmp_path: Path,
    work: RunJob[object],
    *,
    seconds: float = 60,
    silence: float = 20,
    meter: CostMeter | None = None,
    server: str | None = None,
    limits: Limits | None = None,
) -> str:
    with pytest.raises(AgentStopped) as caught:
        at_work(tmp_path, work, seconds=seconds, silence=silence, meter=meter, server=server, limits=limits)
    return f"{caught.value.end}: {caught.value.message}"


def nothing(line: str, at: float) -> None:
    """A watch that has nothing to say."""


def test_lines_are_watched_while_the_program_still_runs(tmp_path: Path) -> None:
    seen: list[str] = []

    def watch(line: str, at: float) -> End | None:
        seen.append(line)
        return End(end="auth", message="refused") if line == "two" else None

    program = "echo one; echo two; sleep 60; echo three"
    assert stopped(tmp_path, lambda session: session.program(program, watch=watch)) == "auth: refused"
    assert seen == ["one", "two"]


def test_a_last_line_without_its_end_and_bytes_that_are_no_text_are_seen(tmp_path: Path) -> None:
    seen: list[str] = []
    at_work(tmp_path, lambda session: session.program("printf 'a\\377\\nb'", watch=lambda line, _: seen.append(line)))
    assert seen == ["a\ufffd", "b"]


def test_a_silent_program_is_stopped(tmp_path: Path) -> None:
    said = stopped(tmp_path, lambda session: session.program("echo one; sleep 60", watch=nothing), silence=0.5)
    assert said == "watchdog: the agent printed nothing for 0.5 s"


def test_what_is_no_command_ends_with_the_step_too(tmp_path: Path) -> None:
    said = stopped(tmp_path, lambda session: session.in_time(asyncio.sleep(60)), seconds=0.3)
    assert said == "timeout: the agent was stopped after 0.3 s"


def test_an_events_time_and_the_wall_clock_have_one_origin(tmp_path: Path) -> None:
    """Recorded calls have times of the wall clock: with two origins their order would depend on the machine's load."""

    async def work(session: TrialSession) -> tuple[float, float, float]:
        await asyncio.sleep(0.05)
        before = time.time()
        session.emit(Warning(text="now"))
        return before, session.started_at + session.events[-1].at, time.time()

    before, told, after = at_work(tmp_path, work)
    assert before - 0.005 <= told <= after + 0.005


def test_a_secret_is_taken_out_of_events_outputs_and_files(tmp_path: Path) -> None:
    async def work(session: TrialSession) -> str:
        result = await session.program(f"echo {KEY}; echo x{KEY}y >&2", watch=nothing)
        session.emit(Message(text=f"{KEY}, http://127.0.0.1:1"))
        (session.home / "side.jsonl").write_text(KEY)
        return result.stdout + result.stderr + session.side_file(session.home / "side.jsonl") + str(session.events)

    said = at_work(tmp_path, work)
    assert KEY not in said
    assert "x[THE_KEY]y" in said
    assert "[THE_KEY], http://127.0.0.1:1" in said
    kept = "".join(file.read_text() for file in (tmp_path / "record").glob("agent.*"))
    assert KEY not in kept
    assert kept.count("[THE_KEY]") == 3


def test_a_programs_own_environment_is_not_that_of_the_shell(tmp_path: Path) -> None:
    async def work(session: TrialSession) -> tuple[str, str]:
        program = await session.program("echo $MINE", env={"MINE": "yes"})
        shell = await session.shell("echo $MINE")
        return program.stdout, shell.stdout

    assert at_work(tmp_path, work) == ("yes\n", "\n")


@pytest.mark.parametrize(
    ("meter", "why"),
    [
        (Spending(Budget(usd=9)).meter(None, 0.5), "the scenario's $0.5 for a trial were used up"),
        (Spending(Budget(usd=0.5)).meter(None, None), "the run's $0.5 were used up"),
        (Spending(Budget(tokens=100)).meter(None, None), "the run's 100 tokens were used up"),
        (Spending(Budget(usd=2e-4)).meter(Price(output=2.0), None), "the run's $0.0002 were used up"),
        (Spending(Budget(usd=1), lambda: (1.0, 0)).meter(None, 9), "the run's $1 were used up"),
    ],
)
def test_an_agent_that_tells_what_it_has_spent_is_stopped_in_the_middle(
    meter: CostMeter, why: str, tmp_path: Path
) -> None:
    async def work(session: TrialSession) -> object:
        def watch(line: str, at: float) -> None:
            cost = None if meter.price else 0.5
            session.told = End(end="crashed", cost_usd=cost, tokens_in=0, tokens_out=100)

        return await session.program("echo started; sleep 30", watch=watch)

    began = time.monotonic()
    assert stopped(tmp_path, work, meter=meter) == f"budget: {why}"
    assert time.monotonic() - began < 15


def test_what_trials_spend_adds_up_and_the_last_word_of_each_counts() -> None:
    spending = Spending(Budget(usd=1.0, tokens=1_000))
    one, other = (spending.meter(None, None) for _ in range(2))
    one.tell(End(end="completed", cost_usd=0.3, tokens_in=100, tokens_out=1))
    one.tell(End(end="completed", cost_usd=0.4, tokens_in=200, tokens_out=2))
    other.tell(End(end="crashed"))
    assert spending.used_up() is None
    other.tell(End(end="completed", cost_usd=0.6))
    assert other.over() == ("the run's $1 were used up", "budget")


def calls(*titles: str) -> RunJob[TrialSession]:
    """Calls the server's tool with these titles, between commands of the shell."""

    async def work(session: TrialSession) -> TrialSession:
        await session.server_tools()
        for title in titles:
            await session.ask_server("tool", "add", {"title": title}, timeout_secs=60)
            await session.shell("echo x; exit 3")
        return session

    return work


def test_calls_of_tools_are_events_between_those_of_the_shell(tmp_path: Path) -> None:
    session = at_work(tmp_path, calls("Emma", "refuse"), server="")
    assert next(event for event in session.events if isinstance(event, ToolCall)).model_dump(exclude={"at"}) == {
        "type": "tool_call",
        "id": "call-001",
        "tool": "mcp__shelf__add",
        "written": {},
        "command": None,
        "input": {"title": "Emma"},
    }
    results = [(event.id, event.status, event.output) for event in session.events if isinstance(event, ToolResult)]
    assert results == [
        ("call-001", "ok", "added Emma"),
        ("call-002", "error", "x"),
        ("call-003", "error", "no"),
        ("call-004", "error", "x"),
    ]
    assert (tmp_path / "scratch/workspace/titles.txt").read_text() == "Emma\n"
    assert (tmp_path / "record/server.stderr").read_text() == "starting\n"


def test_a_call_ends_with_the_step(tmp_path: Path) -> None:
    began = time.monotonic()
    assert stopped(tmp_path, calls("sleep"), seconds=4, server="") == "timeout: the agent was stopped after 4 s"
    assert time.monotonic() - began < 120
    (call,) = recording.read(tmp_path / "record/invocations.log", STOPS[tmp_path]).invocations
    assert call.status == "timeout"


def test_a_servers_limits_are_the_steps(tmp_path: Path) -> None:
    said = stopped(tmp_path, calls("hog"), server="", limits=Limits(memory_mb=300))
    assert said == "limit:memory: `the MCP server shelf` was stopped at the memory limit"


def test_a_server_that_does_not_start_ends_the_step(tmp_path: Path) -> None:
    said = stopped(tmp_path, lambda session: session.server_tools(), server="broken")
    assert (
        said
        == "crashed: the MCP server shelf did not start: the server has ended: exit 1; it wrote: starting / no database"
    )
