"""The patch of an edit of docs, in a real checkout."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Repository
from tidegate.model.cause import Cause, Place
from tidegate.run.tried_fix import edited
from tidegate.vcs.git import git

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
