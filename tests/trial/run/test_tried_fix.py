"""The lines of docs that still name what is gone, and the patch of their edit, in a real checkout."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Repository
from tests.make import scenario, suite
from tidegate.model.cause import Cause, Place
from tidegate.run.tried_fix import edited, with_docs
from tidegate.vcs.git import git
from tidegate.vcs.revisions import resolve

GUIDE = "# Notes\n$ notes add --tag a\n$ notes list\n\nSee README.md.\n"


@pytest.mark.parametrize(
    "guide",
    [
        pytest.param(GUIDE.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(GUIDE.replace("$ notes list\n", "$ notes list\n\n"), id="the last line of the patch is blank"),
    ],
)
def test_the_patch_applies_to_the_same_file(make_repository: Callable[..., Repository], guide: str) -> None:
    repo = make_repository()
    file = repo.root / "AGENTS.md"
    file.write_bytes(guide.encode())
    repo.commit({})
    place = Place(side="head", path="AGENTS.md", line=2, text="$ notes add --tag a")
    cause = Cause(kind="option", rows=(), names=("--tag",), new=("--label",), still_named=(place,))
    patch = edited(repo.root, [cause])
    assert file.read_bytes() == guide.replace("--tag", "--label").encode()
    git(repo.root, "checkout", "--", ".")
    applied = git(repo.root, "apply", "-", given=patch)
    assert (applied.returncode, applied.stderr) == (0, "")
    assert file.read_bytes() == guide.replace("--tag", "--label").encode()


@pytest.mark.parametrize(("tool", "lines"), [("find_tasks", [1, 3]), ("find", [])])
def test_a_tool_that_is_gone_is_named_wherever_it_cannot_be_prose(
    make_repository: Callable[..., Repository], tool: str, lines: list[int]
) -> None:
    repo = make_repository()
    repo.commit({"README.md": f"Call `{tool}`.\n\nThen {tool} what is left.\n"})
    cause = Cause(kind="tool", rows=(), about=("tasks",), names=(tool,))
    (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(scenario()), [cause])
    assert [place.line for place in found.still_named] == lines
