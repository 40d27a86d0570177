"""The supervisor with real processes, including some that try to outlive it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tidegate.errors import CannotRunError
from tidegate.model.suite import Limits
from tidegate.trial.processes import Account, Command, Refused, Supervisor, SupervisorLost, run_shell
from tidegate.trial.safe_files import read_output
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.starter import SupervisorProcess
from tidegate.trial.sandbox.supervisor.messages import Ended

PYTHON = (sys.executable, "-I", "-S", "-c")
PATH = "/usr/local/bin:/usr/bin:/bin"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run commands as another user")

# Escape artists. Each gets a mark as its argument, by which the tests find what is left of it.
IMMUNE = """
import os, signal, sys, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
"""
DAEMON = f"""{IMMUNE}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[2], "w").close()
        while True:
            time.sleep(1)
    os._exit(0)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
"""
# Four lines of descent in which every process makes its successor, in a new session, and is gone.
HYDRA = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
HOG = """
import threading
import time
held = []
while True:
    held.append(bytearray(b"x" * 4_000_000))
    time.sleep(0.005)
"""
CROWD = """
import os, time
for _ in range(100):
    if os.fork() == 0:
        time.sleep(60)
time.sleep(60)
"""
THREAD_OUTLIVES_MAIN = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def command_in(folder: Path) -> Callable[..., Command]:
    """Makes commands that work in a folder."""

    def make(*argv: str, **fields: Any) -> Command:
        plain = Command(
            argv=argv, cwd=folder, env={"PATH": PATH}, stdout=folder / "out", stderr=folder / "err", timeout_secs=20
        )
        return replace(plain, **fields)

    return make


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Command]:
    return command_in(tmp_path)


async def run_all(commands: tuple[Command, ...], account: Account | None = None) -> list[Ended]:
    async with await Supervisor.start(account) as supervisor:
        return [await supervisor.run(one) for one in commands]


def run(*commands: Command) -> list[Ended]:
    """Run them one after another under one supervisor."""
    return asyncio.run(run_all(commands))


def alive(mark: object) -> list[int]:
    """The processes that have the mark among their arguments, zombies left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(mark).encode() in arguments.split(b"\0") and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


async def until(condition: Callable[[], object], seconds: float = 15) -> None:
    """Wait for it; fail if it does not come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        await asyncio.sleep(0.01)


def test_says_how_a_command_ended_and_keeps_its_output(command: Callable[..., Command], tmp_path: Path) -> None:
    (ended,) = run(command("sh", "-c", "echo out; echo err >&2; exit 7"))
    assert (ended.end, ended.exit_code, ended.signal, ended.limit) == ("exited", 7, None, None)
    assert (len(ended.killed), ended.killed_at, ended.reason) == (0, None, "")
    assert 0 < ended.duration_s < 20
    assert (tmp_path / "out").read_text() == "out\n"
    assert (tmp_path / "err").read_text() == "err\n"


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "PIPE"])
def test_tells_a_signal_from_an_exit_status(command: Callable[..., Command], name: str) -> None:
    number = signal.Signals[f"SIG{name}"]
    killed, exited = run(command("sh", "-c", f"kill -{name} $$"), command("sh", "-c", f"exit {128 + number}"))
    assert (killed.end, killed.signal, killed.exit_code) == ("signal", number, None)
    assert (exited.end, exited.signal, exited.exit_code) == ("exited", None, 128 + number)


def test_the_command_gets_what_it_is_given_and_nothing_else(command: Callable[..., Command], tmp_path: Path) -> None:
    """Environment, working folder, descriptors, signals: nothing of Tidegate or the supervisor reaches it."""
    look = "cat /proc/self/environ; pwd; ls /proc/self/fd; grep -E 'SigBlk|SigIgn|NoNewPrivs' /proc/self/status"
    env = {"PATH": PATH, "ODD": "\udcff = \n", "PWD": str(tmp_path)}
    run(command("sh", "-c", look, env=env))
    out = (tmp_path / "out").read_bytes()
    environment, rest = out.rsplit(b"\0", 1)
    assert sorted(environment.split(b"\0")) == sorted(os.fsencode(f"{name}={value}") for name, value in env.items())
    where, *facts = rest.decode().splitlines()
    assert where == str(tmp_path)
    assert facts[:4] == ["0", "1", "2", "3"]  # 3 is the folder that ls itself reads
    said = {name: int(value, 16) for name, value in (fact.split() for fact in facts[4:])}
    of_the_c_library = 0b11 << 31  # signals 32 and 33, which it lets nobody set: they stay as our caller left them
    said["SigIgn:"] &= ~of_the_c_library
    assert said == {"SigBlk:": 0, "SigIgn:": 0, "NoNewPrivs:": 1}


def test_standard_input_is_a_file_or_empty(command: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("hello\n")
    run(command("cat", stdin=tmp_path / "in", stdout=tmp_path / "1"), command("cat", stdout=tmp_path / "2"))
    assert (tmp_path / "1").read_text() == "hello\n"
    assert (tmp_path / "2").read_text() == ""


def test_says_why_a_command_could_not_be_started(command: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    script = tmp_path / "script"
    script.write_text("#!/nonexistent/sh\n")
    script.chmod(0o755)
    ends = run(
        command("no-such-program"),
        command("./nothing"),
        command("./plain"),
        command("./script"),
        command("true", cwd=tmp_path / "nowhere"),
        command("true"),
    )
    assert [ended.end for ended in ends] == ["not_started"] * 5 + ["exited"]
    assert [ended.reason for ended in ends] == [
        "no-such-program: not found on PATH",
        "cannot execute ./nothing: No such file or directory",
        "cannot execute ./plain: Permission denied",
        "cannot execute ./script: the interpreter that its first line names is missing",
        f"cannot enter the folder {tmp_path}/nowhere: No such file or directory",
        "",
    ]


@pytest.mark.parametrize("place", ["stdin", "stdout"])
def test_what_the_system_refuses_is_no_fault_of_the_command(
    command: Callable[..., Command], tmp_path: Path, place: str
) -> None:
    """A full disk, say: nothing is measured then, and the next command may well run."""

    async def body() -> None:
        async with await Supervisor.start() as supervisor:
            with pytest.raises(Refused, match=f"cannot open {tmp_path}/nowhere/file: No such file"):
                await supervisor.run(command("true", **{place: tmp_path / "nowhere" / "file"}))
            assert (await supervisor.run(command("true"))).end == "exited"

    asyncio.run(body())


def test_finds_the_program_on_the_commands_own_path(command: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "only-here"
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)
    absolute, relative = run(
        command("only-here", env={"PATH": f"/nowhere:{tmp_path}/bin"}), command("only-here", env={"PATH": "bin"})
    )
    assert (absolute.exit_code, relative.exit_code) == (5, 5)


def test_a_timeout_asks_before_it_kills(command: Callable[..., Command], tmp_path: Path) -> None:
    code = "trap 'echo saved; exit 0' TERM; while :; do sleep 0.01; done"
    before = time.time()
    (ended,) = run(command("sh", "-c", code, timeout_secs=1, grace_secs=20))
    assert (ended.end, ended.exit_code, ended.signal) == ("timeout", None, None)
    assert 1 <= ended.duration_s < 20
    assert ended.killed_at is not None
    assert before + 1 <= ended.killed_at <= time.time()
    assert (tmp_path / "out").read_text() == "saved\n"


@pytest.mark.parametrize("stays", ["", "\nwhile True: time.sleep(1)"], ids=["after a normal exit", "at a timeout"])
def test_no_daemon_stays(command: Callable[..., Command], tmp_path: Path, stays: str) -> None:
    """Forked twice, in a session of its own, deaf to every signal that can be ignored."""
    flag = tmp_path / "flag"
    (ended,) = run(command(*PYTHON, DAEMON + stays, str(flag), str(flag), timeout_secs=2 if stays else 20))
    assert flag.exists()
    assert ended.end == ("timeout" if stays else "exited")
    assert len(ended.killed) >= 1
    assert alive(flag) == []


@pytest.mark.parametrize("ends", ["timeout", "exited"])
def test_no_hydra_stays(command: Callable[..., Command], tmp_path: Path, ends: str) -> None:
    """Its processes are gone before one can look at them."""
    line = '"$@" & sleep 0.3; ' + ("exit 0" if ends == "exited" else "sleep 60")
    (ended,) = run(
        command("sh", "-c", line, "sh", *PYTHON, HYDRA, str(tmp_path), timeout_secs=1 if ends == "timeout" else 20)
    )
    assert ended.end == ends
    assert len(ended.killed) >= 1
    assert alive(tmp_path) == []


def test_a_dead_main_thread_does_not_hide_a_process(command: Callable[..., Command], tmp_path: Path) -> None:
    line = '"$@" & sleep 0.3'
    (ended,) = run(command("sh", "-c", line, "sh", *PYTHON, THREAD_OUTLIVES_MAIN, str(tmp_path)))
    assert ended.end == "exited"
    assert alive(tmp_path) == []


def test_a_flood_of_output_is_stopped_and_cut(command: Callable[..., Command], tmp_path: Path) -> None:
    ended, quick = run(
        command("yes", "x" * 10_000, limits=Limits(output_mb=100)),
        command("head", "-c", "2000000", "/dev/zero", limits=Limits(output_mb=1), stdout=tmp_path / "quick"),
    )
    assert (ended.end, ended.limit) == ("limit", "output")
    assert ended.killed_at is not None
    assert (tmp_path / "out").stat().st_size == 100_000_000
    assert (quick.end, quick.limit) == ("limit", "output")
    assert (tmp_path / "quick").stat().st_size == 1_000_000


def test_a_memory_hog_is_stopped(command: Callable[..., Command]) -> None:
    (ended,) = run(command("sh", "-c", '"$@" & wait', "sh", *PYTHON, HOG, limits=Limits(memory_mb=150)))
    assert (ended.end, ended.limit) == ("limit", "memory")


def test_a_crowd_of_processes_is_stopped(command: Callable[..., Command], tmp_path: Path) -> None:
    (ended,) = run(command(*PYTHON, CROWD, str(tmp_path), limits=Limits(processes=30)))
    assert (ended.end, ended.limit) == ("limit", "processes")
    assert alive(tmp_path) == []


def test_open_files_are_limited(command: Callable[..., Command], tmp_path: Path) -> None:
    run(command("sh", "-c", "ulimit -n; ulimit -c", limits=Limits(files=64)))
    assert (tmp_path / "out").read_text() == "64\n0\n"


@pytest.mark.parametrize("cancellations", [1, 3])
def test_a_cancelled_command_is_gone_before_the_caller_goes_on(
    command: Callable[..., Command], tmp_path: Path, cancellations: int
) -> None:
    """However often it is cancelled; and the supervisor serves the next one."""
    flag = tmp_path / "flag"

    async def body() -> Ended:
        async with await Supervisor.start() as supervisor:
            stubborn = command(*PYTHON, DAEMON + "\nwhile True: time.sleep(1)", str(flag), str(flag))
            task = asyncio.create_task(supervisor.run(stubborn))
            await until(flag.exists)
            for _ in range(cancellations):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert alive(flag) == []
            return await supervisor.run(command("sh", "-c", "exit 4"))

    assert asyncio.run(body()).exit_code == 4


def test_a_cancellation_that_comes_at_once_is_not_missed(command: Callable[..., Command]) -> None:
    """It may reach the supervisor together with the command itself."""

    async def body() -> Ended:
        async with await Supervisor.start() as supervisor:
            for turns in range(5):
                task = asyncio.create_task(supervisor.run(command("sleep", "60", timeout_secs=None)))
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asyncio.wait_for(asyncio.shield(task), 10)
            return await supervisor.run(command("true"))

    assert asyncio.run(body()).exit_code == 0


def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    """At whichever step of it: another agent may have turned out to lack its key meanwhile."""
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")

    async def body(steps: int) -> None:
        start = asyncio.ensure_future(Supervisor.start())
        for _ in range(steps):
            await asyncio.sleep(0)
        start.cancel()
        with suppress(asyncio.CancelledError):
            await (await start).close()

    for steps in range(1, 30, 4):
        before = children.read_text()
        asyncio.run(body(steps))
        assert children.read_text() == before


def test_nothing_outlives_tidegate(tmp_path: Path) -> None:
    """Killed at once, without a chance to clean up."""
    flag = tmp_path / "flag"
    tidegate = f"""
import asyncio, pathlib, sys
from tidegate.trial.processes import Command, Supervisor
folder = pathlib.Path({str(tmp_path)!r})
async def body():
    supervisor = await Supervisor.start()
    argv = {(*PYTHON, DAEMON + chr(10) + "while True: time.sleep(1)", str(flag), str(flag))!r}
    await supervisor.run(Command(argv, folder, {{"PATH": {PATH!r}}}, folder / "out", folder / "err"))
asyncio.run(body())
"""
    process = subprocess.Popen([sys.executable, "-c", tidegate])
    asyncio.run(until(flag.exists))
    assert alive(flag)
    process.kill()
    process.wait()
    asyncio.run(until(lambda: not alive(flag)))


def test_a_supervisor_that_its_command_kills_is_lost(command: Callable[..., Command], tmp_path: Path) -> None:
    async def body() -> None:
        async with await Supervisor.start() as supervisor:
            with pytest.raises(SupervisorLost, match="killed"):
                await supervisor.run(command("sh", "-c", f"kill -9 $PPID; sleep 60; : {tmp_path}"))
            assert not supervisor.is_usable
            with pytest.raises(SupervisorLost):
                await supervisor.run(command("true"))
            await until(lambda: not alive(tmp_path))

    asyncio.run(body())


def test_a_stopped_supervisor_goes_on_when_it_is_closed(command: Callable[..., Command], tmp_path: Path) -> None:
    async def body() -> None:
        supervisor = await Supervisor.start()
        task = asyncio.create_task(
            supervisor.run(command("sh", "-c", "kill -STOP $PPID; touch flag; sleep 60", str(tmp_path)))
        )
        await until((tmp_path / "flag").exists)
        await supervisor.close()
        with pytest.raises(SupervisorLost):
            await task
        assert alive(tmp_path) == []

    asyncio.run(body())


def test_close_ends_everything_and_may_be_repeated(command: Callable[..., Command], tmp_path: Path) -> None:
    async def body() -> None:
        supervisor = await Supervisor.start()
        assert supervisor.is_usable
        await supervisor.close()
        await supervisor.close()
        assert not supervisor.is_usable
        with pytest.raises(SupervisorLost, match="closed"):
            await supervisor.run(command("true"))

    asyncio.run(body())


def test_processes_that_cannot_be_ended_are_an_error(command: Callable[..., Command]) -> None:
    """A stand-in gives the answer: no test can make a process that SIGKILL does not end."""

    async def body() -> None:
        ours, theirs = socket.socketpair()
        process = await asyncio.create_subprocess_exec("cat", stdin=theirs.fileno(), stdout=asyncio.subprocess.DEVNULL)
        watched = SupervisorProcess(os.pidfd_open(process.pid), lambda: None)
        supervisor = Supervisor(watched, await asyncio.open_connection(sock=ours), None, Confinement())
        theirs.sendall(b'{"end": "exited", "unended": 2}\n')
        theirs.close()
        with pytest.raises(SupervisorLost, match="2 processes"):
            await supervisor.run(command("true"))
        assert not supervisor.is_usable
        await supervisor.close()
        if process.returncode is None:
            process.kill()
        await process.wait()

    asyncio.run(body())


@pytest.mark.parametrize(("name", "value"), [("platform", "darwin"), ("executable", "/usr/bin/false")])
def test_says_where_tidegate_cannot_run(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setattr(sys, name, value)
    with pytest.raises(CannotRunError, match="needs Linux"):
        asyncio.run(run_all(()))


@needs_root
def test_root_can_run_commands_as_another_user(command: Callable[..., Command], tmp_path: Path) -> None:
    line = "id -u; id -g; id -G; echo again >> /dev/stdout; kill -9 $PPID 2>/dev/null || echo not permitted; "
    daemon = f"setsid -f sh -c \"trap '' TERM HUP INT; sleep 60; :\" {tmp_path}; sleep 0.2"
    (ended,) = asyncio.run(run_all((command("sh", "-c", line + daemon, cwd=Path("/")),), Account(61_234, 61_235)))
    assert (ended.exit_code, len(ended.killed) >= 1) == (0, True)
    assert alive(tmp_path) == []
    assert (tmp_path / "out").read_text() == "61234\n61235\n61235\nagain\nnot permitted\n"


def shell(line: str, folder: Path, **fields: Any) -> Any:
    async def body() -> Any:
        async with await Supervisor.start() as supervisor:
            settings = {"timeout_secs": 20.0, "limits": Limits(), "cwd": folder, "env": {"PATH": PATH}, **fields}
            return await run_shell(supervisor, line, output=folder / "gate-01", **settings)

    return asyncio.run(body())


def test_a_shell_command_becomes_a_result_and_files(tmp_path: Path) -> None:
    result, ended = shell("printf 'h\\303\\251\\377'; echo err >&2; exit 3", tmp_path)
    assert (result.command.startswith("printf"), result.end, result.exit_code) == (True, "exited", 3)
    assert (result.stdout, result.stderr, result.truncated) == ("hé\N{REPLACEMENT CHARACTER}", "err\n", False)
    assert result.duration_s > 0
    assert (tmp_path / "gate-01.stdout").read_bytes() == "hé".encode() + b"\xff"
    assert (tmp_path / "gate-01.stderr").read_text() == "err\n"
    assert ended.exit_code == 3


def test_a_shell_that_cannot_be_started_is_no_failure_of_its_command(tmp_path: Path) -> None:
    """A gate that did not run has measured nothing."""
    with pytest.raises(Refused, match=f"cannot enter the folder {tmp_path}/nowhere"):
        shell("true", tmp_path, cwd=tmp_path / "nowhere")


def test_of_a_long_file_both_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "long"
    file.write_text("a" * 500 + "b" * 500)
    assert read_output(file, 1000) == ("a" * 500 + "b" * 500, False)
    text, cut = read_output(file, 10)
    assert (text, cut) == ("aaaaa\n[… 990 bytes left out …]\nbbbbb", True)


def test_reading_an_output_follows_no_trick(tmp_path: Path) -> None:
    """A command may replace its own output: by a link to a secret, or by a pipe that would never answer."""
    (tmp_path / "secret").write_text("s")
    (tmp_path / "link").symlink_to("secret")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder", "missing"):
        assert read_output(tmp_path / name, 10) == ("", True)


@pytest.mark.parametrize("account", [None, pytest.param(Account(60_700, 60_700), marks=needs_root)])
def test_two_supervisors_of_one_user_end_their_own_alone(open_folder: Path, account: Account | None) -> None:
    """A server beside the commands of a step: each ends what is below it, and the other one lives on."""
    command = command_in(open_folder)
    open_folder.chmod(0o777)
    mark = open_folder / "server"
    server = command("sh", "-c", "touch up; sleep 60; true", str(mark), stdout=mark, stderr=mark, timeout_secs=None)

    async def work() -> tuple[Ended, int, int, Ended]:
        async with await Supervisor.start(account) as supervisor:
            async with supervisor.beside() as other:
                running = asyncio.ensure_future(other.run(server))
                await until((open_folder / "up").exists)
                first = await supervisor.run(command("sh", "-c", "setsid sleep 60 & exit 3"))
                living = len(alive(mark))
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
            return first, living, len(alive(mark)), await supervisor.run(command("sh", "-c", "exit 4"))

    first, living, left, last = asyncio.run(work())
    assert (first.exit_code, len(first.killed), living, left, last.exit_code) == (3, 1, 1, 0, 4)


TAMPERS = """
import fcntl, os, sys
os.write(1, b'ours ')
fcntl.fcntl(1, fcntl.F_SETFL, 0)
for trick in (lambda: os.lseek(1, 0, 0), lambda: os.ftruncate(1, 0), lambda: os.pwrite(1, b'x', 0),
              lambda: os.read(os.open('/proc/self/fd/1', os.O_RDONLY | os.O_NONBLOCK), 9)):
    try:
        trick()
    except OSError:
        os.write(2, b'refused ')
os.write(os.open('/dev/stdout', os.O_WRONLY | os.O_TRUNC), b'opened ')
"""


@needs_root
def test_what_a_command_printed_cannot_be_changed_by_what_it_runs(tmp_path: Path) -> None:
    """Its outputs are pipes, which can be opened again to print, but not to read."""
    folder = tmp_path / "open"
    folder.mkdir()
    for one in (folder, *folder.parents):
        one.chmod(one.stat().st_mode | 0o5)
    line = 'echo before; "$@"; echo after; (sleep 0.2; echo late) &'
    tampering = command_in(folder)("sh", "-c", line, "sh", "python3", "-c", TAMPERS)
    both = replace(command_in(folder)("sh", "-c", "echo 1; echo 2 >&2; echo 3"), stderr=folder / "both")
    asyncio.run(run_all((tampering, replace(both, stdout=folder / "both")), Account(4_190_000, 4_190_000)))
    assert (folder / "err").read_text() == "refused " * 4
    assert (folder / "out").read_text() == "before\nours opened after\n"
    assert (folder / "both").read_text() == "1\n2\n3\n"
    assert sorted(one.name for one in folder.iterdir()) == ["both", "err", "out"]
