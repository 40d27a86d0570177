"""Every version of the protocol on everything that carries it, with the official SDKs as clients and as servers.

docs/mcp.md shows what is tried here as a table.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests import sdk_server
from tests.trial.mcp.test_http_proxy import proxied
from tidegate.model.target import McpServer
from tidegate.trial.mcp import recording
from tidegate.trial.recorder import Stops

SDKS = {"sdk": "1.32.2", "client": "2.4.0", "server": "2.4.0", "node": "2.1.2"}  # of TypeScript
PATHS = {"stdio": "", "sse": "/sse", "http": "/mcp"}
SCRIPTS = Path(__file__).with_name("protocol")
DOCS = Path(__file__).parents[3] / "docs" / "mcp.md"
PAIRS = [("python", "typescript"), ("typescript", "python"), ("typescript", "typescript")]  # server and client


def table() -> dict[str, dict[str, bool]]:
    """What the page says: the carriers and the features of each version."""
    rows = re.findall(r"^\| (\d{4}-\d\d-\d\d|version) \|(.*)\|$", DOCS.read_text(), re.M)
    (_, titles), *found = [(name, [cell.strip() for cell in cells.split("|")]) for name, cells in rows]
    marked = {name: dict(zip(titles, cells, strict=True)) for name, cells in found}
    return {name: {title: cell.startswith("yes") for title, cell in row.items()} for name, row in marked.items()}


TABLE = table()
CARRIERS = {"stdio": "stdio", "sse": "SSE", "http": "streamable HTTP"}
CELLS = [(version, carrier) for version, row in TABLE.items() for carrier, title in CARRIERS.items() if row[title]]


@pytest.fixture(scope="session")
def scripts(npm: Callable[[str, str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the scripts, with the SDKs of TypeScript."""
    folder = tmp_path_factory.mktemp("sdks")
    shutil.copytree(SCRIPTS, folder, dirs_exist_ok=True)
    (folder / "node_modules" / "@modelcontextprotocol").mkdir(parents=True)
    for name, version in SDKS.items():
        package = f"@modelcontextprotocol/{name}"
        (folder / "node_modules" / package).symlink_to(npm(package, version) / package)
    (folder / "node_modules" / "zod").symlink_to(npm("@modelcontextprotocol/sdk", SDKS["sdk"]) / "zod")
    return folder


def server_command(scripts: Path, server: str, version: str, carrier: str) -> str:
    if server == "python":
        named = {"http": "streamable-http"}.get(carrier, carrier)
        return f"exec {sys.executable} {sdk_server.__file__} {named} {{port}}"
    return f"exec node {scripts}/server.mjs {'new' if version >= '2026' else 'old'} {carrier} {{port}}"


def used(scripts: Path, client: str, version: str, carrier: str, *where: str) -> list[str]:
    """What the client was told. Sessions, times and addresses are in none of it."""
    program = [sys.executable, f"{scripts}/client.py"] if client == "python" else ["node", f"{scripts}/client.mjs"]
    command = [*program, version, carrier, *where]
    done = subprocess.run(command, cwd=scripts, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def told_without(scripts: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], list[str]]:
    """Returns what a client of a version is told by a server without the recorder, on stdio; asked once for each."""

    @cache
    def told(server: str, client: str, version: str) -> list[str]:
        folder = tmp_path_factory.mktemp("plain")
        command = server_command(scripts, server, version, "stdio").replace("{port}", "0")
        lines = used(scripts, client, version, "stdio", "sh", "-c", f"cd {folder} && {command}")
        assert lines[0] == version
        return lines

    return told


@pytest.mark.parametrize(("version", "carrier"), CELLS)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_a_session_is_passed_unchanged_and_recorded(
    scripts: Path,
    told_without: Callable[[str, str, str], list[str]],
    tmp_path: Path,
    version: str,
    carrier: str,
    server: str,
    client: str,
) -> None:
    if carrier == "stdio":
        environment = {"PATH": os.environ["PATH"]}
        command = server_command(scripts, server, version, carrier).replace("{port}", "0")
        (tmp_path / "calls").touch()
        where = (environment, tmp_path, tmp_path / "calls", tmp_path / "early")
        script = recording.install(tmp_path / "script", McpServer(command=command), *where)
        seen = used(scripts, client, version, carrier, str(script))
    else:
        path = PATHS[carrier]
        with proxied(tmp_path, server_command(scripts, server, version, carrier), path) as port:
            seen = used(scripts, client, version, carrier, f"http://127.0.0.1:{port}{path}")

    assert seen == told_without(server, client, version)
    features = TABLE[version]
    assert any(line.startswith("progress 0") for line in seen) == features["progress"]
    told = recording.read(tmp_path / "calls", Stops())
    assert told.opened
    assert told.warnings == ()
    assert [(*call.argv, call.status) for call in told.invocations] == [
        ("add", '{"title": "Emma"}', "ok"),
        ("add", '{"title": "refuse"}', "error"),
        ("wait", '{"seconds": 0.1}', "ok"),
        ("wait", '{"seconds": 20}', "timeout"),
        *([("clear", "ok")] if features["questions"] else []),
        ("resources/read", "shelf://items", "ok"),
        ("prompts/get", "greet", '{"name": "Ann"}', "ok"),
        ("completion/complete", "greet", "name=A", "ok"),
        *([("grind", "ok")] if features["tasks"] and server == client else []),
        ("grow", "ok"),
    ]
    if version < "2026":  # since then, only clients that listen are told
        assert "the server sent notifications/tools/list_changed" in {text for _, text in told.notices}
