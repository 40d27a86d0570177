"""Files of a first suite that git would leave out of the commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Repository
from tidegate.cli.init import kept_by_git

SUITE = {"tidegate.yaml": b"", "tests/scenarios/tools.yaml": b"", "tests/scenarios/tools/data/sample.csv": b"a\n"}


@pytest.mark.parametrize(("ignored", "more"), [("*.csv\n", ["tests/scenarios/.gitignore"]), ("*.log\n", [])])
def test_a_suite_in_a_repository_that_ignores_some_of_its_files_is_committed_whole(
    make_repository: Callable[..., Repository], ignored: str, more: list[str]
) -> None:
    repository = make_repository("r")
    repository.commit({".gitignore": ignored})
    files = kept_by_git(repository.root, "tests/scenarios", SUITE)
    assert sorted(files) == sorted([*SUITE, *more])
    for name, content in files.items():
        (repository.root / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.root / name).write_bytes(content)
    repository.git("add", "tidegate.yaml", "tests/scenarios")
    assert "tests/scenarios/tools/data/sample.csv" in repository.git("ls-files")


def test_no_exception_is_written_into_a_folder_that_git_ignores_whole(
    make_repository: Callable[..., Repository],
) -> None:
    repository = make_repository("r")
    repository.commit({".gitignore": "scenarios/\n"})
    assert sorted(kept_by_git(repository.root, "tests/scenarios", SUITE)) == sorted(SUITE)
