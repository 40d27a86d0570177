"""A pull request that breaks the tool and hides it by a change of what judges: base judges, so none is green."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, FILES, NOTES, SCENARIO, SUITE, start

Make = Callable[..., Any]
Files = Mapping[str, str | None]
FORGETFUL = {"bin/notes": NOTES.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')}
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
def pr(make_repository: Make, tmp_path: Path) -> Callable[..., Any]:
    """A pull request with these files against those on main."""

    def run(base: dict[str, str], files: Files, link: tuple[str, str] | None = None) -> Any:
        repo: Repository = make_repository()
        repo.commit(base)
        repo.branch("pr", files)
        if link is not None:
            make_link(repo, *link)
        return start(tmp_path / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    return run


def make_link(repo: Repository, place: str, target: str) -> None:
    path: Path = repo.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rmdir()
    path.symlink_to(target)
    repo.commit({})


# What hides it → the files on main, and those of the pull request besides its broken tool.
HIDDEN: dict[str, tuple[dict[str, str], Files]] = {
    "the result as guidance": (FILES, {**suite("guidance: [AGENTS.md, notes.txt]\n"), "notes.txt": BOTH}),
    "an answer file by a glob": (
        {**FILES, "scenarios/keep.yaml": in_markdown(SCENARIO), "bin/notes": in_markdown(NOTES)},
        {**suite('guidance: ["**/*.md"]\n'), "n.md": BOTH, "bin/notes": in_markdown(FORGETFUL["bin/notes"])},
    ),
    "a gate's script as guidance": (
        {
            **SEEDED,
            "scenarios/keep.yaml": gate("script, command: sh check.sh"),
            "scenarios/state/check.sh": "notes list | grep second\n",
        },
        {**suite("guidance: [AGENTS.md, check.sh]\n"), "scenarios/state/check.sh": "exit 0\n", "check.sh": "exit 0\n"},
    ),
    "a guidance file that base's glob takes and a gate reads": (
        {
            **FILES,
            **suite('guidance: [AGENTS.md, "docs/**"]\n'),
            "scenarios/keep.yaml": gate("script, command: sh docs/x.sh", SCENARIO),
            "docs/x.sh": "notes list | grep second\n",
        },
        {"docs/x.sh": "exit 0\n"},
    ),
    "a Makefile among base's guidance": (
        {
            **FILES,
            **suite("guidance: [AGENTS.md, Makefile]\n"),
            "scenarios/keep.yaml": gate("command_succeeds, command: make -s test", SCENARIO),
            "Makefile": "test:\n\tnotes list | grep second\n",
        },
        {"Makefile": "test:\n\ttrue\n"},
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
    ),
    "a setup that has the state by an assembled name": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: ['n=notes; printf \"first\\nsecond\\n\" > $n.txt']}\n" + SCENARIO},
    ),
    "a setup less": (
        {**FILES, "scenarios/keep.yaml": "setup: {commands: [notes add zero]}\n" + SCENARIO},
        {"scenarios/keep.yaml": SCENARIO},
    ),
    "another template": (
        SEEDED,
        {"scenarios/keep.yaml": IN_TEMPLATE.replace("state", "done"), "scenarios/done/notes.txt": BOTH},
    ),
    "a template where there was none": (
        FILES,
        {"scenarios/keep/notes.txt": BOTH},
    ),
    "an initial state inside of the template": (
        SEEDED,
        {"scenarios/state/initial-state/notes.txt": BOTH},
    ),
    "a Makefile in the template": (
        {
            **SEEDED,
            "scenarios/keep.yaml": gate("command_succeeds, command: make -s test"),
            "scenarios/state/Makefile": "test:\n\tnotes list | grep second\n",
        },
        {"scenarios/state/Makefile": "test:\n\ttrue\n"},
    ),
    "a conftest.py that is new in the template": (
        SEEDED,
        {"scenarios/state/conftest.py": "collect_ignore_glob = ['*']\n", "scenarios/state/notes.txt": BOTH},
    ),
    "a program of the system in the path": (
        {**FILES, "scenarios/keep.yaml": gate("script, command: notes list | grep -q second", SCENARIO)},
        {"bin/grep": "#!/bin/sh\nexit 0\n"},
    ),
    "a program of the system that head's build makes": (
        {**FILES, "scenarios/keep.yaml": gate("script, command: notes list | grep -q second", SCENARIO)},
        suite("build: [\"printf '#!/bin/sh\\\\nexit 0\\\\n' > bin/grep; chmod +x bin/grep\"]\n"),
    ),
    "a build that writes into the template": (
        SEEDED,
        suite("build: [\"printf 'first\\\\nsecond\\\\n' > scenarios/state/notes.txt\"]\n"),
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
    ),
    "a shorter time for the agent": (
        {**FILES, "scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 100}\n"},
        {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 99}\n"},
    ),
    "a shorter time for a gate": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO.replace("pattern: second", "pattern: second, timeout_secs: 1")},
    ),
    "one scripted step that has the result": (
        {**FILES, **agent("type: scripted, steps: {keep_notes: [notes add first, notes add second]}")},
        agent("type: scripted, steps: {keep_notes: [\"printf 'first\\nsecond\\n' > notes.txt\"]}"),
    ),
    "another command of the agent": (
        {**FILES, **agent("type: command, deterministic: true, command: 'notes add first; notes add second'")},
        agent("type: command, deterministic: true, command: 'echo first > notes.txt; echo second >> notes.txt'"),
    ),
    "a diagnostic script that writes before evaluators look": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "scripts: {evaluators: [{name: x, command: 'echo second >> notes.txt'}]}\n"},
    ),
    "a gate that nothing can pass": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "    - {type: file_exists, path: nowhere}\n"},
    ),
    "no time": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 0.001}\n"},
    ),
    "an agent that does nothing": (
        FILES,
        {"tidegate.yaml": SUITE.replace("type: doc-follower", "type: scripted, steps: {}")},
    ),
    "a setup that base does not have": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: [ready]}\n" + SCENARIO, "bin/ready": "#!/bin/sh\n"},
    ),
    "a setup that does the task": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: [printf 'first\\nsecond\\n' > notes.txt]}\n" + SCENARIO},
    ),
    "a template that has the result": (
        {
            **FILES,
            "scenarios/state/readme": "",
            "scenarios/keep.yaml": SCENARIO.replace("target:", "template_folder: state\ntarget:"),
        },
        {"scenarios/state/notes.txt": "first\nsecond\n"},
    ),
    "a gate's script in the template": (
        {
            **FILES,
            "scenarios/state/check.sh": "notes list | grep second\n",
            "scenarios/keep.yaml": SCENARIO.replace("target:", "template_folder: state\ntarget:").replace(
                "command_output_matches, command: notes list, pattern: second", "script, command: sh check.sh"
            ),
        },
        {"scenarios/state/check.sh": "exit 0\n"},
    ),
    "a health check less": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO.replace(", health_check: notes --version", "")},
    ),
    "another id": (FILES, {"scenarios/keep.yaml": SCENARIO.replace("keep_notes", "kept")}),
    "a glob that misses it": (
        FILES,
        {"scenarios/other.yaml": SCENARIO.replace("keep_notes", "other"), "tidegate.yaml": SUITE.replace("/*", "/o*")},
    ),
    "an agent of another type": (
        FILES,
        {
            "tidegate.yaml": SUITE.replace(
                "type: doc-follower",
                "type: command, deterministic: true, command: \"printf 'first\\\\nsecond\\\\n' > notes.txt\"",
            )
        },
    ),
}


@pytest.mark.attempt("changes what judges", "failed: regressed", each_of="HIDDEN")
@pytest.mark.parametrize("name", HIDDEN)
def test_base_judges_whatever_head_changes(pr: Make, name: str) -> None:
    base, files = HIDDEN[name]
    ran = pr(base, {**FORGETFUL, **files})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.stderr + ran.comment


@pytest.mark.attempt("replaces the template by a link to a folder that has the result", "regression")
def test_a_template_that_a_link_replaces_is_base_s(pr: Make) -> None:
    files = {**FORGETFUL, "scenarios/state/readme": None, "done/notes.txt": BOTH}
    ran = pr(SEEDED, files, ("scenarios/state", "../done"))

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.comment


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


@pytest.mark.attempt(
    "commits the expected data in a guidance file that the tool itself writes",
    "passed",
    0,
    why="guidance and files in AgentV's prompts are each side's own: they can do the work in any number of ways",
)
def test_data_of_the_tool_in_a_guidance_file_is_part_of_the_outcome(pr: Make) -> None:
    """Not stopped: a file that trials of both sides write is their result, and it begins as head has it."""
    forgetful = IN_GUIDANCE.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
    ran = pr(OF_TOOL, {"CLAUDE.md": OF_TOOL["CLAUDE.md"] + "- first\n- second\n", "bin/notes": forgetful})

    assert (ran.code, ran.row("keep_notes")["state"]) == (0, "ok"), ran.comment


MADE = "{type: file_exists, path: CLAUDE.md}"
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
    "a moved template with guidance": (
        {**SEEDED, "AGENTS.md": "", "scenarios/state/AGENTS.md": AGENTS_MD},
        {
            "scenarios/keep.yaml": IN_TEMPLATE.replace("state", "begin"),
            "scenarios/state/readme": None,
            "scenarios/state/AGENTS.md": None,
            "scenarios/begin/readme": "x\n",
            "scenarios/begin/AGENTS.md": AGENTS_MD,
        },
    ),
    "a renamed scenario with its template": (
        {**SEEDED, "AGENTS.md": "", "scenarios/state/AGENTS.md": AGENTS_MD},
        {
            "scenarios/keep.yaml": None,
            "scenarios/kept.yaml": IN_TEMPLATE.replace("state", "begin").replace("keep_notes", "kept_notes"),
            "scenarios/state/readme": None,
            "scenarios/state/AGENTS.md": None,
            "scenarios/begin/readme": "x\n",
            "scenarios/begin/AGENTS.md": AGENTS_MD,
        },
    ),
    "guidance in the template": (
        {**SEEDED, "scenarios/state/CLAUDE.md": "x\n"},
        {"scenarios/state/CLAUDE.md": "y\n"},
    ),
    "guidance": (FILES, {"AGENTS.md": AGENTS_MD + "\nThat is all.\n"}),
    **{
        f"guidance, where {what}": (
            {**FILES, "scenarios/keep.yaml": f"{SCENARIO}    - {{type: command_succeeds, command: '{gate}'}}\n{more}"},
            {"AGENTS.md": AGENTS_MD + "\nThat is all.\n", "CLAUDE.md": "x\n"},
        )
        for what, gate, more in (
            ("a gate asks git for changes", "git diff --quiet HEAD && ! git ls-files --others | grep -v notes.txt", ""),
            ("a gate lists new files by their times", '! find . -newermt 2001-01-01 -name "*.md" | grep .', ""),
            ("the setup changes it", "grep -q more AGENTS.md", "setup: {commands: ['echo more >> AGENTS.md']}\n"),
            ("the setup makes it", "grep -q made CLAUDE.md", "setup: {commands: ['echo made > CLAUDE.md']}\n"),
        )
    },
    "guidance that the tool makes again": (
        {
            **FILES,
            "bin/notes": NOTES.replace("list)", "make) echo one > CLAUDE.md ;;\n  list)"),
            "CLAUDE.md": "one\n",
            "AGENTS.md": "```console\n$ notes make\n$ git diff --quiet\n```\n",
            "scenarios/keep.yaml": f"{SCENARIO.partition('evaluation:')[0]}evaluation: {{gates: [{MADE}]}}\n",
        },
        {
            "bin/notes": NOTES.replace("list)", "make) echo two > CLAUDE.md ;;\n  list)"),
            "CLAUDE.md": "two\n",
            "GEMINI.md": "new\n",
        },
    ),
    "guidance that the tool writes": (OF_TOOL, {"CLAUDE.md": "# Notes\n\nSee AGENTS.md.\n\n- one\n"}),
    "another program in the path": (FILES, {"bin/notes-too": "#!/bin/sh\n"}),
    "a build on both sides that makes a program of the system": (
        {**FILES, **suite('build: ["cp bin/notes bin/python3"]\n')},
        {"bin/notes": NOTES + "# x\n"},
    ),
}


@pytest.mark.attempt("changes what is free to change", "passed", 0, each_of="FREE")
@pytest.mark.parametrize("name", FREE)
def test_what_people_change_is_green(pr: Make, name: str) -> None:
    base, files = FREE[name]
    ran = pr(base, files)

    assert ran.code == 0, ran.comment
    assert ran.result["verdict"]["state"] == "passed"
