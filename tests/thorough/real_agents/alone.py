"""`alone.py SCRIPT REQUESTS COMMAND…`: runs the command with the scripted model beside it, and no other network.

The namespace is made by this process itself; where the system refuses one, the command runs without, and says so.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.model_server import Fault, Step, ToolUse, serving

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def leave_the_network() -> bool:
    """A network namespace of our own with loopback alone; False if we may not."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    return True


def steps_of(told: list[tuple[str, list[Any]]]) -> list[Step]:
    """The model's turns, of what the script has for each: a text, and commands or tools."""
    return [
        Step(text, tuple(ToolUse(*each) if isinstance(each, list) else each for each in commands))
        for text, commands in told
    ]


def main(script: str, requests: str, *command: str) -> int:
    """Returns the command's exit status."""
    if not leave_the_network():
        print("no network namespace: outside hosts could be reached", file=sys.stderr)
    told = json.loads(Path(script).read_text())
    with serving(steps_of(told["steps"])) as server:
        server.scripts = {text: steps_of(steps) for text, steps in told.get("scripts", {}).items()}
        if told["refused"]:
            text, status, message = told["refused"]
            server.refused = text, Fault(status, "invalid_request_error", message=message)
        here = {
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "GOOGLE_GEMINI_BASE_URL": server.url,
        }
        done = subprocess.run(command, env={**os.environ, **here}, check=False)
        Path(requests).write_text(json.dumps(server.requests))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
