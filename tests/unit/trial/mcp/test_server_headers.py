"""Headers for a server at a URL, which the recorder in front of it adds."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from tidegate.model.target import McpServer
from tidegate.trial.mcp.server_headers import give_headers


def test_a_recorder_that_ended_with_its_server_is_given_no_headers(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
    server = McpServer(command="x", url="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer k3y"})
    asyncio.run(give_headers(server, path))
