"""A project of llm-tool-test: its layout, its files and its variables work as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tidegate.authoring.import_config import CONFIG

Make = Callable[..., Any]
# Keeps notes below $NOTES_STORE, where the scenario's target wants them.
NOTES = """\
#!/bin/sh
[ -n "$NOTES_STORE" ] || { echo "notes: NOTES_STORE is not set" >&2; exit 2; }
case "$1" in
  add) shift; mkdir -p "$NOTES_STORE"; echo "$1" >> "$NOTES_STORE/notes.txt" ;;
  list) cat "$NOTES_STORE/notes.txt" ;;
  *) echo "notes: unknown command: $1" >&2; exit 2 ;;
esac
"""
SCENARIO = """\
name: capture_basic
description: "Basic note capture"
template_folder: notes
tier: 1
tags: [capture, smoke]
target:
  binary: notes
  env:
    NOTES_STORE: "${LLM_TOOL_TEST_FIXTURE_DIR}/.notes"
task:
  prompt: "In the current directory, keep a note as AGENTS.md says. Then verify it."
evaluation:
  gates:
    - {type: command_output_contains, command: notes list, substring: first}
    - {type: file_contains, path: .notes/notes.txt, substring: first}
"""
GOOD = "# Notes\n\n```console\n$ notes add first\n```\n"
FILES = {
    "tidegate.yaml": "version: 1\nscenarios: [llm-test-fixtures/*.yaml]\npath: [bin]\n",
    "bin/notes": NOTES,
    "llm-test-fixtures/capture_basic.yaml": SCENARIO,
    "llm-test-fixtures/templates/notes/AGENTS.md": GOOD,
}


def test_the_fixtures_folder_is_known_to_the_target(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)

    ran = tidegate("run", "--trials", "1", "--json", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    (trial,) = json.loads(ran.stdout)["trials"]
    assert [gate["passed"] for gate in trial["gates"]] == [True, True]


@pytest.mark.parametrize(("worse", "texts"), [("B", ("good.md", "bad.md")), ("A", ("bad.md", "good.md"))])
def test_guidance_in_the_fixture_is_what_is_compared(
    make_repository: Make, tidegate: Make, worse: str, texts: tuple[str, str]
) -> None:
    """The workspace has the template's AGENTS.md; one at the root would never be read."""
    repo = make_repository()
    repo.commit(FILES)
    repo.write({"good.md": GOOD, "bad.md": GOOD.replace("add", "keep")})

    ran = tidegate("guidance", *texts, cwd=repo.root)

    assert ran.code == 0, ran.stderr
    assert f"{worse} is worse" in next(line for line in ran.stdout.splitlines() if line.startswith("capture_basic"))


def test_a_name_that_no_workspace_has_is_refused(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.write({"good.md": GOOD, "bad.md": GOOD.replace("add", "keep")})

    ran = tidegate("guidance", "good.md", "bad.md", "--as", "docs/how-to.md", cwd=repo.root)

    assert ran.code == 2
    assert "no scenario's agent reads `docs/how-to.md`" in ran.stderr


def test_init_starts_from_the_configuration(make_repository: Make, tidegate: Make) -> None:
    config = '[target]\nbinary = "notes"\n[tools.claude-code]\nmodels = ["claude-haiku"]\n'
    repo = make_repository()
    repo.commit({name: text for name, text in FILES.items() if name != "tidegate.yaml"} | {CONFIG: config})

    done = tidegate("init", "--no-try", cwd=repo.root)

    assert done.code == 0, done.stderr
    suite = yaml.safe_load((repo.root / "tidegate.yaml").read_text())
    assert suite["agents"] == {"claude-code": {"type": "claude-code", "models": ["claude-haiku"]}}
    assert (suite["target"], suite["path"]) == ({"binary": "notes"}, ["bin"])
