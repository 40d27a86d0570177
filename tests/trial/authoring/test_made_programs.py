"""A program that the build has made in place of the expected one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import made


def test_the_program_that_readme_names_most_is_the_tool(make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit({"README.md": "Run `tally add`, or tally list. There is tally-check, too.\n", "Makefile": "all: lib\n"})
    (repo.root / "out").mkdir()
    for name in ("tally", "tally-check", "other"):
        shutil.copy("/bin/true", repo.root / "out" / name)
    (repo.root / "tally.sh").write_text("#!/bin/sh\n")
    (repo.root / "tally.sh").chmod(0o755)

    found = made(Tool("lib", ("make",), (".",)), repo.root)

    assert found is not None
    assert (found.binary, found.path, found.build) == ("tally", ("out",), ("make",))


def test_a_build_that_made_no_program_has_none(make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit({"README.md": "Run `tally`.\n"})
    shutil.copy("/bin/true", repo.root / "unnamed")

    assert made(Tool("lib", ("make",), (".",)), repo.root) is None
