"""Which files `tidegate init` writes, and how it tells of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tidegate.authoring.examples import Candidate, Plan
from tidegate.authoring.first_suite import _files, _filled, _observed
from tidegate.authoring.found import Call, Found
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import Tryout
from tidegate.cli.init import _rows, _scenarios
from tidegate.model.suite import Suite


def test_the_files_of_a_template_are_told_in_one_row() -> None:
    template = ["scenarios/add/a.yaml", "scenarios/add/b/c.md", "scenarios/list/d"]
    assert [*_rows(["tidegate.yaml", "scenarios/add.yaml", *template, ".github/workflows/a.yml"])] == [
        "wrote tidegate.yaml",
        "wrote scenarios/add.yaml",
        "wrote scenarios/add/, the workspace at the start (2 files)",
        "wrote scenarios/list/, the workspace at the start (1 file)",
        "wrote .github/workflows/a.yml",
    ]


@pytest.mark.parametrize(("text", "kept"), [("a\r\n", True), ("a\n", False)])
def test_git_does_not_change_line_ends_of_samples(text: str, kept: bool) -> None:
    tool, here = Tool("tally", (), ("bin",), "bin/tally"), cast("Any", SimpleNamespace(reach=False))
    written = _files(tool, [Candidate("add", "It adds.", ("tally add",), files={"a.txt": text})], here)
    assert (written.get(f"{tool.scenarios}/.gitattributes") == b"* -text\n") == kept


def test_if_all_takes_long_calls_options_and_refused_inputs_are_kept_in_turn() -> None:
    calls = [Call(line=f"t {number}", kind="call", seconds=1) for number in range(30)]
    calls += [Call(line=f"t --option{number} x", kind="option", seconds=1) for number in range(30)]
    plan = Plan(Candidate("main_use", "", ()), ())
    (filled,) = _filled([plan], {"main_use": Found(calls=tuple(calls))}, 12)
    assert len([line for line in filled.more if "--option" in line]) >= 6


def test_a_file_of_a_workspace_is_no_scenario() -> None:
    files = ["tidegate.yaml", "scenarios/help.yaml", "scenarios/use.yaml", "scenarios/use/sample.yaml"]
    assert _scenarios(files, "scenarios") == 2


def test_an_option_is_kept_where_it_changes_most() -> None:
    def found(line: str, news: int) -> Found:
        fillers = tuple(Call(line=f"t {line} {number}", kind="option", seconds=1) for number in range(40))
        call = Call(line=f"t --all {line}", kind="option", seconds=1, news=news, about=" --all")
        return Found(calls=(call, *fillers))

    plans = [Plan(Candidate(name, "", ()), ()) for name in ("examples", "main_use")]
    filled = _filled(plans, {"examples": found("word", 1), "main_use": found("file", 9)}, 20)
    assert [line for one in filled for line in one.more if "--all" in line] == ["t --all file"]


def test_what_is_proposed_was_seen_in_memory_and_on_the_disk_where_folders_have_another_order(tmp_path: Path) -> None:
    ran = list[tuple[int, bool]]()

    class Here:
        folder = tmp_path

        async def run(self, suite: Suite, trials: int, *, on_disk: bool = False) -> dict[str, Any]:
            ran.append((trials, on_disk))
            return {}

    assert asyncio.run(_observed(cast("Tryout", Here()), Tool(binary="count"), [])) == []
    assert ran == [(1, False), (1, True)]
