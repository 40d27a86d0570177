"""What the symbolic links of a commit lead to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.vcs.links import LinkedCheckout, led_to, with_link_targets

LINKS = {
    "bin/notes": "../lib/notes",
    "lib": "impl",
    "tools": "impl",
    "impl/other": "../data",
    "loop": "loop",
    "round/a": "b",
    "round/b": "a",
    "out": "../elsewhere",
    "near": "deep/er",
    "bin/behind": "../near/../words.txt",
    "home": ".",
    "root": "/etc/passwd",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A commit with links."""
    repo = Repository(tmp_path_factory.mktemp("links") / "repo")
    for name, target in LINKS.items():
        (repo.root / name).parent.mkdir(exist_ok=True)
        (repo.root / name).symlink_to(target)
    repo.commit({"impl/notes": "x", "data/words.txt": "y", "plain.txt": "z", "deep/er/x": "x"})
    return repo.root


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("plain.txt", ("plain.txt",)),
        ("not/there", ("not/there",)),
        ("x" * 1000, ("x" * 1000,)),
        ("bin/notes", ("bin/notes", "lib", "impl/notes")),
        ("tools/other/words.txt", ("tools/other/words.txt", "tools", "impl/other", "data/words.txt")),
        ("./bin//notes", ("./bin//notes", "bin/notes", "lib", "impl/notes")),
        ("bin/behind", ("bin/behind", "near", "deep/words.txt")),
        ("home/plain.txt", ("home/plain.txt", "home", "plain.txt")),
        ("home", ("home", ".")),
        ("/etc/passwd", ("/etc/passwd",)),
        ("out", ("out",)),
        ("root", ("root",)),
        ("loop", ("loop",)),
        ("round/a", ("round/a", "round/b")),
    ],
)
def test_each_place_on_the_way_is_found_and_none_outside_of_the_checkout(
    root: Path, path: str, places: tuple[str, ...]
) -> None:
    assert led_to(root, path) == places


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("plain.txt", set()),
        ("bin/**", {"bin/notes", "lib", "impl/notes", "bin/behind", "near", "deep/words.txt"}),
        ("tools/**", {"tools", "impl", "impl/other", "data"}),
        ("**", set()),
        ("**/*.txt", set()),
        ("impl/**/*.txt", {"impl/other", "data"}),
        ("./impl//other/words.txt", {"impl/other", "data"}),
        ("impl/[^b]ther/words.txt", {"impl/other", "data"}),
    ],
)
def test_globs_of_links_are_followed_and_links_in_the_place_of_folders_too(
    root: Path, pattern: str, more: set[str]
) -> None:
    found = set(with_link_targets([LinkedCheckout(root)], [pattern])) - {pattern}
    assert found == {one for path in more for one in (path, f"{path}/**")} - {pattern}


def test_a_link_to_the_root_leads_to_all_files(root: Path) -> None:
    assert with_link_targets([LinkedCheckout(root)], ["home"]) == ("home", "**", "home/**")


def test_each_link_may_lead_to_what_a_glob_finds_at_any_depth(root: Path) -> None:
    assert {"data/**", "impl/**"} <= {*with_link_targets([LinkedCheckout(root)], ["**/other/*.txt"])}


def test_a_link_is_followed_whatever_bytes_its_name_has(tmp_path: Path) -> None:
    repo, name = Repository(tmp_path / "repo"), os.fsdecode(b"l\xff")
    (repo.root / "bin").mkdir()
    (repo.root / "bin" / name).symlink_to("../lib")
    repo.commit({"lib/x": "x"})
    assert "lib/**" in with_link_targets([LinkedCheckout(repo.root)], ["bin/**"])
