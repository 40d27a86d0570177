"""The recorder with real targets, real shells and real signals."""

from __future__ import annotations

import asyncio
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.as_root import needs_root
from tidegate.model.event import CommandResult, Invocation
from tidegate.model.suite import Limits
from tidegate.trial import recorder
from tidegate.trial.processes import Supervisor, run_shell
from tidegate.trial.recorder import Stop, StoppedBy, Stops

# A target that does what its first argument says.
TARGET = """#!/bin/sh
case "$1" in
  list) echo one; echo two ;;
  fail) echo "taskmgr: no such task" >&2; exit 3 ;;
  cat) cat ;;
  endless) exec yes ;;
  die) kill -"$2" $$; sleep 5 ;;
  wait) trap 'echo caught; exit 9' "$2"; echo ready; while :; do sleep 0.02; done ;;
  show) pwd; cat "/proc/$$/environ" | tr '\\0' '\\n' ;;
  fds) ls "/proc/$$/fd" ;;
  ignored) grep SigIgn "/proc/$$/status" ;;
esac
"""

INTERRUPTIBLE = f"""#!{sys.executable}
import os, signal
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\\n"))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


class Recorded:
    """A target behind the recorder, in a folder of its own."""

    def __init__(self, root: Path, program: Path = recorder.PROGRAM) -> None:
        self.root = root
        self.real = root / "real"
        self.real.mkdir()
        self.program("taskmgr", TARGET)
        self.record = root / "record" / "invocations.log"
        self.record.parent.mkdir()
        self.record.touch()
        self.search_path = f"{self.real}:{os.environ['PATH']}"
        self.front = recorder.install(root / "recorder", "taskmgr", self.search_path, self.record, program=program)
        self.environment = {"PATH": f"{self.front}:{self.search_path}"}
        self.bare_environment = {"PATH": self.search_path}

    def program(self, name: str, text: str) -> None:
        path = self.real / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run(self, argv: Sequence[str | bytes], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            argv, env=self.environment, cwd=self.root, input=stdin, capture_output=True, check=False, timeout=120
        )

    def shell(self, line: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return self.run(["sh", "-c", line], stdin)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the target and wait until it says so."""
        argv = [str(self.front / "taskmgr"), *arguments]
        process = subprocess.Popen(argv, env=self.environment, stdout=subprocess.PIPE, process_group=0)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process

    def calls(self, stops: Stops | None = None) -> tuple[Invocation, ...]:
        """What was recorded, of which nothing must be missing."""
        calls, lost = recorder.read(self.record, stops)
        assert lost is None
        return calls

    def ends(self) -> list[tuple[str, int | None]]:
        return [(call.argv[0], call.exit_code) for call in self.calls()]


@pytest.fixture
def target(tmp_path: Path) -> Recorded:
    """The target behind the recorder."""
    return Recorded(tmp_path)


def test_variables_for_the_target_alone_are_written_into_the_wrapper(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/tk").write_text('#!/bin/sh\necho "$NODE_OPTIONS|$MINE|${OLD-none}"\n')
    (tmp_path / "tool/tk").chmod(0o755)
    added = {"NODE_OPTIONS": "--require ./é.js", "MINE": "of the target", "OLD": None}
    front = recorder.install(tmp_path / "second", "tk", str(tmp_path / "tool"), tmp_path / "record", added=added)
    env = {"PATH": str(front), "MINE": "of the agent", "OLD": "1"}

    done = subprocess.run(["/bin/sh", "-c", 'tk; echo "$NODE_OPTIONS|$MINE"'], env=env, capture_output=True, text=True)

    assert done.stdout == "--require ./é.js|of the target|none\n|of the agent\n"


def test_notes_what_was_called_where_and_how_it_ended(target: Recorded) -> None:
    before = time.time()
    done = target.shell("taskmgr list --all; taskmgr fail")
    list_call, fail_call = target.calls()
    assert (done.returncode, done.stdout, done.stderr) == (3, b"one\ntwo\n", b"taskmgr: no such task\n")
    assert list_call.argv == ("list", "--all")
    assert (list_call.cwd, list_call.source) == (str(target.root), "recorder")
    assert (list_call.exit_code, list_call.status) == (0, "ok")
    assert (fail_call.exit_code, fail_call.status) == (3, "error")
    assert before <= list_call.started_at <= fail_call.started_at <= time.time()
    assert list_call.duration_s is not None
    assert 0 < list_call.duration_s < 30


def test_sees_calls_that_a_shell_hides(target: Recorded) -> None:
    """Pipes, lists, loops, substitutions and other programs: every shell below reports success."""
    lines = [
        "taskmgr fail | cat",
        "taskmgr fail; echo done",
        "taskmgr fail || true",
        "for i in 1 2; do taskmgr fail; done; :",
        'x="$(taskmgr list)"; test "$x"',
        f"{sys.executable} -c \"import subprocess; subprocess.run(['taskmgr', 'fail'])\"",
    ]
    assert [target.shell(line).returncode for line in lines] == [0] * len(lines)
    assert target.ends() == [("fail", 3)] * 5 + [("list", 0), ("fail", 3)]


def test_loses_none_of_many_parallel_calls(target: Recorded) -> None:
    target.shell("for i in $(seq 50); do taskmgr fail $i & done; wait")
    calls = target.calls()
    assert {call.argv for call in calls} == {("fail", str(i)) for i in range(1, 51)}
    assert {call.exit_code for call in calls} == {3}


def test_standard_input_passes_through(target: Recorded) -> None:
    assert target.shell("taskmgr cat", stdin=b"a\0b\n" * 50_000).stdout == b"a\0b\n" * 50_000


def test_arguments_keep_every_byte(target: Recorded) -> None:
    echo = "#!/bin/sh\nfor a; do printf '[%s]' \"$a\"; done\n"
    target.program("taskmgr", echo)
    done = target.run([b"taskmgr", b"new\nline", b"", b"\xff\xfe", "ü".encode(), b"-h", b""])
    assert done.stdout == b"[new\nline][][\xff\xfe][" + "ü".encode() + b"][-h][]"
    assert target.calls()[0].argv == ("new\nline", "", "\\xff\\xfe", "ü", "-h", "")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"LC_ALL": "C"},
        {"LC_CTYPE": "C"},
        {"LC_CTYPE": "C.UTF-8", "A": "\udcff"},
        {"PYTHONHOME": "/nowhere", "PYTHONVERBOSE": "1"},
    ],
)
def test_the_environment_arrives_as_it_was(target: Recorded, environment: dict[str, str]) -> None:
    """Also the empty one (`env -i`), to which Python itself would add a locale."""
    wrapped, bare = (
        subprocess.run([where / "taskmgr", "show"], env=environment, cwd="/", capture_output=True, check=True)
        for where in (target.front, target.real)
    )
    assert (wrapped.stdout, wrapped.stderr) == (bare.stdout, b"")
    assert target.ends() == [("show", 0)]


@pytest.mark.parametrize("redirect", ["", "<&-", ">&-", "<&- >&- 2>&-", "7</dev/null"])
def test_descriptors_arrive_as_they_were(target: Recorded, redirect: str) -> None:
    """None is added, none is taken away; a closed stdout stays closed."""
    target.program("taskmgr", '#!/bin/sh\nexec ls /proc/$$/fd > "$1"\n')
    bare = subprocess.run(["sh", "-c", f"{target.real}/taskmgr bare {redirect}"], cwd=target.root, check=False)
    wrapped = target.shell(f"taskmgr wrapped {redirect}")
    assert wrapped.returncode == bare.returncode
    assert (target.root / "wrapped").read_bytes() == (target.root / "bare").read_bytes()
    assert target.calls()[0].exit_code == bare.returncode


def test_a_closed_pipe_ends_the_target_silently(target: Recorded) -> None:
    done = target.shell("taskmgr endless | head -1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"y\n", b"")
    assert target.calls()[0].exit_code == 128 + signal.SIGPIPE


@pytest.mark.parametrize("prefix", ["", "trap '' HUP INT; "])
def test_ignored_signals_are_the_callers(target: Recorded, prefix: str) -> None:
    line = f"{prefix}{{}} ignored"
    wrapped = target.shell(line.format("taskmgr")).stdout
    assert wrapped == target.shell(line.format(target.real / "taskmgr")).stdout


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT", "USR1", "PIPE"])
def test_dies_by_the_signal_that_the_target_died_by(target: Recorded, name: str) -> None:
    """`sh -c` alone could not tell it from an exit status."""
    number = signal.Signals[f"SIG{name}"]
    done = target.run([str(target.front / "taskmgr"), "die", name])
    assert done.returncode == -number
    assert target.ends() == [("die", 128 + number)]
    assert list(target.root.glob("core*")) == []


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT", "USR1", "USR2", "QUIT"])
def test_hands_on_a_signal_and_the_targets_answer(target: Recorded, name: str) -> None:
    process = target.start("wait", name)
    process.send_signal(signal.Signals[f"SIG{name}"])
    output, _ = process.communicate(timeout=60)
    assert (output, process.returncode) == (b"caught\n", 9)
    assert target.ends() == [("wait", 9)]


def test_a_signal_to_the_whole_group_does_not_end_the_wrapper_first(target: Recorded) -> None:
    """From a program, unlike from a terminal, the target may get it twice."""
    process = target.start("wait", "INT")
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert set(output.splitlines()) == {b"caught"}
    assert process.returncode == 9
    assert target.ends() == [("wait", 9)]


def test_an_interrupt_from_the_terminal_arrives_once(target: Recorded) -> None:
    """The kernel sends it to target and wrapper alike; programs take a second one as "at once"."""
    target.program("taskmgr", INTERRUPTIBLE)
    main_side, terminal = pty.openpty()
    take_terminal = (
        "import fcntl,os,sys,termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    )
    argv = [sys.executable, "-c", take_terminal, str(target.front / "taskmgr")]
    process = subprocess.Popen(
        argv, env=target.environment, stdin=terminal, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.write(main_side, b"\x03")
    assert process.stdout.readline() == b"interrupted\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGUSR1)
    output, _ = process.communicate(timeout=60)
    os.close(main_side)
    os.close(terminal)
    assert output == b""
    assert process.returncode == -signal.SIGUSR1


def test_stops_and_goes_on_with_the_target(target: Recorded) -> None:
    process = target.start("wait", "TERM")
    process.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert (output, process.returncode) == (b"caught\n", 9)


def test_a_missing_target_is_not_found(target: Recorded) -> None:
    (target.real / "taskmgr").unlink()
    done = target.shell("taskmgr list; exit $?")
    assert (done.returncode, done.stderr) == (127, b"taskmgr: not found\n")
    assert target.ends() == [("list", 127)]


def test_a_target_that_cannot_be_executed(target: Recorded) -> None:
    target.program("taskmgr", "#!/nonexistent/interpreter\n")
    done = target.run(["taskmgr", "list"])
    assert done.returncode == 127
    assert done.stderr == f"{target.real}/taskmgr: No such file or directory\n".encode()


def test_a_script_without_a_first_line_runs_as_in_a_shell(target: Recorded) -> None:
    target.program("taskmgr", 'echo "$0 $1"\n')
    assert target.run(["taskmgr", "list"]).stdout == f"{target.real}/taskmgr list\n".encode()


def test_finds_the_target_in_the_sides_path_and_never_itself(target: Recorded) -> None:
    """Whatever PATH the caller has. Supervised: a wrapper that finds itself would go on for ever."""
    search_path = f"{target.root}/second/bin:{target.real}"
    front = recorder.install(target.root / "second", "taskmgr", search_path, target.record)

    async def body() -> CommandResult:
        async with await Supervisor.start() as supervisor:
            line, output = f"{front}/taskmgr list", target.root / "output"
            limits = Limits(processes=20)
            result, _ = await run_shell(
                supervisor,
                line,
                cwd=target.root,
                env={"PATH": "/usr/bin:/bin"},
                output=output,
                timeout_secs=20,
                limits=limits,
            )
            return result

    assert asyncio.run(body()).stdout == "one\ntwo\n"


def test_a_binary_that_is_a_path_is_that_file_seen_from_the_caller(target: Recorded) -> None:
    front = recorder.install(target.root / "second", "./tool/taskmgr", "/usr/bin", target.record)
    (target.root / "tool").mkdir()
    (target.real / "taskmgr").rename(target.root / "tool" / "taskmgr")
    assert target.run([str(front / "taskmgr"), "list"]).stdout == b"one\ntwo\n"


def test_works_where_its_path_fits_no_first_line(tmp_path: Path) -> None:
    program = tmp_path / "a folder" / "recorder-program"
    program.parent.mkdir()
    shutil.copy(recorder.PROGRAM, program)
    target = Recorded(tmp_path, program)
    done = target.run(["taskmgr", "fail", "a b", "*"])
    assert done.returncode == 3
    assert target.calls()[0].argv == ("fail", "a b", "*")


@needs_root
def test_works_where_another_user_cannot_reach_it(open_folder: Path) -> None:
    program = open_folder / "private" / "recorder-program"
    program.parent.mkdir(mode=0o700)
    shutil.copy(recorder.PROGRAM, program)
    target = Recorded(open_folder, program)
    done = subprocess.run([target.front / "taskmgr", "list"], user=65534, group=65534, extra_groups=[], check=False)
    assert done.returncode == 0


def test_the_target_cannot_read_the_memory_of_its_recorder(open_folder: Path) -> None:
    """The id of the call is in it: a target that knows it could forge the call's end."""
    target = Recorded(open_folder)
    target.program("taskmgr", "#!/bin/sh\ncat /proc/$$/maps > /dev/null || exit 9; cat /proc/$PPID/maps\n")
    user = 61_777 if os.geteuid() == 0 else None
    done = subprocess.run(["taskmgr"], env=target.environment, capture_output=True, check=False, user=user)
    assert (done.returncode, done.stdout) == (1, b"")


def test_the_target_runs_although_its_record_cannot_be_written(target: Recorded) -> None:
    target.record.unlink()
    target.record.mkdir()
    assert target.shell("taskmgr list").stdout == b"one\ntwo\n"
    calls, lost = recorder.read(target.record)
    assert calls == ()
    assert "gone" in (lost or "")


def test_a_call_whose_wrapper_was_killed_has_failed(target: Recorded) -> None:
    """Whoever called it saw a program that was killed; a tool cannot hide a failure by killing its own recorder."""
    process = target.start("wait", "TERM")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (call,) = target.calls()
    assert (call.status, call.exit_code, call.duration_s) == ("error", 137, None)


def test_a_call_that_was_left_running_is_unfinished(target: Recorded) -> None:
    process = target.start("wait", "TERM")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (call,) = target.calls(Stops(left_over={process.pid}))
    assert (call.status, call.exit_code, call.duration_s) == ("unfinished", None, None)


@pytest.mark.parametrize(
    ("by", "status", "exit_code"), [("time", "timeout", 3), ("limit", "error", 3), ("other", "interrupted", 3)]
)
def test_a_call_that_ran_when_its_command_was_stopped(
    target: Recorded, by: StoppedBy, status: str, exit_code: int
) -> None:
    target.shell("taskmgr fail")
    stops = Stops([Stop(time.time(), by)])
    target.shell("taskmgr fail")
    before, after = target.calls(stops)
    assert (before.status, after.status) == ("error", "error")
    stops = Stops([Stop(after.started_at + 1e-6, by)])
    assert [(call.status, call.exit_code) for call in target.calls(stops)] == [("error", 3), (status, exit_code)]


def test_a_second_end_of_a_call_cannot_make_it_good(target: Recorded) -> None:
    """A tool can write to the record as well: what it adds improves nothing."""
    target.shell("taskmgr fail")
    data = target.record.read_bytes()
    end = data[data.index(b"\0tidegate-end") :]
    forged = end.replace(b"\x003\0\n", b"\x000\0\n")
    for record in (data.replace(end, forged + end), data + forged):
        target.record.write_bytes(record)
        _, lost = recorder.read(target.record)
        assert lost is not None


def test_a_second_beginning_of_a_call_cannot_replace_the_first(target: Recorded) -> None:
    target.shell("taskmgr fail")
    data = target.record.read_bytes()
    call = data[: data.index(b"\0tidegate-end")]
    target.record.write_bytes(data + call.replace(b"fail", b"list"))
    calls, lost = recorder.read(target.record)
    assert lost is not None
    assert [call.argv for call in calls] == [("fail",)]


@pytest.mark.parametrize("size", [1, 20, 60, 150, 400, 9999])
@pytest.mark.parametrize("forged", ["part\0x\x001\0SIZE\0", "part\0x\x000\0SIZE\0", "call\x001-1\x005\0/\0SIZE\0"])
def test_a_forged_header_hides_no_call(target: Recorded, forged: str, size: int) -> None:
    """It says that what follows is a part of its own entry."""
    target.shell("taskmgr list")
    with target.record.open("ab") as file:
        file.write(f"\0tidegate-{forged.replace('SIZE', str(size))}".encode())
    target.shell("taskmgr fail; taskmgr list")
    _, lost = recorder.read(target.record)
    assert lost is not None


def test_a_long_call_between_others_is_whole(target: Recorded) -> None:
    target.run([str(target.front / "taskmgr"), "list", *["w" * 5000] * 3, "tidegate-end"])
    assert len(target.calls()[0].argv) == 5


def test_skips_what_is_damaged_and_says_so(target: Recorded) -> None:
    target.shell("taskmgr list")
    first = target.record.read_bytes()
    second_end = first[first.index(b"\0tidegate-end") :].replace(b"\x000\0\n", b"\x009\0\n")
    cut_by_a_full_disk = first[: len(first) // 3]
    too_short = b"\0tidegate-call\x001-1\x005\0/\x002\0a\0b\0\n"
    too_long = b"\0tidegate-call\x001-1\x005\0/\x003\0a\0\n"
    target.record.write_bytes(b"garbage" + first + second_end + cut_by_a_full_disk + too_short + too_long)
    target.shell("taskmgr fail")
    calls, lost = recorder.read(target.record)
    assert [(call.argv, call.exit_code) for call in calls] == [(("list",), 0), (("fail",), 3)]
    assert lost is not None


FRAGMENTS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"\0tidegate-call\x001-1\x005\0/\x002\0a\0\n",
            b"\0tidegate-call\x001-1\x005\0\xff\x000\0\n",
            b"\0tidegate-call\x001-1\x005\0/\x00999999999\0a\0\n",
            b"\0tidegate-end\x001-1\x005\x000\0\n",
            b"\0tidegate-end\x001-1\0" + b"9" * 19 + b"\0-999\0\n",
            b"\0tidegate-part\x001-1\x001\x0016\0\0tidegate-call\x001",
            b"\0tidegate-part\x001-1\x000\x0011\0-2\x005\0/\x000\0\n",
            b"\0tidegate-part\x001-1\x000\x009999\0",
            b"\0tidegate-",
        ]
    ),
)


@given(st.lists(FRAGMENTS, max_size=12))
def test_reads_any_bytes(tmp_path_factory: pytest.TempPathFactory, fragments: list[bytes]) -> None:
    """The agent can write what it likes into the record: reading it never fails."""
    record = tmp_path_factory.getbasetemp() / "any-bytes"
    record.write_bytes(b"".join(fragments))
    calls, _ = recorder.read(record, Stops([Stop(3.0, "time")]))
    assert len(calls) <= len(fragments)
