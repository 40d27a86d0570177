"""How a server is started: the script that replaces a link to a program of node, and files that arguments name."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tidegate.authoring.server_folders import unlinked, with_own_folders
from tidegate.authoring.server_suite import start_files
from tidegate.authoring.server_values import HERE
from tidegate.authoring.tool import Tool as Server
from tidegate.model.target import McpServer


def test_a_link_to_a_program_of_node_is_replaced_by_a_script_that_names_its_path(tmp_path: Path) -> None:
    program, link = tmp_path / "dist/index.js", tmp_path / "bin/tally"
    for path in (program, link):
        path.parent.mkdir()
    program.write_text("console.log(process.argv[1], process.argv[2]);\n", encoding="utf-8")
    link.symlink_to("../dist/index.js")
    command = unlinked(Server("tally", (), ("bin",), "package.json"), tmp_path)
    assert command
    subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, check=True)
    assert subprocess.run([link, "a b"], check=True, capture_output=True, text=True).stdout == f"{program} a b\n"
    assert unlinked(Server("tally", (), ("bin",), "package.json"), tmp_path) is None


def test_files_of_the_repository_that_a_start_names_are_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.db").write_bytes(b"\0x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    start = McpServer(command="shelf data/a.db --log none.txt data ../out link /etc/passwd")
    assert start_files(tmp_path, start) == {"data/a.db": b"\0x"}


def test_folders_that_the_code_names_and_the_checkout_lacks_are_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    server = with_own_folders(tmp_path, ".", Server("notes"), 'join(root, "logs"); join(root, "data")')
    assert server.setup == ("mkdir -p logs",)
    assert (tmp_path / "logs").readlink() == Path(HERE, "logs")
