"""The script that replaces a link to a program of node."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tidegate.authoring.server_suite import unlinked
from tidegate.authoring.tool import Tool as Server


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
