"""Which files of the commit head's build replaces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import make
from tidegate.run.replaced_files import replaced_since


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    for side in ("base", "head"):
        for name in ("bin/tool", "lib/a", "lib/b"):
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / name).write_text(side)
    return tmp_path / "base", tmp_path / "head"


def replaced(sides: tuple[Path, Path], *commands: str) -> tuple[str, ...]:
    """What these commands replace, each in the side that it names."""
    since = replaced_since(*sides, ["bin"], make.suite(make.scenario()))
    for command in commands:
        assert os.system(f"cd {sides[0].parent} && {command}") == 0
    return since()


@pytest.mark.parametrize(
    "command",
    [
        "printf base > head/lib/a",
        "printf base > head/lib/a; chmod +x head/lib/a",
        "printf base > head/old; ln -sf ../old head/lib/a",
        "printf x > head/lib/a; rm head/lib/a",
    ],
    ids=["as on base", "as on base, and runnable", "a link to base's", "removed"],
)
def test_what_is_undone_is_found(sides: tuple[Path, Path], command: str) -> None:
    assert replaced(sides, command) == ("lib/a",)


@pytest.mark.parametrize("where", ["base", "head"])
def test_so_is_the_text_that_a_link_led_to_on_base_or_leads_to_now(sides: tuple[Path, Path], where: str) -> None:
    base, head = sides
    (base / "real").write_text("base")
    linked, to = (base / "lib/a", "../real") if where == "base" else (head / "lib/a", "../new")
    linked.unlink()
    linked.symlink_to(to)
    (head / "new").write_text("head")
    command = "printf base > head/lib/a"  # through the link, if it is head's
    assert replaced(sides, command) == ("lib/a",)


def test_what_both_builds_make_is_a_product(sides: tuple[Path, Path]) -> None:
    assert replaced(sides, "echo 1 > base/bin/tool; rm base/lib/a", "echo 2 > head/bin/tool; rm head/lib/a") == ()


def test_a_program_that_only_head_makes_is_found(sides: tuple[Path, Path]) -> None:
    assert replaced(sides, "echo 2 > head/bin/tool; echo 2 > head/lib/a") == ("bin/tool",)


MOVED = "mkdir bad good; cp bin/tool bad; echo 2 > good/tool; ln -s bad cur"


@pytest.mark.parametrize(
    ("committed", "build"),
    [
        ("rm -r bin; ln -s bad bin", "ln -sfn good bin"),
        ("rm -r bin; ln -s cur bin", "ln -sfn good cur"),
        ("ln -sf ../cur/tool bin/tool", "ln -sfn good cur"),
    ],
    ids=["a link for the folder", "a link that this leads to", "a link on the way to the program"],
)
def test_a_program_that_only_head_leads_elsewhere_is_found(
    sides: tuple[Path, Path], committed: str, build: str
) -> None:
    assert os.system(f"cd {sides[1]} && {MOVED} && {committed}") == 0
    assert "bin/tool" in replaced(sides, f"cd head; {build}")


def test_a_link_that_both_builds_lead_elsewhere_is_a_product(sides: tuple[Path, Path]) -> None:
    for side in sides:
        assert os.system(f"cd {side} && {MOVED} && rm -r bin && ln -s cur bin") == 0
    assert replaced(sides, "ln -sfn good base/cur", "ln -sfn good head/cur") == ()


def test_a_file_below_a_folder_of_the_path_is_a_program(sides: tuple[Path, Path]) -> None:
    for side in sides:
        (side / "bin/sub").mkdir()
        (side / "bin/sub/part").write_text(side.name)
    assert replaced(sides, "echo 2 > head/bin/sub/part") == ("bin/sub/part",)


def test_a_new_file_may_be_made_runnable(sides: tuple[Path, Path]) -> None:
    (sides[1] / "bin/new").write_text("x")
    assert replaced(sides, "chmod +x head/bin/new") == ()


def test_a_link_that_leads_nowhere_is_undone_too_and_a_new_file_may_become_one(sides: tuple[Path, Path]) -> None:
    (sides[0] / "lib/a").unlink()
    (sides[0] / "lib/a").symlink_to("built")
    (sides[1] / "lib/new").write_text("x")
    assert replaced(sides, "ln -sf built head/lib/a; ln -sf nowhere head/lib/new") == ("lib/a",)


def test_a_deleted_program_may_be_built(sides: tuple[Path, Path]) -> None:
    (sides[1] / "bin/tool").unlink()
    assert replaced(sides, "printf base > head/bin/tool") == ()


def test_a_fifo_and_an_endless_file_are_not_read(sides: tuple[Path, Path]) -> None:
    assert replaced(sides, "rm head/bin/tool; mkfifo head/bin/tool; truncate -s 1T head/lib/a") == ("bin/tool",)


def test_guidance_that_head_s_build_alone_makes_or_changes_is_found(sides: tuple[Path, Path]) -> None:
    suite = make.suite(make.scenario(template="start"), guidance=("*.md", "skills/**"))
    for side in sides:
        for name in ("old.md", "stale.md", "start/stale.md"):
            (side / name).parent.mkdir(exist_ok=True)
            (side / name).write_text("x")
    made = replaced_since(*sides, [], suite)
    assert made() == ()
    for side in sides:
        (side / "both.md").write_text(side.name)
    for name in ("skills/one/SKILL.md", "stale.md", "start/stale.md"):
        (sides[1] / name).parent.mkdir(parents=True, exist_ok=True)
        (sides[1] / name).write_text("head")
    assert made() == ("skills/one/SKILL.md", "stale.md", "start/stale.md")


def test_guidance_that_is_a_link_counts_by_its_text(sides: tuple[Path, Path]) -> None:
    for side in sides:
        (side / "doc").write_text("x")
        (side / "AGENTS.md").symlink_to("doc")
    assert replaced(sides, "echo y > head/doc") == ("AGENTS.md",)


@pytest.mark.parametrize(
    ("more", "found"),
    [("", ("bin/same",)), ("chmod -x base/bin/same", ("bin/same",)), ("echo z > base/bin/same", ())],
    ids=["left alone on base", "of which base's build changes the rights", "also changed on base"],
)
def test_so_is_an_unchanged_program_that_only_head_makes(
    sides: tuple[Path, Path], more: str, found: tuple[str, ...]
) -> None:
    for side in sides:
        (side / "bin/same").write_text("x")
        (side / "bin/same").chmod(0o755)
        (side / "bin/data").write_text("x")
    assert replaced(sides, "echo y > head/bin/same; echo y > head/bin/data", more or "true") == found
