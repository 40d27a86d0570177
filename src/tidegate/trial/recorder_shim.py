"""The recorder's wrapper: runs the real target in its place and notes each call.

Tidegate does not import it: `recorder.install` makes a script of it that has the target's name. As it runs at every
call of the target, it imports only modules that are built into the interpreter (`os`, `signal` and `__future__` would
double its time), and `-ISXutf8` keeps the caller's Python settings away and arguments as the bytes that they are.

A record is one write. Its fields end with a NUL each; a NUL comes before them, a newline after them:
`tidegate-call ID STARTED_NS CWD LENGTH`, then the arguments, LENGTH bytes, each of them ended by a NUL;
`tidegate-end ID DURATION_NS STATUS`, where STATUS is the exit status, or minus the signal that killed the target.
"""

import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from typing import NoReturn
else:
    import _signal

EVERY_SIGNAL = _signal.valid_signals()
# Python ignores these two from its start. Hardly any caller does, and programs rely on the default.
IGNORED_BY_PYTHON = (_signal.SIGPIPE, _signal.SIGXFSZ)
# What the kernel sends for a terminal, it sends to the whole process group: the target has it already.
FROM_TERMINAL = (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGHUP, _signal.SIGWINCH, _signal.SIGCONT)
SI_KERNEL = 128
APPEND = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
S_IFMT, S_IFREG = 0o170000, 0o100000
ENOEXEC = 8


def main(binary: bytes, search_path: bytes, record: bytes) -> "NoReturn":
    """Do what the target would have done, its exit status or death by a signal included."""
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, EVERY_SIGNAL)
    restore_locale()
    arguments = [argument.encode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    started = time.monotonic_ns()
    epoch = b"%d" % time.time_ns()
    call = b"%d-%s" % (posix.getpid(), epoch)
    listed = b"".join(argument + b"\0" for argument in arguments)
    note(record, b"tidegate-call", call, epoch, working_folder(), b"%d\0%s" % (len(listed), listed))
    name = binary.rpartition(b"/")[2]
    program = find(binary, search_path)
    if program is None:
        complain(name + b": not found")
        status = 127
    else:
        status = run(program, [name, *arguments], mask)
    note(record, b"tidegate-end", call, b"%d" % (time.monotonic_ns() - started), b"%d\0" % status)
    leave(status)


def restore_locale() -> None:
    """Undo what Python does to the environment in the C locale (PEP 538): the target gets the caller's."""
    if posix.environ.get(b"LC_CTYPE") not in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        return
    for entry in read_all(b"/proc/self/environ").split(b"\0"):
        if entry.startswith(b"LC_CTYPE="):
            posix.putenv(b"LC_CTYPE", entry[9:])
            return
    posix.unsetenv(b"LC_CTYPE")


def read_all(path: bytes) -> bytes:
    """A file's bytes."""
    file = posix.open(path, posix.O_RDONLY)
    parts = []
    while part := posix.read(file, 1 << 20):
        parts.append(part)
    posix.close(file)
    return b"".join(parts)


def working_folder() -> bytes:
    """Where the target is called; empty if that folder has been deleted."""
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def note(record: bytes, *fields: bytes) -> None:
    """Append one record; one write to a descriptor of our own, so that parallel calls cannot mix. Never fails."""
    try:
        file = posix.open(record, APPEND, 0o600)
        posix.write(file, b"\0%s\n" % b"\0".join(fields))
        posix.close(file)
    except OSError:
        pass


def find(binary: bytes, search_path: bytes) -> bytes | None:
    """The real target: the path itself if it is one, else the first on PATH that is not this script."""
    if b"/" in binary:
        return binary
    this = identity(sys.argv[0].encode("utf-8", "surrogateescape"))
    for folder in search_path.split(b":"):
        path = (folder or b".") + b"/" + binary
        found = identity(path)
        if found not in (None, this) and posix.access(path, posix.X_OK):
            return path
    return None


def identity(path: bytes) -> tuple[int, int] | None:
    """Device and inode of a regular file; None for anything else."""
    try:
        state = posix.stat(path)
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if state.st_mode & S_IFMT == S_IFREG else None


def run(program: bytes, argv: list[bytes], mask: "set[int | _signal.Signals]") -> int:
    """Run the target as a child that differs from this process in nothing but its id; returns how it ended."""
    # Ignored, it would take the child's status away. Not later: setting it discards one that has already come.
    caller_has = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    child = posix.fork()
    if child == 0:
        for number in IGNORED_BY_PYTHON:
            _signal.signal(number, _signal.SIG_DFL)
        _signal.signal(_signal.SIGCHLD, caller_has)
        become(program, argv, mask)
    return follow(child)


def become(program: bytes, argv: list[bytes], mask: "set[int | _signal.Signals]") -> "NoReturn":
    """Execute the target with the caller's signal mask; a script without a first line as a shell would."""
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # Python's own handler would swallow one that comes now
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    try:
        try:
            posix.execv(program, argv)
        except OSError as error:
            if error.errno != ENOEXEC:
                raise
            posix.execv(b"/bin/sh", [b"sh", program, *argv[1:]])
    except OSError as error:
        complain(b"%s: %s" % (program, str(error.strerror).encode()))
        posix._exit(127 if isinstance(error, FileNotFoundError | NotADirectoryError) else 126)


def follow(child: int) -> int:
    """Hand on the signals that this process gets, stop when the child stops, and return how it ended.

    Nothing tells whether a program has sent a signal to this process or to its whole group; then the child gets two.
    """
    while True:
        signal = _signal.sigwaitinfo(EVERY_SIGNAL)
        if signal.si_signo != _signal.SIGCHLD:
            if signal.si_code != SI_KERNEL or signal.si_signo not in FROM_TERMINAL:
                posix.kill(child, signal.si_signo)
            continue
        while True:
            pid, status = posix.waitpid(child, posix.WNOHANG | posix.WUNTRACED)
            if pid == 0:
                break
            if not posix.WIFSTOPPED(status):
                return posix.waitstatus_to_exitcode(status)
            posix.kill(posix.getpid(), _signal.SIGSTOP)


def complain(message: bytes) -> None:
    """Say it on stderr, if there is one."""
    try:  # noqa: SIM105  (contextlib is not built in)
        posix.write(2, message + b"\n")
    except OSError:
        pass


def leave(status: int) -> "NoReturn":
    """End as the target did."""
    if status < 0:
        die_by(-status)
        status = 128 - status
    posix._exit(status)


def die_by(number: int) -> None:
    """Die by a signal, without a core file: if one is wanted, the target has left its own."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (number,))
    posix.kill(posix.getpid(), number)
