"""Where this Tidegate was installed from: what `tidegate init` writes into workflows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.authoring.callers import ActionSource, place_of_origin, place_of_release, workflow

COMMIT = "4" * 40


def test_an_installation_by_pip_from_github_names_its_commit() -> None:
    vcs = {"vcs": "git", "commit_id": COMMIT}

    for url in (
        "https://github.com/acme/tidegate.git",
        "https://token@github.com/acme/tidegate",
        "ssh://git@github.com/acme/tidegate.git",
    ):
        assert place_of_origin({"url": url, "vcs_info": vcs}) == ActionSource("acme/tidegate", COMMIT)
    assert not place_of_origin({"url": "https://git.example.org/acme/tidegate", "vcs_info": vcs}).is_known
    assert not place_of_origin({"url": "https://example.org/tidegate-1.2.3.tar.gz", "archive_info": {}}).is_known


def test_a_clone_of_github_counts_once_its_commit_is_pushed(make_repository: Callable[..., Repository]) -> None:
    """As docs/start.md installs it: `git clone`, then `pipx install ./tidegate`."""
    repo = make_repository("clone of ours")
    repo.commit({"a": "1\n"})
    origin = {"url": repo.root.as_uri(), "dir_info": {}}
    assert not place_of_origin(origin).is_known

    repo.git("remote", "add", "origin", "git@github.com:acme/tidegate.git")
    assert not place_of_origin(origin).is_known

    head = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "refs/remotes/origin/main", head)
    assert place_of_origin(origin) == ActionSource("acme/tidegate", head)


def test_a_release_is_named_by_the_commit_of_its_tag(
    make_repository: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repository("tidegate")
    repo.commit({"a": "1\n"})
    head = repo.git("rev-parse", "HEAD")
    repo.git("tag", "v1.2.3")
    repo.git("tag", "--annotate", "--message", "x", "v1.2.4")
    _stand_in_for_github(repo.root, monkeypatch)

    assert [place_of_release("acme/tidegate", version) for version in ("1.2.3", "1.2.4", "9.9.9")] == [
        ActionSource("acme/tidegate", head, "1.2.3"),
        ActionSource("acme/tidegate", head, "1.2.4"),
        ActionSource("acme/tidegate", "v9.9.9"),
    ]
    line = "acme/tidegate/.github/workflows/reusable-publish.yml"
    assert (
        f"uses: {line}@{head} # v1.2.3\n"
        in workflow("publish", ActionSource("acme/tidegate", head, "1.2.3"), "main").text
    )
    assert f"uses: {line}@v9.9.9\n" in workflow("publish", ActionSource("acme/tidegate", "v9.9.9"), "main").text


def _stand_in_for_github(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have git find our repository under the address of GitHub's."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{root.as_uri()}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/acme/tidegate")
