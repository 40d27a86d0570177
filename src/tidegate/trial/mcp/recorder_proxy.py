"""Records an MCP server on stdio: runs between an agent and the real server, and records what they send each other.

`recording.install` writes it behind `answer_status.py` and `session_notes.py` into one script, so it imports nothing
from Tidegate. Each line is one JSON-RPC message, which is forwarded unchanged.

Called with `--early` it starts the server before there is an agent, and waits for one at a socket. The script that the
first agent starts finds the socket there and passes everything to it; another one starts a server of its own.
"""

import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.trial.mcp.session_notes import Notes


def main(command: str, environment: dict[str, str], folder: str, record: str, early: str) -> int:
    """Pass the agent's messages to a server that waits for them, or start one; return its exit status, at most 127."""
    meeting = socket.socket(socket.AF_UNIX)
    is_early = sys.argv[1:] == ["--early"]
    if is_early:
        meeting.bind(early)
        meeting.listen(1)
    elif is_met(meeting, early):
        return pass_both_ways(meeting)
    server = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    notes = Notes(record)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    if is_early:
        agent = meeting.accept()[0]
        Path(early).unlink()
        meeting.close()
        source, target = agent.makefile("rb"), agent.makefile("wb")
    upward = threading.Thread(target=pass_up, args=(source, server.stdin, notes), daemon=True)
    upward.start()
    assert server.stdout is not None
    for line in server.stdout:
        notes.answered(line)
        target.write(line)
        target.flush()
    return min(abs(server.wait()), 127)


def is_met(meeting: socket.socket, early: str) -> bool:
    """Return True if a server waits there."""
    try:
        meeting.connect(early)
    except OSError:
        return False
    return True


def pass_both_ways(server: socket.socket) -> int:
    """Pass standard input to the server that waits, and its output on; return 0 when it ends."""

    def up() -> None:
        with suppress(OSError):
            for line in sys.stdin.buffer:
                server.sendall(line)
            server.shutdown(socket.SHUT_WR)

    threading.Thread(target=up, daemon=True).start()
    while data := server.recv(1 << 16):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def pass_up(source: IO[bytes], server: IO[bytes], notes: "Notes") -> None:
    """Forward the agent's messages until it closes its output; then close the server's input."""
    try:
        for line in source:
            notes.asked(line)
            server.write(line)
            server.flush()
        server.close()
    except OSError:
        pass  # the server has ended; the agent sees the end of its output
