"""The supervisor: a small process that runs one command after another and terminates everything they start.

It is a separate program (`python -I -S supervisor.py`), started by `tidegate.trial.processes`. It uses the standard
library only and imports nothing from Tidegate. Requests and answers are JSON lines on its standard input, which is a
socket; end of file means that Tidegate has ended. As the child subreaper it inherits all orphans below it, including
daemons. It answers only when the last process is dead and reaped.
"""

# It forks for every command, so it stays small: no pathlib.
# ruff: noqa: PTH110, PTH113, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, NoReturn

CONTROL = 0  # file descriptor of the connection to Tidegate: standard input, in both directions
CANCEL = b"cancel"
SWEEP_SECS = 20.0
TICK_SECS = 0.02  # between two checks of the sizes of the outputs
TREE_SECS = 0.1  # minimum between two checks of the process tree
TREE_SHARE = 20  # checks of the process tree take at most 1/20 of the time
PAGE = os.sysconf("SC_PAGE_SIZE")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
LIBC = ctypes.CDLL(None, use_errno=True)
# By Python, and by whoever started Tidegate.
IGNORED = [number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN]


class Request(NamedTuple):
    """One command: what to run, and its limits. `uid` and `gid` are set only if the supervisor is root."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    stdin: str
    stdout: str
    stderr: str
    timeout_secs: float | None
    interrupt_secs: float  # from SIGINT to SIGTERM, after a timeout; 0: no SIGINT
    grace_secs: float  # from SIGTERM to SIGKILL
    output_bytes: int  # stdout and stderr together
    memory_bytes: int  # resident, whole process tree
    processes: int
    files: int  # open at once, per process
    file_bytes: int  # largest file that it may write
    uid: int | None = None
    gid: int | None = None
    shares_user: bool = False  # with another supervisor's command, which continues when this one ends
    jail: dict[str, Any] = {}  # `namespaces` to enter, or `ports` that may be connected to; `files`; `calls` to refuse


class Answer(NamedTuple):
    """How the command ended. `unended` counts processes that could not be terminated; they make the slot unusable."""

    end: str  # CommandEnd, or refused
    exit_code: int | None = None
    signal: int | None = None
    limit: str | None = None
    duration_s: float = 0.0
    left_behind: int = 0
    reason: str = ""
    peak_memory_mb: float | None = None
    killed_at: float | None = None
    unended: int = 0
    killed: tuple[int, ...] = ()  # the processes that still ran when the command ended by itself


class NotStartedError(Exception):
    """The command could not be executed; the message says why."""


class RefusedError(Exception):
    """The system could not start any command; the message says why."""


class Process(NamedTuple):
    """One process in /proc. A zombie may still have running threads."""

    parent: int
    session: int
    memory: int  # resident bytes
    zombie: bool


def main() -> None:
    """Report whether this system is supported, then serve requests until Tidegate ends."""
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())  # so that commands cannot stop it
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would hide how a command ended
    gc.freeze()  # a fork copies less of what the collector does not touch
    gc.disable()
    control = Control()
    missing = what_is_missing()
    control.send({"missing": missing})
    while missing is None and (line := control.next_line()) is not None:
        if line != CANCEL:  # a late cancellation, sent before the answer arrived, has nothing to cancel
            control.send(Command(Request(**json.loads(line)), control).run()._asdict())


def what_is_missing() -> str | None:
    """Become the subreaper. Return the required kernel feature that is missing, or None."""
    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        return str(error)
    return None if look_at("self") else "/proc is missing"


def prctl(option: int, value: int) -> None:
    """Call prctl(2); raise OSError if it fails."""
    arguments = [ctypes.c_ulong(argument) for argument in (value, 0, 0, 0)]
    if LIBC.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) does not work")


class Control:
    """The connection to Tidegate."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def next_line(self) -> bytes | None:
        """Wait for a line and return it; None if Tidegate has ended."""
        while b"\n" not in self._buffer:
            if not self.receive():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return bytes(line)

    @property
    def has_more(self) -> bool:
        """True if more data arrived together with the last line."""
        return bool(self._buffer)

    def receive(self) -> bool:
        """Read the available data; return False if Tidegate has ended."""
        try:
            data = os.read(CONTROL, 1 << 20)
        except ConnectionError:
            return False
        self._buffer += data
        return bool(data)

    def send(self, message: dict[str, object]) -> None:
        """Send a line. A closed connection is ignored here; the next read reports it."""
        data = json.dumps(message).encode() + b"\n"
        with suppress(ConnectionError):
            while data:
                data = data[os.write(CONTROL, data) :]


class Command:
    """One command, from its fork to the end of the last process below it."""

    def __init__(self, request: Request, control: Control) -> None:
        self._request = request
        self._control = control
        self._outputs: list[int] = []
        self._peak = 0
        self._look_at_tree = time.monotonic() + TREE_SECS  # time of the next check

    def run(self) -> Answer:
        """Run the command, then terminate everything below it."""
        started = time.monotonic()
        files: list[int] = []
        try:
            files += self._open_files()
            pid = self._start(files)
        except NotStartedError as error:
            return Answer("not_started", reason=str(error))
        except RefusedError as error:
            return Answer("refused", reason=str(error))
        else:
            return self._supervise(pid, started)
        finally:
            for file in files:
                os.close(file)

    def _open_files(self) -> list[int]:
        request = self._request
        # O_APPEND keeps two descriptors of one file from overwriting each other.
        new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        files: list[int] = []
        try:
            for path, flags in ((request.stdin, os.O_RDONLY), (request.stdout, new), (request.stderr, new)):
                files.append(os.open(path, flags, 0o600))
        except OSError as error:
            for file in files:
                os.close(file)
            raise RefusedError(f"cannot open {error.filename}: {error.strerror}") from None
        self._outputs = files[1:]
        return files

    def _start(self, files: list[int]) -> int:
        """Fork and execute. The error pipe is closed on exec, so reading no data means success."""
        program = find_program(self._request)
        prepare_jail(self._request.jail)
        read_end, write_end = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(read_end)
            os.close(write_end)
            raise RefusedError(f"cannot fork: {error.strerror}") from None
        if pid == 0:
            self._become(program, files, write_end)
        os.close(write_end)
        with os.fdopen(read_end) as errors:
            error_text = errors.read()
        if error_text:
            os.waitpid(pid, 0)
            raise NotStartedError(error_text)
        return pid

    def _become(self, program: str, files: list[int], errors: int) -> NoReturn:
        try:
            self._prepare(files)
            execute(program, self._request)
        except BaseException as error:
            os.write(errors, (str(error) or repr(error)).encode(errors="replace"))
        os._exit(127)

    def _prepare(self, files: list[int]) -> None:
        os.setsid()
        for target, file in enumerate(files):
            os.dup2(file, target)
        self._limit()
        self._confine()
        self._drop_rights()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            os.chdir(self._request.cwd)
        except OSError as error:
            raise NotStartedError(f"cannot enter the folder {self._request.cwd}: {error.strerror}") from None
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def _limit(self) -> None:
        request = self._request
        # If memory runs out, the system ends a command, and neither Tidegate nor the runner.
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, request.files)]
        limits.append((resource.RLIMIT_FSIZE, request.file_bytes))
        if request.uid is not None:
            # Only for a user of its own: the limit counts all threads of a user, including those of a desktop.
            limits.append((resource.RLIMIT_NPROC, 4 * request.processes))
        for kind, value in limits:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))

    def _confine(self) -> None:
        wanted = self._request.jail
        if "namespaces" in wanted:
            part("namespaces").enter(wanted["namespaces"])
        if "files" in wanted:
            part("files").confine(wanted["files"], self._outputs)
        if "ports" in wanted:
            part("ports").allow_ports_only(wanted["ports"])
        if "calls" in wanted:
            part("calls").refuse(tracing=wanted["calls"]["tracing"])
            if self._request.uid is None and os.geteuid() == 0:
                part("calls").drop_capabilities()

    def _drop_rights(self) -> None:
        uid, gid = self._request.uid, self._request.gid
        if uid is None or gid is None:
            return
        for file in self._outputs:  # so that /dev/stdout and /dev/stderr can be opened again
            os.fchown(file, uid, gid)
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)

    def _supervise(self, pid: int, started: float) -> Answer:
        why = self._wait(pid, started)
        duration = time.monotonic() - started
        killed_at = None if why == "exited" else time.time()
        if why == "timeout":
            self._ask_to_end(pid)
        status, killed, unended = sweep(pid, None if self._request.shares_user else self._request.uid)
        killed.discard(pid)
        if why == "exited" and self._output_size() > self._request.output_bytes:
            why = "output"  # it ended before the next check of its output
        self._close_outputs()
        return described(why, status)._replace(
            duration_s=duration,
            left_behind=len(killed),
            killed=tuple(killed) if why == "exited" else (),
            peak_memory_mb=self._peak / 1e6 if self._peak else None,
            killed_at=killed_at,
            unended=unended,
        )

    def _wait(self, pid: int, started: float) -> str:
        """Wait for the command's end or a reason to stop it: `exited`, `timeout`, `cancelled`, or a limit's name."""
        timeout = self._request.timeout_secs
        deadline = None if timeout is None else started + timeout
        process = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(process, select.POLLIN)
            poll.register(CONTROL, select.POLLIN)
            while True:
                left = TICK_SECS if deadline is None else min(TICK_SECS, deadline - time.monotonic())
                ready = {file for file, _ in poll.poll(max(0, left) * 1000)}
                if process in ready:
                    return "exited"
                if CONTROL in ready:
                    self._control.receive()
                if CONTROL in ready or self._control.has_more:
                    return "cancelled"
                if deadline is not None and time.monotonic() >= deadline:
                    return "timeout"
                if limit := self._limit_reached():
                    return limit
        finally:
            os.close(process)

    def _limit_reached(self) -> str | None:
        if self._output_size() > self._request.output_bytes:
            return "output"
        now = time.monotonic()
        if now < self._look_at_tree:
            return None
        tree = processes_below(os.getpid())
        memory = sum(process.memory for process in tree.values())
        running = sum(not process.zombie for process in tree.values())
        self._peak = max(self._peak, memory)
        self._look_at_tree = now + max(TREE_SECS, TREE_SHARE * (time.monotonic() - now))
        if memory > self._request.memory_bytes:
            return "memory"
        return "processes" if running > self._request.processes else None

    def _output_size(self) -> int:
        states = [os.fstat(file) for file in self._outputs]
        return sum({(state.st_dev, state.st_ino): state.st_size for state in states}.values())

    def _close_outputs(self) -> None:
        """Take the output files back from the command's user, and cut them to the limit."""
        for file in self._outputs:
            if self._request.uid is not None:
                os.fchown(file, os.getuid(), os.getgid())
            if os.fstat(file).st_size > self._request.output_bytes:
                os.ftruncate(file, self._request.output_bytes)

    def _ask_to_end(self, session: int) -> None:
        """Send SIGINT to the command if requested, then SIGTERM to its whole session."""
        if self._request.interrupt_secs:
            send_all([session], signal.SIGINT)
            self._wait_for_all_of(session, self._request.interrupt_secs)
        self._wait_for_all_of(session, self._request.grace_secs, signal.SIGTERM)

    def _wait_for_all_of(self, session: int, seconds: float, number: int | None = None) -> None:
        """Wait for the session to end, after an optional signal to all of it; stop early if Tidegate sends anything."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(CONTROL, select.POLLIN)
        asked = False
        while time.monotonic() < deadline:
            tree = processes_below(os.getpid())
            members = [pid for pid, process in tree.items() if process.session == session and not process.zombie]
            if not members:
                return
            if number is not None and not asked:
                send_all(members, number)
                asked = True
            if poll.poll(10):
                return  # left unread: the command is ending anyway, and the main loop handles the message


def prepare_jail(wanted: dict[str, Any]) -> None:
    """Do before the fork what is the same for all commands."""
    for name in wanted:
        part(name)
    if "calls" in wanted:
        part("calls").filter_steps(tracing=wanted["calls"]["tracing"])
    if "files" in wanted and wanted["files"]["landlock"]:
        part("files").hold(wanted["files"])


@cache
def part(name: str) -> Any:
    """Return the module that carries out this part of the jail, from a file beside this one, which no import finds."""
    from importlib.util import module_from_spec, spec_from_file_location

    file = {"files": "jail_files.py", "calls": "jail_calls.py"}.get(name, "jail.py")
    spec = spec_from_file_location(name, os.path.join(os.path.dirname(__file__), file))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_program(request: Request) -> str:
    """Return the path of the command's program according to its own PATH. Raises NotStartedError if there is none."""
    name = request.argv[0]
    if "/" in name:
        return name
    for folder in request.env.get("PATH", os.defpath).split(":"):
        path = os.path.join(request.cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NotStartedError(f"{name}: not found on PATH")


def execute(program: str, request: Request) -> NoReturn:
    """Replace this process by the program. Raises NotStartedError on failure."""
    try:
        os.execve(program, request.argv, request.env)
    except OSError as error:
        reason = error.strerror
        if isinstance(error, FileNotFoundError) and os.path.exists(program):
            reason = "the interpreter that its first line names is missing"
        raise NotStartedError(f"cannot execute {program}: {reason}") from None


def described(why: str, status: int) -> Answer:
    """Return the answer for the reason that ended the wait, and the wait status."""
    if why in ("timeout", "cancelled"):
        return Answer(why)
    if why != "exited":
        return Answer("limit", limit=why)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXFSZ:
        return Answer("limit", limit="file_size")
    return Answer("exited", exit_code=code) if code >= 0 else Answer("signal", signal=-code)


def sweep(first: int, uid: int | None) -> tuple[int, set[int], int]:
    """Stop, kill and reap all processes below; return `first`'s wait status, the killed ids, and how many survived.

    Only a wait that finds no child proves that all are gone: /proc can miss a process that is being forked. With `uid`,
    all processes of this user are killed at once as well, so that forking cannot escape. A process that had ended
    before is not among the killed.
    """
    deadline = time.monotonic() + SWEEP_SECS
    killed: set[int] = set()
    ended_before: set[int] | None = None
    status = 0
    while True:
        reaped: set[int] = set()
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                reaped.add(ended[0])
                if ended[0] == first:
                    status = ended[1]
        except ChildProcessError:
            return status, killed | (reaped - (ended_before or reaped)), 0
        found = processes_below(os.getpid())
        if ended_before is None:
            ended_before = reaped | {pid for pid, process in found.items() if process.zombie}
        killed |= reaped - ended_before
        if time.monotonic() > deadline:
            return status, killed, max(1, len(found))
        send_all(found, signal.SIGSTOP)  # a stopped process cannot fork before it is killed
        send_all(found, signal.SIGKILL)
        killed.update(pid for pid, process in found.items() if not process.zombie)
        if uid is not None:
            kill_all_of(uid)
        time.sleep(0.001)


def send_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to every process that still exists."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def kill_all_of(uid: int) -> None:
    """Kill all processes of a user at once, which forking cannot escape. Only a process of that user can do so."""
    helper = os.fork()
    if helper == 0:
        with suppress(OSError):
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(helper, 0)


def processes_below(root: int) -> dict[int, Process]:
    """Return all descendants of `root`, by process id."""
    children: dict[int, list[int]] = {}
    processes: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := look_at(name)):
            processes[int(name)] = process
            children.setdefault(process.parent, []).append(int(name))
    below: dict[int, Process] = {}
    to_visit = [root]
    while to_visit:
        for pid in children.get(to_visit.pop(), ()):
            below[pid] = processes[pid]
            to_visit.append(pid)
    return below


def look_at(pid: str) -> Process | None:
    """Return one process from /proc/PID/stat (proc(5)); None if it is gone."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(file, 1024)
    except OSError:
        return None
    finally:
        os.close(file)
    fields = text[text.rindex(b")") + 2 :].split()
    zombie = fields[0] in (b"Z", b"X")
    return Process(parent=int(fields[1]), session=int(fields[3]), memory=int(fields[21]) * PAGE, zombie=zombie)


if __name__ == "__main__":
    main()
