"""Records an MCP server on stdio: runs between an agent and the real server, and records what they send each other.

`recording.install` writes it behind `answer_status.py` and `session_notes.py` into one script, so it imports nothing
from Tidegate. Each line is one JSON-RPC message, which is forwarded unchanged.
"""

import signal
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.trial.mcp.session_notes import Notes


def main(command: str, environment: dict[str, str], folder: str, record: str) -> int:
    """Start the server and return its exit status, at most 127."""
    server = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    notes = Notes(record)
    upward = threading.Thread(target=pass_up, args=(sys.stdin.buffer, server.stdin, notes), daemon=True)
    upward.start()
    assert server.stdout is not None
    for line in server.stdout:
        notes.answered(line)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return min(abs(server.wait()), 127)


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
