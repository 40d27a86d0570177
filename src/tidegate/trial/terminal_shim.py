"""The wrapper of `tty: true`: runs the target on pseudo-terminals and copies what it prints.

Tidegate does not import this file: `terminal.install` turns it into a script with the target's name, behind the
recorder. Standard input and output are one terminal, which is the target's controlling one; standard error is another,
so that the streams stay apart. The terminals change no byte of the output and do not echo the input.
"""

import fcntl
import os
import select
import signal
import stat
import struct
import sys
import termios
import time

ROWS, COLUMNS = 24, 80
TERM = "xterm-256color"
ECHO = termios.ECHO | termios.ECHOE | termios.ECHOK | termios.ECHONL
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
END_OF_INPUT = b"\x04"
AGAIN_SECS = 0.2  # between two ends of input: each read of the target consumes one


def main(name: str, search_path: str) -> None:
    """Run the target, and end as it does."""
    found = (f"{folder or '.'}/{name}" for folder in search_path.split(":"))
    program = next((path for path in found if is_program(path)), None)
    if program is None:
        os.write(2, os.fsencode(f"{name}: not found\n"))
        os._exit(127)
    (outer, inner), (errors, inner_errors) = terminal(), terminal()
    child = os.fork()
    if child == 0:
        become(program, inner, inner_errors)
    os.close(inner)
    os.close(inner_errors)
    for number in FORWARDED:
        signal.signal(number, lambda number, _: os.killpg(child, number))
    leave(copy(child, outer, errors))


def is_program(path: str) -> bool:
    """Return True for an executable file."""
    try:
        return os.access(path, os.X_OK) and stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116  (pathlib is slow to import)
    except OSError:
        return False


def terminal() -> "tuple[int, int]":
    """Return both ends of a new pseudo-terminal."""
    outer, inner = os.openpty()
    attributes = termios.tcgetattr(inner)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~ECHO
    termios.tcsetattr(inner, termios.TCSANOW, attributes)
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return outer, inner


def become(program: str, inner: int, errors: int) -> None:
    """Execute the target with the terminals as its streams."""
    try:
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
        for stream, file in ((0, inner), (1, inner), (2, errors)):
            os.dup2(file, stream)
        os.closerange(3, 256)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python changes these
            signal.signal(number, signal.SIG_DFL)
        fixed = {"TERM": TERM, "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
        kept = {} if os.environ.get("TERM", "dumb") == "dumb" else {"TERM": os.environ["TERM"]}
        os.execve(program, [program.rpartition("/")[2], *sys.argv[1:]], {**os.environ, **fixed, **kept})
    except OSError as error:
        os.write(2, os.fsencode(f"{program}: {error.strerror}\n"))
    finally:
        os._exit(126)


def copy(child: int, outer: int, errors: int) -> int:
    """Copy input and output until the target has ended and all is read; return how it ended."""
    streams = {outer: 1, errors: 2}
    os.set_blocking(outer, False)
    waiting, ended, said_end = b"", False, 0.0
    status = None
    while streams:
        inputs = [] if ended or waiting else [0]
        ready, _, _ = select.select([*streams, *inputs], [], [], 0 if status is not None else 0.05)
        for file in ready:
            if file == 0:
                waiting = os.read(0, 4096)
                ended = not waiting
            elif not passed_on(file, streams[file]):
                del streams[file]
        if waiting:
            waiting = waiting[typed(outer, waiting) :]
        elif ended and reads_lines(outer) and time.monotonic() - said_end > AGAIN_SECS:
            said_end = time.monotonic()
            typed(outer, END_OF_INPUT)
        if status is not None and not ready:
            break  # a process that it left behind may hold the terminal
        if status is None:
            done, how = os.waitpid(child, os.WNOHANG)
            status = how if done else None
    return os.waitpid(child, 0)[1] if status is None else status


def passed_on(file: int, stream: int) -> bool:
    """Copy what is there. Return False at the end."""
    try:
        data = os.read(file, 65536)
    except BlockingIOError:
        return True
    except OSError:  # EIO: the other end is closed
        return False
    while data:
        data = data[os.write(stream, data) :]
        if not data:
            return True
    return False


def typed(outer: int, data: bytes) -> int:
    """Give input to the target. Return how many bytes the terminal took."""
    try:
        return os.write(outer, data)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def reads_lines(outer: int) -> bool:
    """Return True if the target reads lines, and not single keys: then it understands an end of input."""
    try:
        return bool(termios.tcgetattr(outer)[3] & termios.ICANON)
    except (OSError, termios.error):
        return False


def leave(status: int) -> None:
    """End with the target's exit status or signal."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number and number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    if number:
        import resource  # 0.5 ms of each call

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), number)
    os._exit(128 + number if number else os.WEXITSTATUS(status))
