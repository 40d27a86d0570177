"""A pull request that breaks the tool and hides it by a change of the definitions: none of these is green."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.e2e.conftest import AGENTS_MD, FILES, NOTES, SCENARIO, SUITE
from tests.e2e.test_definitions_of_base import FORGETFUL, said

Make = Callable[..., Any]
Files = Mapping[str, str | None]
BOTH = "first\nsecond\n"
IN_TEMPLATE = SCENARIO.replace("target:", "template_folder: state\ntarget:")
BY_SCRIPT = "command_output_matches, command: notes list, pattern: second"
SEEDED = {**FILES, "scenarios/keep.yaml": IN_TEMPLATE, "scenarios/state/readme": "x\n"}


def gate(text: str, base: str = IN_TEMPLATE) -> str:
    """The scenario with another second gate."""
    return base.replace(BY_SCRIPT, text)


def in_markdown(text: str) -> str:
    return text.replace("notes.txt", "n.md")


def agent(text: str) -> dict[str, str]:
    """A suite with this agent."""
    return {"tidegate.yaml": SUITE.replace("{type: doc-follower}", f"{{{text}}}")}


def suite(more: str) -> dict[str, str]:
    return {"tidegate.yaml": SUITE + more}


@pytest.fixture
def pr(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """A pull request with these files against those on main."""

    def run(base: dict[str, str], files: Files, link: tuple[str, str] | None = None) -> Any:
        repo: Repository = make_repository()
        repo.commit(base)
        repo.branch("pr", files)
        if link is not None:
            make_link(repo, *link)
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    return run


def make_link(repo: Repository, place: str, target: str) -> None:
    path: Path = repo.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rmdir()
    path.symlink_to(target)
    repo.commit({})


# What hides it → the files on main, the pull request's, and how the weakened check is named (None: it is a regression).
HIDDEN: dict[str, tuple[dict[str, str], Files, str | None]] = {
    "the result as guidance": (FILES, {**suite("guidance: [AGENTS.md, notes.txt]\n"), "notes.txt": BOTH}, None),
    "an answer file by a glob": (
        {**FILES, "scenarios/keep.yaml": in_markdown(SCENARIO), "bin/notes": in_markdown(NOTES)},
        {**suite('guidance: ["**/*.md"]\n'), "n.md": BOTH, "bin/notes": in_markdown(FORGETFUL["bin/notes"])},
        None,
    ),
    "a gate's script as guidance": (
        {
            **SEEDED,
            "scenarios/keep.yaml": gate("script, command: sh check.sh"),
            "scenarios/state/check.sh": "notes list | grep second\n",
        },
        {**suite("guidance: [AGENTS.md, check.sh]\n"), "scenarios/state/check.sh": "exit 0\n", "check.sh": "exit 0\n"},
        "files of its template: scenarios/state/check.sh",
    ),
    "a guidance file that base's glob takes and a gate reads": (
        {
            **FILES,
            **suite('guidance: [AGENTS.md, "docs/**"]\n'),
            "scenarios/keep.yaml": gate("script, command: sh docs/x.sh", SCENARIO),
            "docs/x.sh": "notes list | grep second\n",
        },
        {"docs/x.sh": "exit 0\n"},
        "guidance files that its checks may read: docs/x.sh",
    ),
    "a Makefile among base's guidance": (
        {
            **FILES,
            **suite("guidance: [AGENTS.md, Makefile]\n"),
            "scenarios/keep.yaml": gate("command_succeeds, command: make -s test", SCENARIO),
            "Makefile": "test:\n\tnotes list | grep second\n",
        },
        {"Makefile": "test:\n\ttrue\n"},
        "guidance files that its checks may read: Makefile",
    ),
    "a variable for the tool": (
        {**FILES, "bin/notes": NOTES},
        {
            "bin/notes": FORGETFUL["bin/notes"].replace('"$1" = second ]', '"$1$KIND" = second ]'),
            "scenarios/keep.yaml": SCENARIO.replace("--version}", "--version, env: {KIND: x}}"),
        },
        "target",
    ),
    "sitecustomize by PYTHONPATH": (
        {
            **FILES,
            "scenarios/keep.yaml": gate(
                'script, command: "python3 -c \'assert \\"second\\" in open(\\"notes.txt\\").read()\'"', SCENARIO
            ),
        },
        {
            "scenarios/keep.yaml": gate(
                'script, command: "python3 -c \'assert \\"second\\" in open(\\"notes.txt\\").read()\'"', SCENARIO
            ).replace("--version}", "--version, env: {PYTHONPATH: .claude/skills/x}}"),
            ".claude/skills/x/sitecustomize.py": "open('notes.txt', 'a').write('second')\n",
        },
        "target",
    ),
    "a setup that has the state by an assembled name": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: ['n=notes; printf \"first\\nsecond\\n\" > $n.txt']}\n" + SCENARIO},
        "setup",
    ),
    "a setup less": (
        {**FILES, "scenarios/keep.yaml": "setup: {commands: [notes add zero]}\n" + SCENARIO},
        {"scenarios/keep.yaml": SCENARIO},
        "setup",
    ),
    "another template": (
        SEEDED,
        {"scenarios/keep.yaml": IN_TEMPLATE.replace("state", "done"), "scenarios/done/notes.txt": BOTH},
        "files of its template: scenarios/done/notes.txt, scenarios/state/readme",
    ),
    "a template where there was none": (
        FILES,
        {"scenarios/keep/notes.txt": BOTH},
        "files of its template: scenarios/keep/notes.txt",
    ),
    "an initial state inside of the template": (
        SEEDED,
        {"scenarios/state/initial-state/notes.txt": BOTH},
        "files of its template: ",
    ),
    "a Makefile in the template": (
        {
            **SEEDED,
            "scenarios/keep.yaml": gate("command_succeeds, command: make -s test"),
            "scenarios/state/Makefile": "test:\n\tnotes list | grep second\n",
        },
        {"scenarios/state/Makefile": "test:\n\ttrue\n"},
        "files of its template: scenarios/state/Makefile",
    ),
    "a conftest.py that is new in the template": (
        SEEDED,
        {"scenarios/state/conftest.py": "collect_ignore_glob = ['*']\n", "scenarios/state/notes.txt": BOTH},
        "files of its template: scenarios/state/conftest.py, scenarios/state/notes.txt",
    ),
    "a program of the system in the path": (
        {**FILES, "scenarios/keep.yaml": gate("script, command: notes list | grep -q second", SCENARIO)},
        {"bin/grep": "#!/bin/sh\nexit 0\n"},
        "programs of the system that its `path` has in front now: grep",
    ),
    "a program of the system that head's build makes": (
        {**FILES, "scenarios/keep.yaml": gate("script, command: notes list | grep -q second", SCENARIO)},
        suite("build: [\"printf '#!/bin/sh\\\\nexit 0\\\\n' > bin/grep; chmod +x bin/grep\"]\n"),
        "programs of the system that its `path` has in front now: grep",
    ),
    "a build that writes into the template": (
        SEEDED,
        suite("build: [\"printf 'first\\\\nsecond\\\\n' > scenarios/state/notes.txt\"]\n"),
        "files that a build has made in its template: scenarios/state/notes.txt",
    ),
    "a build that edits an evaluator's script": (
        {
            **FILES,
            "scenarios/keep.yaml": SCENARIO.partition("evaluation:")[0]
            + "evaluation: {evaluators: [{type: code_judge, name: two, script: python3 judge.py}]}\n",
            "scenarios/judge.py": "import json, os, pathlib\n"
            "n = pathlib.Path(os.environ['TIDEGATE_FIXTURE_DIR'], 'notes.txt').read_text().count('\\n')\n"
            "print(json.dumps({'score': n / 2}))\n",
        },
        suite("build: ['echo \"import json; print(json.dumps(dict(score=1)))\" > scenarios/judge.py']\n"),
        "files that a build has made of its evaluators: scenarios/judge.py",
    ),
    "a shorter time for the agent": (
        {**FILES, "scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 100}\n"},
        {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 99}\n"},
        "timeout_secs",
    ),
    "a shorter time for a gate": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO.replace("pattern: second", "pattern: second, timeout_secs: 1")},
        "command_output_matches: notes list must print a match of second: timeout_secs",
    ),
    "one scripted step that has the result": (
        {**FILES, **agent("type: scripted, steps: {keep_notes: [notes add first, notes add second]}")},
        agent("type: scripted, steps: {keep_notes: [\"printf 'first\\nsecond\\n' > notes.txt\"]}"),
        "agent docs: steps",
    ),
    "another command of the agent": (
        {**FILES, **agent("type: command, deterministic: true, command: 'notes add first; notes add second'")},
        agent("type: command, deterministic: true, command: 'echo first > notes.txt; echo second >> notes.txt'"),
        "agent docs: command",
    ),
    "a diagnostic script that writes before evaluators look": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "scripts: {evaluators: [{name: x, command: 'echo second >> notes.txt'}]}\n"},
        "evaluator_scripts",
    ),
}


@pytest.mark.attempt("changes the definitions", "failed: a check is weakened, or it regressed", each_of="HIDDEN")
@pytest.mark.parametrize("name", HIDDEN)
def test_it_is_not_green(pr: Make, name: str) -> None:
    base, files, why = HIDDEN[name]
    ran = pr(base, {**FORGETFUL, **files})

    assert ran.code == 1, ran.stderr + ran.comment
    if why is None:
        assert ran.row("keep_notes")["state"] == "regressed"
    else:
        assert any(detail.startswith(why) for detail in said(ran)), said(ran)


@pytest.mark.attempt("replaces the template by a link to a folder that has the result", "weakened")
def test_a_template_that_a_link_replaces_is_changed(pr: Make) -> None:
    ran = pr(
        SEEDED, {**FORGETFUL, "scenarios/state/readme": None, "done/notes.txt": BOTH}, ("scenarios/state", "../done")
    )

    assert ran.code == 1, ran.stderr
    assert said(ran) == ["files of its template: scenarios/state/notes.txt, scenarios/state/readme"]


def test_the_folder_that_a_template_s_link_leads_to_is_its_template(make_repository: Make, tidegate: Make) -> None:
    repo: Repository = make_repository()
    repo.commit({**FILES, "scenarios/keep.yaml": IN_TEMPLATE, "seed/readme": "x\n"})
    make_link(repo, "scenarios/state", "../seed")
    repo.branch("pr", {**FORGETFUL, "seed/notes.txt": BOTH})

    ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    assert (ran.code, said(ran)) == (1, ["files of its template: scenarios/state/notes.txt"])


def test_a_file_of_the_template_that_can_be_run_now_is_changed(make_repository: Make, tidegate: Make) -> None:
    repo: Repository = make_repository()
    repo.commit(SEEDED)
    repo.branch("pr", {})
    os.chmod(repo.root / "scenarios/state/readme", 0o755)  # noqa: PTH101
    repo.commit({})

    ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    assert (ran.code, said(ran)) == (1, ["files of its template: scenarios/state/readme"])


# The tool keeps its notes in a guidance file.
LISTING = "  list) [ -f notes.txt ] && cat notes.txt; exit 0 ;;"
IN_GUIDANCE = NOTES.replace(LISTING, "  list) sed -n 's/^- //p' CLAUDE.md ;;").replace(
    'echo "$1" >> notes.txt', 'echo "- $1" >> CLAUDE.md'
)
OF_TOOL = {
    **FILES,
    "bin/notes": IN_GUIDANCE,
    "scenarios/keep.yaml": SCENARIO.replace("file_contains, path: notes.txt, substring: first", BY_SCRIPT),
    "CLAUDE.md": "# Notes of the tool\n",
}


@pytest.mark.attempt("commits the expected data in a guidance file that the tool itself writes", "regression")
def test_data_of_the_tool_in_a_guidance_file_is_base_s(pr: Make) -> None:
    forgetful = IN_GUIDANCE.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
    ran = pr(OF_TOOL, {"CLAUDE.md": OF_TOOL["CLAUDE.md"] + "- first\n- second\n", "bin/notes": forgetful})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.comment


FREE: dict[str, tuple[dict[str, str], Files]] = {
    "prompt": (FILES, {"scenarios/keep.yaml": SCENARIO.replace("Add two notes", "Please add two notes")}),
    "description": (FILES, {"scenarios/keep.yaml": SCENARIO.replace("are kept", "are kept there")}),
    "source": (FILES, {"scenarios/keep.yaml": SCENARIO + "source: https://example.org/1\n"}),
    "tags": (FILES, {"scenarios/keep.yaml": SCENARIO + "tags: [quick]\n"}),
    "more time": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO.replace("pattern: second", "pattern: second, timeout_secs: 60")},
    ),
    "a new gate": (FILES, {"scenarios/keep.yaml": SCENARIO + "    - {type: file_exists, path: notes.txt}\n"}),
    "a new scenario": (FILES, {"scenarios/other.yaml": SCENARIO.replace("keep_notes", "other")}),
    "more guidance": (FILES, {**suite('guidance: [AGENTS.md, "docs/**"]\n'), "docs/more.md": "x\n"}),
    "a moved template": (
        SEEDED,
        {
            "scenarios/keep.yaml": IN_TEMPLATE.replace("state", "begin"),
            "scenarios/state/readme": None,
            "scenarios/begin/readme": "x\n",
        },
    ),
    "guidance in the template": (
        {**SEEDED, "scenarios/state/CLAUDE.md": "x\n"},
        {"scenarios/state/CLAUDE.md": "y\n"},
    ),
    "guidance": (FILES, {"AGENTS.md": AGENTS_MD + "\nThat is all.\n"}),
    "guidance that the tool writes": (OF_TOOL, {"CLAUDE.md": "# Notes\n\nSee AGENTS.md.\n\n- one\n"}),
    "another program in the path": (FILES, {"bin/notes-too": "#!/bin/sh\n"}),
    "a build on both sides that makes a program of the system": (
        {**FILES, **suite('build: ["cp bin/notes bin/python3"]\n')},
        {"bin/notes": NOTES + "# x\n"},
    ),
}


@pytest.mark.attempt("changes what is free to change", "passed", 0, each_of="FREE")
@pytest.mark.parametrize("name", FREE)
def test_what_people_change_is_listed_and_green(pr: Make, name: str) -> None:
    base, files = FREE[name]
    ran = pr(base, files)

    assert (ran.code, said(ran)) == (0, []), ran.comment
    assert ran.result["verdict"]["state"] == "passed"


def test_a_changed_prompt_is_listed(pr: Make) -> None:
    ran = pr(*FREE["prompt"])

    assert [change["detail"] for change in ran.result["definitions"]] == ["prompt"]


def test_the_guidance_of_the_pull_request_takes_effect_after_the_merge(pr: Make) -> None:
    ran = pr(*FREE["more guidance"])

    (change,) = ran.result["definitions"]
    assert change["detail"].startswith("guidance: [AGENTS.md, CLAUDE.md, ")
    assert change["detail"].endswith("(takes effect after the merge)")
