"""The recorder's wrapper: runs the real target and records each call.

Tidegate does not import this file: `recorder.install` turns it into a script with the target's name. It runs at every
call of the target, so it imports only modules that are built into the interpreter (`os`, `signal` and `__future__`
would double its time). `-ISXutf8` ignores the caller's Python settings and preserves the bytes of arguments.

The record is a FIFO that Tidegate reads: this script can add to it, and cannot take anything back. Each field of an
entry ends with a NUL; a NUL comes before the first one, a newline after the last one:
`tidegate-call ID STARTED_NS CWD LENGTH`, then the arguments, LENGTH bytes, each of them ended by a NUL;
`tidegate-end ID DURATION_NS STATUS`, where STATUS is the exit status, or minus the signal that killed the target.
The kernel keeps writes of up to PIPE_BUF bytes whole. A longer entry is written in pieces:
`tidegate-part ID MORE SIZE`, then SIZE bytes without a newline; MORE is 0 in the last piece.
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
# Python ignores these two signals from its start. Few callers do, and programs rely on the default.
IGNORED_BY_PYTHON = (_signal.SIGPIPE, _signal.SIGXFSZ)
# The kernel sends a terminal's signals to the whole process group, so the target has already received these.
FROM_TERMINAL = (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGHUP, _signal.SIGWINCH, _signal.SIGCONT)
SI_KERNEL = 128
APPEND = posix.O_WRONLY | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
PIPE_BUF = 4096
PIECE = 3840  # bytes of an entry in one piece; the rest of PIPE_BUF is for its header
S_IFMT, S_IFREG = 0o170000, 0o100000
ENOEXEC = 8


def main(binary: bytes, search_path: bytes, record: bytes, added: "tuple[tuple[bytes, bytes], ...]") -> "NoReturn":
    """Run the target, with the variables in `added`, and end as it does, with the same exit status or signal."""
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
        for variable, value in added:
            posix.putenv(variable, value)
        status = run(program, [name, *arguments], mask)
    note(record, b"tidegate-end", call, b"%d" % (time.monotonic_ns() - started), b"%d\0" % status)
    leave(status)


def restore_locale() -> None:
    """Undo Python's change of the environment in the C locale (PEP 538), so that the target gets the caller's."""
    if posix.environ.get(b"LC_CTYPE") not in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        return
    for entry in read_all(b"/proc/self/environ").split(b"\0"):
        if entry.startswith(b"LC_CTYPE="):
            posix.putenv(b"LC_CTYPE", entry[9:])
            return
    posix.unsetenv(b"LC_CTYPE")


def read_all(path: bytes) -> bytes:
    """Return the contents of a file."""
    file = posix.open(path, posix.O_RDONLY)
    parts = []
    while part := posix.read(file, 1 << 20):
        parts.append(part)
    posix.close(file)
    return b"".join(parts)


def working_folder() -> bytes:
    """Return the current folder; empty if it has been deleted."""
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def note(record: bytes, kind: bytes, call: bytes, *fields: bytes) -> None:
    """Add one entry, in writes that parallel calls cannot mix with. Does nothing if the record has no reader."""
    entry = b"\0%s\0%s\0%s\n" % (kind, call, b"\0".join(fields))
    try:
        file = posix.open(record, APPEND)
        posix.set_blocking(file, True)  # from here on: wait while the pipe is full
        if len(entry) <= PIPE_BUF:
            posix.write(file, entry)
        else:
            for start in range(0, len(entry), PIECE):
                piece = entry[start : start + PIECE]
                more = start + PIECE < len(entry)
                posix.write(file, b"\0tidegate-part\0%s\0%d\0%d\0%s" % (call, more, len(piece), piece))
        posix.close(file)
    except OSError:
        pass


def find(binary: bytes, search_path: bytes) -> bytes | None:
    """Return the real target: `binary` itself if it is a path, else the first match on PATH that is not this script."""
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
    """Return device and inode of a regular file; None for anything else."""
    try:
        state = posix.stat(path)
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if state.st_mode & S_IFMT == S_IFREG else None


def run(program: bytes, argv: list[bytes], mask: "set[int | _signal.Signals]") -> int:
    """Run the target as a child that differs from this process only in its id; return how it ended."""
    # An ignored SIGCHLD discards the child's status. Set it before the fork: setting it drops a pending one.
    caller_has = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    child = posix.fork()
    if child == 0:
        for number in IGNORED_BY_PYTHON:
            _signal.signal(number, _signal.SIG_DFL)
        _signal.signal(_signal.SIGCHLD, caller_has)
        become(program, argv, mask)
    return follow(child)


def become(program: bytes, argv: list[bytes], mask: "set[int | _signal.Signals]") -> "NoReturn":
    """Execute the target with the caller's signal mask. A script without `#!` is run by `sh`, as a shell would."""
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # Python's handler would swallow a signal that arrives now
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
    """Forward signals to the child, stop when it stops, and return how it ended.

    It is unknown whether a program sent a signal to this process or to the whole group. In the latter case, the child
    receives it twice.
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
    """Write a message to stderr, if it is open."""
    try:  # noqa: SIM105  (contextlib is not built in)
        posix.write(2, message + b"\n")
    except OSError:
        pass


def leave(status: int) -> "NoReturn":
    """End with the target's exit status or signal."""
    if status < 0:
        die_by(-status)
        status = 128 - status
    posix._exit(status)


def die_by(number: int) -> None:
    """Kill this process with a signal, without a core file: the target has already written its own."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (number,))
    posix.kill(posix.getpid(), number)
