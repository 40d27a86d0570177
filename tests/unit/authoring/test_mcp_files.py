"""How files of a repository say that its MCP server is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidegate.authoring.build_systems import find_tools
from tidegate.authoring.build_systems.mcp_files import Start, environment, starts

NODE = (
    '{"name": "@me/notes-mcp", "bin": {"notes": "dist/index.js"}, "dependencies": {"@modelcontextprotocol/sdk": "1"}}'
)


def servers(command: str, *arguments: str) -> str:
    return json.dumps({"mcpServers": {"notes": {"command": command, "args": list(arguments)}}})


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("mcp.json", servers("notes", "--db", "~/me/a.db", "--to=/path/b"), Start("notes", ("--db", "a.db", "--to=."))),
        (
            ".mcp.json",
            servers("npx", "-y", "@me/notes-mcp@1.2", "--root", "/home/me/notes"),
            Start("notes", ("--root", ".")),
        ),
        ("mcp.json", servers("notes", "--stdio"), Start("notes", ("--stdio",))),
        ("README.md", f"# x\n```json\n{servers('npx', '@me/notes-mcp', '${HOME}/a')}\n```\n", Start("notes", (".",))),
        (".vscode/mcp.json", servers("npx", "@other/server").replace("mcpServers", "servers"), None),
        ("mcp.json", servers("notes").replace("mcpServers", "tools"), Start("notes")),
        ("mcp.json", '{"mcp": {"servers": {"a": {"command": "notes"}}}}', Start("notes")),
        ("mcp.json", "{", None),
        (
            "mcp.json",
            '{"mcpServers": {"a": {"command": 1}, "b": 2, "c": {"command": "notes", "args": 3}}}',
            Start("notes"),
        ),
    ],
)
def test_the_start_of_our_program_is_read(tmp_path: Path, file: str, content: str, expected: Start | None) -> None:
    (tmp_path / "package.json").write_text(NODE)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(content)
    assert starts(tmp_path, ".", "notes") == ((expected,) if expected else ())


@pytest.mark.parametrize(
    ("files", "command", "started"),
    [
        ({"index.js": "", "package.json": '{"name": "x"}'}, servers("node", "/home/me/x/index.js"), "exec node"),
        ({"package.json": '{"name": "x"}'}, servers("node", "dist/index.js"), '"%s"/dist/index.js'),
        (
            {"package.json": '{"name": "x", "scripts": {"start:stdio": "node ./build/a.js"}}'},
            servers("node", "PATH/TO/x/build/a.js"),
            '"%s"/build/a.js',
        ),
        ({"src/notes/__main__.py": "", "pyproject.toml": ""}, servers("python", "-m", "notes"), "-m notes"),
        ({"server.py": "mcp.run()", "requirements.txt": "mcp"}, servers("uv", "run", "server.py"), "venv/bin/python"),
        (
            {"server.py": "mcp = FastMCP()", "requirements.txt": "fastmcp"},
            servers("uv", "run", "--with", "fastmcp", "fastmcp", "run", "/path/to/server.py"),
            'venv/bin/fastmcp" run',
        ),
    ],
)
def test_a_server_that_nothing_installs_is_found_where_a_file_starts_it(
    tmp_path: Path, files: dict[str, str], command: str, started: str
) -> None:
    for name, text in {**files, ".mcp.json": command}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tool,) = find_tools(tmp_path)
    assert (tool.binary, tool.server, tool.path) == ("notes", True, (".tidegate/bin",))
    assert started in tool.build[-1]


def test_one_line_that_two_files_call_by_other_names_is_one_server(tmp_path: Path) -> None:
    start = '{{"mcpServers": {{"{}": {{"command": "node", "args": ["dist/index.js"]}}}}}}'
    readme = f"```json\n{start.format('tally_stdio')}\n```\n"
    files = {"mcp.json": start.format("@acme/tally"), "README.md": readme, "package.json": '{"main": "dist/index.js"}'}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tool,) = find_tools(tmp_path)
    assert (tool.binary, tool.found_in) == ("tally", "mcp.json")


def test_npm_start_says_which_file_is_run_before_main_does(tmp_path: Path) -> None:
    package = {"name": "calc", "main": "build/index.js", "scripts": {"start": "node --no-warnings ./dist/server.js"}}
    (tmp_path / "package.json").write_text(json.dumps(package | {"dependencies": {"@modelcontextprotocol/sdk": "1"}}))
    (found,) = find_tools(tmp_path, ".")
    assert "dist/server.js" in found.build[-1]


def test_a_variable_that_docs_name_and_code_reads_has_the_value_that_they_show(tmp_path: Path) -> None:
    named = ["BANK_ROOT", "EXCEL_FILES_PATH", "CHROME_PATH", "OTHER_DIR", "API_KEY"]
    env = {"ALLOWED": "ls,cat", "DB": "/home/me/a.db", "API_KEY": "abc", "MODE": "your-mode", "UNREAD": "1"}
    entry = {"mcpServers": {"notes": {"command": "notes", "env": env}}}
    shown = json.dumps(entry)[:-1] + ",\n}"
    (tmp_path / "README.md").write_text(
        " ".join(f"{name}=/path/to/it" for name in named) + f"\n```json\n{shown}\n```\n"
    )
    read = ["BANK_ROOT", "EXCEL_FILES_PATH", "CHROME_PATH", "ALLOWED", "DB", "API_KEY", "MODE"]
    (tmp_path / "index.ts").write_text("\n".join(f"process.env.{name}" for name in read))
    folders = {"BANK_ROOT": "bank_root", "EXCEL_FILES_PATH": "excel_files_path"}
    assert environment(tmp_path, ".", "notes") == {**folders, "ALLOWED": "ls,cat", "DB": "a.db"}


def test_servers_of_others_are_no_tools_of_the_repository(tmp_path: Path) -> None:
    others = {
        "mcpServers": {
            "docs": {"type": "http", "url": "https://docs.example"},
            "git": json.loads(servers("npx", "git-mcp")),
        }
    }
    (tmp_path / ".mcp.json").write_text(json.dumps(others))
    assert find_tools(tmp_path) == ()


@pytest.mark.parametrize(
    "files",
    [
        {
            "README.md": '```json\n"tally": {"command": "node", "args": ["C:\\\\x\\\\dist\\\\cli.js"]}\n```\n',
            "dist/cli.js": "",
        },
        {"package.json": '{"name": "@me/tally", "main": "dist/cli.js", "dependencies": {"fastmcp": "1"}}'},
    ],
    ids=["README, a part of a client's file", "main of a package"],
)
def test_a_server_that_nothing_installs_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    (found,) = find_tools(tmp_path)
    assert (found.binary, found.server, "/dist/cli.js" in found.build[-1]) == ("tally", True, True)
