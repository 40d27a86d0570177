"""The supervisor: a small process that runs one command after another, and leaves nothing of them behind.

It is a program of its own (`python -I -S supervisor.py`), started by `tidegate.trial.processes`: standard library only,
no import from Tidegate. Requests and answers are JSON lines on its standard input, which is a socket; the end of that
line means that Tidegate is gone. Being the child subreaper of everything below it, it keeps even processes that have
daemonised; it has answered only when the last of them is dead and reaped.
"""

# It forks for every command, so it stays small: no pathlib.
# ruff: noqa: PTH110, PTH113, PTH118, PTH208

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple, NoReturn

CONTROL = 0  # the line to Tidegate: both ways, on standard input
CANCEL = b"cancel"
SWEEP_SECS = 20.0
TICK_SECS = 0.02  # between two looks at the sizes of the outputs
TREE_SECS = 0.1  # at least, between two looks at the processes
TREE_SHARE = 20  # a look at the processes takes at most 1/20 of the time
PAGE = os.sysconf("SC_PAGE_SIZE")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
LIBC = ctypes.CDLL(None, use_errno=True)
UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}


class Request(NamedTuple):
    """One command: what to run and how far it may go. `uid` and `gid` only where the supervisor is root."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    stdin: str
    stdout: str
    stderr: str
    timeout_secs: float | None
    interrupt_secs: float  # from SIGINT to SIGTERM, at a timeout; 0: no SIGINT
    grace_secs: float  # from SIGTERM to SIGKILL
    output_bytes: int  # stdout and stderr together
    memory_bytes: int  # resident, the whole tree
    processes: int
    files: int  # open at once, each process
    file_bytes: int  # the largest file that it may write
    uid: int | None = None
    gid: int | None = None
    shares_user: bool = False  # with the command of another supervisor, which lives on when this one ends


class Answer(NamedTuple):
    """What became of it. `unended`: how many processes could not be ended, which spoils the place for what follows."""

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


class NotStartedError(Exception):
    """The command could not be executed; the message says why."""


class RefusedError(Exception):
    """The system had no room for another command, whichever; the message says what it refused."""


class Process(NamedTuple):
    """One line of /proc. A zombie may still have threads that run."""

    parent: int
    session: int
    memory: int  # resident bytes
    zombie: bool


def main() -> None:
    """Say whether this system has what it takes, then serve until Tidegate is gone."""
    # Only SIGKILL ends it: what it supervises may not talk it out of supervising. SIGCHLD must stay, for waitpid.
    for number in signal.valid_signals() - UNCATCHABLE - {signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    control = Control()
    missing = what_is_missing()
    control.send({"missing": missing})
    while missing is None and (line := control.next_line()) is not None:
        if line != CANCEL:  # a cancellation that crossed the answer on its way has nothing left to cancel
            control.send(Command(Request(**json.loads(line)), control).run()._asdict())


def what_is_missing() -> str | None:
    """Become the subreaper; the name of what the kernel does not let us have."""
    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        return str(error)
    return None if look_at("self") else "/proc is missing"


def prctl(option: int, value: int) -> None:
    """prctl(2)."""
    arguments = [ctypes.c_ulong(argument) for argument in (value, 0, 0, 0)]
    if LIBC.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) does not work")


class Control:
    """The line to Tidegate."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def next_line(self) -> bytes | None:
        """Wait for a line; None when Tidegate is gone."""
        while b"\n" not in self._buffer:
            if not self.receive():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return bytes(line)

    @property
    def has_more(self) -> bool:
        """Something arrived together with the last line."""
        return bool(self._buffer)

    def receive(self) -> bool:
        """Take in what has arrived; False when Tidegate is gone."""
        try:
            data = os.read(CONTROL, 1 << 20)
        except ConnectionError:
            return False
        self._buffer += data
        return bool(data)

    def send(self, message: dict[str, object]) -> None:
        """Send a line; when nobody is there any more, the next read says so."""
        data = json.dumps(message).encode() + b"\n"
        with suppress(ConnectionError):
            while data:
                data = data[os.write(CONTROL, data) :]


class Command:
    """One command from its fork to the death of the last process below it."""

    def __init__(self, request: Request, control: Control) -> None:
        self._request = request
        self._control = control
        self._outputs: list[int] = []
        self._peak = 0
        self._look_at_tree = 0.0  # when, on the monotonic clock

    def run(self) -> Answer:
        """Run it to its end and beyond."""
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
        # Appending keeps two descriptors of one file from overwriting each other.
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
        """Fork and execute; the error pipe closes by itself when the execve has worked."""
        program = find_program(self._request)
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
        self._drop_rights()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            os.chdir(self._request.cwd)
        except OSError as error:
            raise NotStartedError(f"cannot enter the folder {self._request.cwd}: {error.strerror}") from None
        for number in signal.valid_signals() - UNCATCHABLE:
            signal.signal(number, signal.SIG_DFL)

    def _limit(self) -> None:
        request = self._request
        limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, request.files)]
        limits.append((resource.RLIMIT_FSIZE, request.file_bytes))
        if request.uid is not None:
            # Only where the user is the command's own: it counts all of a user's threads, the desktop's too.
            limits.append((resource.RLIMIT_NPROC, 4 * request.processes))
        for kind, value in limits:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))

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
        if why == "exited" and self._output_size() > self._request.output_bytes:
            why = "output"  # it was quicker than we looked
        self._close_outputs()
        return described(why, status)._replace(
            duration_s=duration,
            left_behind=len(killed - {pid}),
            peak_memory_mb=self._peak / 1e6 if self._peak else None,
            killed_at=killed_at,
            unended=unended,
        )

    def _wait(self, pid: int, started: float) -> str:
        """Wait for the end of the command or of our patience: `exited`, `timeout`, `cancelled`, or a limit's name."""
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
        """What was said stays said: the files are ours again, and no longer than they may be."""
        for file in self._outputs:
            if self._request.uid is not None:
                os.fchown(file, os.getuid(), os.getgid())
            if os.fstat(file).st_size > self._request.output_bytes:
                os.ftruncate(file, self._request.output_bytes)

    def _ask_to_end(self, session: int) -> None:
        """SIGINT to the command itself, if it is to have one, then SIGTERM to all of its session."""
        if self._request.interrupt_secs:
            send_all([session], signal.SIGINT)
            self._wait_for_all_of(session, self._request.interrupt_secs)
        self._wait_for_all_of(session, self._request.grace_secs, signal.SIGTERM)

    def _wait_for_all_of(self, session: int, seconds: float, number: int | None = None) -> None:
        """Time for the session to end, after a signal to all of it; whatever Tidegate says now ends that time."""
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
                return  # left unread: the answer to a cancellation or an end is this command's own


def find_program(request: Request) -> str:
    """The file that the command's own PATH has for its first word; NotStartedError if there is none."""
    name = request.argv[0]
    if "/" in name:
        return name
    for folder in request.env.get("PATH", os.defpath).split(":"):
        path = os.path.join(request.cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NotStartedError(f"{name}: not found on PATH")


def execute(program: str, request: Request) -> NoReturn:
    """Become the program, or say why not."""
    try:
        os.execve(program, request.argv, request.env)
    except OSError as error:
        reason = error.strerror
        if isinstance(error, FileNotFoundError) and os.path.exists(program):
            reason = "the interpreter that its first line names is missing"
        raise NotStartedError(f"cannot execute {program}: {reason}") from None


def described(why: str, status: int) -> Answer:
    """The answer's end, from the reason and the wait status."""
    if why in ("timeout", "cancelled"):
        return Answer(why)
    if why != "exited":
        return Answer("limit", limit=why)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXFSZ:
        return Answer("limit", limit="file_size")
    return Answer("exited", exit_code=code) if code >= 0 else Answer("signal", signal=-code)


def sweep(first: int, uid: int | None) -> tuple[int, set[int], int]:
    """Stop, kill and reap everything below; returns the wait status of `first`, whom it killed, how many it could not.

    Only a wait that finds no child is proof: a look at /proc can miss a process that is being forked. With `uid`, all
    that this user runs is killed as well, which no fork outruns.
    """
    deadline = time.monotonic() + SWEEP_SECS
    killed: set[int] = set()
    status = 0
    while True:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == first:
                    status = ended[1]
        except ChildProcessError:
            return status, killed, 0
        found = processes_below(os.getpid())
        if time.monotonic() > deadline:
            return status, killed, max(1, len(found))
        send_all(found, signal.SIGSTOP)  # what is stopped cannot fork away from what follows
        send_all(found, signal.SIGKILL)
        killed.update(pid for pid, process in found.items() if not process.zombie)
        if uid is not None:
            kill_all_of(uid)
        time.sleep(0.001)


def send_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to each that is still there."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def kill_all_of(uid: int) -> None:
    """Kill every process of a user at once, which no fork outruns; only such a process may do so."""
    helper = os.fork()
    if helper == 0:
        with suppress(OSError):
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(helper, 0)


def processes_below(root: int) -> dict[int, Process]:
    """Every process that descends from `root`, by its id."""
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
    """One process; None if it is gone (proc(5), /proc/pid/stat)."""
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
