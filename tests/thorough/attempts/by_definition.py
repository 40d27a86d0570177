"""Attempts that change what is tested, or how."""

from __future__ import annotations

from tests.journeys.conftest import AGENTS_MD, NOTES, SCENARIO, SUITE
from tests.thorough.attempts.attempt import FILES, FORGETFUL, Attempt, Link, agent, graded, keep, suite

AS_TOLD = "task: Add two notes as AGENTS.md says."
WRITES = r"printf 'first\nsecond\n' > notes.txt"
SECOND = "notes list | grep -q second"

WRITING_GATE = "    - {type: command_succeeds, required: false, command: echo second >> notes.txt}\n"
STATED = NOTES.replace('echo "$1" >> notes.txt', r"""echo "$1" >> notes.txt; echo "{\"last\": \"$1\"}" > state.json""")
STATE_EXPECTED = """\
  evaluators:
    - {type: expected_state, file: state.json, expected: {last: second}, required: true}
"""
WRITE_STATE = """'echo "{\\"last\\": \\"second\\"}" > %sstate.json'"""
STATING_GATE = f"""\
    - {{type: command_succeeds, required: false, command: {WRITE_STATE % ""}}}
    - {{type: command_succeeds, required: false, command: echo second >> notes.txt}}
"""
STATING_EVALUATOR = f"""\
    - {{type: code_judge, name: first, weight: 0, script: {WRITE_STATE % "$TIDEGATE_FIXTURE_DIR/"}}}
"""


TOLD = NOTES.replace("case", '[ "$MODE" = lose ] && [ "$2" = second ] && exit 0\ncase', 1)


def started(mode: str) -> dict[str, str]:
    return suite(f"target: {{binary: notes, env: {{MODE: {mode}}}}}\n")


def evaluated(script: str) -> dict[str, str]:
    head, _, _ = SCENARIO.partition("evaluation:")
    return {
        "scenarios/keep.yaml": f"{head}evaluation:\n  evaluators: [{{type: code_judge, name: two, script: {script}}}]\n"
    }


def task(*commands: str) -> str:
    return "task: |\n  ```sh\n" + "".join(f"  {command}\n" for command in commands) + "  ```"


READS = """\
import json, os, pathlib
wanted = pathlib.Path("..", "data", "wanted.txt").read_text().split()
kept = pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text().split()
print(json.dumps({"score": sum(line in kept for line in wanted) / len(wanted)}))
"""
TWO = READS.replace('pathlib.Path("..", "data", "wanted.txt").read_text()', '"first second"')
COUNTED = """\
if grep -q second "$TIDEGATE_FIXTURE_DIR/notes.txt"; then echo '{"score": 1}'; else echo '{"score": 0}'; fi
"""
COUNTS = """\
import json, os, pathlib
wanted = [line for name in pathlib.Path("wanted").iterdir() for line in name.read_text().split()]
kept = pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text().split()
print(json.dumps({"score": sum(line in kept for line in wanted) / len(wanted)}))
"""
FROM_LIBRARY = """\
import json, os, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "library"))
from scoring import score
print(json.dumps({"score": score(pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text())}))
"""

WITH_COPY = {**suite(old="path: [bin]", new="path: [bin, vendor/bin]"), "vendor/bin/notes": NOTES + "# older\n"}

BOTH_NOTES = "notes add first; notes add second"
ASSERTED = {
    **graded("type: script, command: python3 check.py"),
    "scenarios/keep/check.py": "assert 'second' in open('notes.txt').read()\n",
}
MADE = {
    **graded("type: command_succeeds, command: make -s test"),
    "scenarios/keep/Makefile": "test:\n\t@grep -q second notes.txt\n",
}
SHELL = {**graded("type: script, command: bash check.sh"), "scenarios/keep/check.sh": "grep -q second notes.txt\n"}
PERL = {
    **graded("type: script, command: perl check.pl"),
    "scenarios/keep/check.pl": "open(F, 'notes.txt'); local $/; exit(<F> =~ /second/ ? 0 : 1);\n",
}
EVALUATED = {
    "scenarios/keep.yaml": SCENARIO.partition("evaluation:")[0]
    + "evaluation:\n  evaluators: [{type: code_judge, name: two, required: true, script: python3 judge.py}]\n",
    "scenarios/judge.py": "import os\nkept = open(os.environ['TIDEGATE_FIXTURE_DIR'] + '/notes.txt').read()\n"
    "assert 'second' in kept\n"
    "print('{\"score\": 1}')\n",
}
SET_UP = {
    **keep(more='setup: {commands: [\'[ -z "$READY" ] || printf "first\\nsecond\\n" > notes.txt\']}\n'),
}


def variable(base: dict[str, str], text: str) -> dict[str, str]:
    """Base's scenario with a variable of the tool."""
    return {"scenarios/keep.yaml": base["scenarios/keep.yaml"].replace("--version}", f"--version, env: {{{text}}}}}")}


VARIABLES = {
    "PYTHONOPTIMIZE for a gate": Attempt(
        "sets a variable of the tool that has a gate skip its assertions",
        "regression",
        base=ASSERTED,
        head=variable(ASSERTED, 'PYTHONOPTIMIZE: "1"'),
    ),
    "PYTHONOPTIMIZE for a judge": Attempt(
        "sets a variable of the tool that has an evaluator's script skip its assertions",
        "regression",
        base=EVALUATED,
        head=variable(EVALUATED, 'PYTHONOPTIMIZE: "1"'),
    ),
    "MAKEFLAGS=n": Attempt(
        "sets a variable of the tool that has make print commands instead of running them",
        "regression",
        base=MADE,
        head=variable(MADE, "MAKEFLAGS: n"),
    ),
    "MAKEFLAGS=i": Attempt(
        "sets a variable of the tool that has make ignore errors",
        "regression",
        base=MADE,
        head=variable(MADE, "MAKEFLAGS: i"),
    ),
    "SHELLOPTS": Attempt(
        "sets a variable of the tool that has a gate's shell run nothing",
        "regression",
        base=SHELL,
        head=variable(SHELL, "SHELLOPTS: noexec"),
    ),
    "PERL5OPT": Attempt(
        "sets a variable of the tool that ends a gate's Perl before it begins",
        "regression",
        base=PERL,
        head=variable(PERL, "PERL5OPT: '-Mstrict;exit'"),
    ),
    "a variable of the setup": Attempt(
        "sets a variable of the tool that has the setup write the result",
        "regression",
        base=SET_UP,
        head=variable(SET_UP, "READY: x"),
    ),
}

DEFINITIONS = {
    **VARIABLES,
    "capability": Attempt(
        "makes the scenario `purpose: capability`, which never blocks",
        "regression",
        head=keep(more="purpose: capability\n"),
    ),
    "not deterministic": Attempt(
        "makes the agent non-deterministic, so that failures need more proof",
        "regression",
        head=agent("type: doc-follower, deterministic: false"),
    ),
    "scenario not deterministic": Attempt(
        "makes the scenario non-deterministic",
        "regression",
        head=keep(more="deterministic: false\n"),
    ),
    "fewer trials": Attempt("limits the scenario to one trial", "regression", head=keep(more="trials: {max: 1}\n")),
    "renamed scenario": Attempt(
        "renames the scenario, so that it is a new one",
        "regression",
        head=keep("name: keep_notes", "name: keeps_notes"),
    ),
    "renamed scenarios, and another start": Attempt(
        "starts the tool with a variable that breaks it, and renames all scenarios",
        "regression",
        base={"bin/notes": TOLD, **started("keep")},
        tool=None,
        head={
            **started("lose"),
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"].replace("name: keep_notes", "name: keeps_notes"),
            "scenarios/version.yaml": FILES["scenarios/version.yaml"].replace("name: version", "name: versions"),
        },
    ),
    "renamed agent": Attempt("renames the agent", "regression", head=suite(old="docs:", new="guide:")),
    "agent without weight": Attempt(
        "gives the agent the weight 0", "must be greater than 0", 2, head=agent("type: doc-follower, weight: 0")
    ),
    "other agent for the scenario": Attempt(
        "adds an agent that does nothing, and has the scenario use only that one",
        "regression",
        head={
            **keep(more="tool_matrix: [{tool: idle}]\n"),
            **suite(old="agents:", new="agents:\n  idle: {type: command, deterministic: true, command: 'true'}"),
        },
    ),
    "gate not required": Attempt(
        "makes the gates optional", "regression", head=keep("second}", "second, required: false}")
    ),
    "laxer pattern": Attempt(
        "makes a gate's pattern match more", "regression", head=keep("pattern: second", "pattern: f")
    ),
    "gates twice": Attempt(
        "adds a second, laxer list of gates at the top of the scenario",
        "gates",
        2,
        head=keep(more="gates: [{type: command_succeeds, command: 'true'}]\n"),
    ),
    "other tool": Attempt(
        "tests another tool that works",
        "regression",
        head={
            **keep("binary: notes, health_check: notes --version", "binary: good"),
            "bin/good": NOTES,
            "AGENTS.md": AGENTS_MD.replace("notes add", "good add"),
        },
    ),
    "health check that fails": Attempt(
        "adds a health check that fails on both sides",
        "regression",
        head=keep("notes --version", "notes --never"),
    ),
    "setup that fails": Attempt(
        "adds a setup command that fails on both sides", "regression", head=keep(more="setup: {commands: ['false']}\n")
    ),
    "fewer turns": Attempt("lowers the agent's turns", "regression", head=agent("type: doc-follower, max_turns: 1")),
    "watch nothing": Attempt(
        "narrows `watch`, so that the change of the tool touches nothing that is watched",
        "regression",
        head=suite("watch: ['docs/**']\n"),
    ),
    "no suite": Attempt("deletes tidegate.yaml", "no such file", 2, head={"tidegate.yaml": None}),
    "invalid suite": Attempt("makes tidegate.yaml invalid", "version", 2, head={"tidegate.yaml": "version: 9\n"}),
    "no scenarios": Attempt(
        "deletes all scenarios",
        "matches no file",
        2,
        head={"scenarios/keep.yaml": None, "scenarios/version.yaml": None},
    ),
    "other globs": Attempt(
        "changes the globs of `scenarios`, so that the failing one is left out",
        "regression",
        head=suite(old="scenarios/*.yaml", new="scenarios/v*.yaml"),
    ),
    "tag removed": Attempt(
        "removes the tag by which the job selects the scenario",
        "regression",
        base={
            **keep(more="tags: [smoke]\n"),
            "scenarios/version.yaml": FILES["scenarios/version.yaml"] + "tags: [smoke]\n",
        },
        head=keep(more="tags: [slow]\n"),
        arguments=("--tags", "smoke"),
    ),
    "higher tier": Attempt(
        "moves the scenario to a tier that the job does not run",
        "regression",
        head=keep(more="tier: 5\n"),
        arguments=("--tier", "1"),
    ),
    "swapped names": Attempt(
        "swaps the names of two scenarios",
        "regression",
        head={
            **keep("keep_notes", "version"),
            "scenarios/version.yaml": FILES["scenarios/version.yaml"].replace("name: version", "name: keep_notes"),
        },
    ),
    "same name twice": Attempt(
        "adds a scenario of the same name that passes",
        "keep_notes",
        2,
        head={"scenarios/a.yaml": FILES["scenarios/version.yaml"].replace("name: version", "name: keep_notes")},
    ),
    "build edits the scenario": Attempt(
        "has its build edit the scenario",
        "regression",
        head=suite('build: ["sed -i s/second/first/ scenarios/keep.yaml"]\n'),
    ),
    "build edits the suite": Attempt(
        "has its build edit tidegate.yaml",
        "regression",
        head=suite("build: [\"printf 'policy: {mode: advisory}\\\\n' >> tidegate.yaml\"]\n"),
    ),
    "data of an evaluator": Attempt(
        "edits a data file that an evaluator finds by listing a folder",
        "regression",
        base={**evaluated("python3 judge.py"), "scenarios/judge.py": COUNTS, "scenarios/wanted/a": "first second\n"},
        head={"scenarios/wanted/a": "first\n"},
    ),
    "links for scenarios": Attempt(
        "replaces the scenario by a link to a laxer one",
        "regression",
        head={"scenarios/keep.yaml": None, "lax.yaml": SCENARIO.replace("second", "first")},
        prepare=lambda repo: (repo.root / "scenarios/keep.yaml").symlink_to("../lax.yaml"),
    ),
    "library of an evaluator": Attempt(
        "edits a library, in another folder, that an evaluator imports",
        "regression",
        base={
            **evaluated("python3 judge.py"),
            "scenarios/judge.py": FROM_LIBRARY,
            "library/scoring.py": "def score(text):\n    return text.count('\\n') / 2\n",
        },
        head={"library/scoring.py": "def score(text):\n    return 1\n"},
    ),
    "target of an evaluator's link": Attempt(
        "edits the file that an evaluator's script, which is a link, leads to",
        "regression",
        base={
            **evaluated("python3 judge.py"),
            "scenarios/judge.py": Link("../library/judge.py"),
            "library/judge.py": TWO,
        },
        head={"library/judge.py": "print('{\"score\": 1}')\n"},
    ),
    "data of an evaluator elsewhere": Attempt(
        "edits a data file in another folder that an evaluator reads",
        "regression",
        base={
            **evaluated("python3 judge.py"),
            "scenarios/judge.py": READS,
            "data/wanted.txt": "first second\n",
        },
        head={"data/wanted.txt": "first\n"},
    ),
    "data that no side meets": Attempt(
        "edits a data file in another folder, so that an evaluator fails on both sides",
        "regression",
        base={**evaluated("python3 judge.py"), "scenarios/judge.py": READS, "data/wanted.txt": "first second\n"},
        head={"data/wanted.txt": "third\n"},
    ),
    "shell library of an evaluator": Attempt(
        "removes what a shell library in another folder counts",
        "regression",
        base={
            **evaluated("sh judge.sh"),
            "scenarios/judge.sh": ". ../library/count.sh\n",
            "library/count.sh": COUNTED,
        },
        head={"library/count.sh": "echo '{\"score\": 1}'\n"},
    ),
    "answer in a document": Attempt(
        "puts the answer into a guidance file, where a gate that searches all documents finds it",
        "regression",
        base={
            **graded("type: command_succeeds, command: 'grep -rqx second --include=*.md .'"),
            "bin/notes": NOTES.replace("notes.txt", "notes.md"),
        },
        head={"CLAUDE.md": "# Hints\n\nsecond\n"},
        tool=FORGETFUL.replace("notes.txt", "notes.md"),
    ),
    "unrecorded call": Attempt(
        "has the guidance call the tool by its real path, where failures are not recorded",
        "unproven",
        5,
        base=graded("type: no_transcript_errors"),
        head={"AGENTS.md": '# Notes\n\n```console\n$ "$(which -a notes | tail -n 1)" add second\n```\n'},
        tool=NOTES.replace("  add)", "  append)"),
    ),
    "build of the old tool": Attempt(
        "has its build put base's tool into place, which is then tested instead of head's",
        "setup_regression",
        head=suite('build: ["git show main:bin/notes > bin/notes"]\n'),
    ),
    "another copy": Attempt(
        "adds a working copy of the tool, and a folder in `path` in which it is found first",
        "regression",
        head={**suite(old="path: [bin]", new="path: [compat, bin]"), "compat/notes": NOTES},
    ),
    "another copy in a folder that is there": Attempt(
        "adds a working copy of the tool to a folder that base's `path` has in front",
        "regression",
        base=suite(old="path: [bin]", new="path: [compat, bin]"),
        head={"compat/notes": NOTES},
    ),
    "an older copy": Attempt(
        "removes the tool, of which `path` has another copy on base as well",
        "setup_regression",
        base=WITH_COPY,
        head={"bin/notes": None},
        tool=None,
    ),
    "an older copy behind a link": Attempt(
        "replaces the tool by a link that leads nowhere, so that another copy in `path` is tested",
        "setup_regression",
        base=WITH_COPY,
        head={"bin/notes": None},
        tool=None,
        prepare=lambda repo: (repo.root / "bin/notes").symlink_to("nowhere"),
    ),
    "a tool in front": Attempt(
        "adds a broken tool to a folder of `path` that `watch` does not list",
        "unproven",
        5,
        base={
            "tidegate.yaml": SUITE.replace("path: [bin]", "watch: ['bin/**']\npath: [bin0, bin]"),
            "bin0/other": "x\n",
        },
        head={"bin0/notes": FORGETFUL},
        tool=None,
    ),
    "a folder of the tool's name": Attempt(
        "replaces the tool by a folder, so that another copy in `path` is tested",
        "setup_regression",
        base=WITH_COPY,
        head={"bin/notes": None, "bin/notes/readme": "x\n"},
        tool=None,
    ),
    "guidance that does the work": Attempt(
        "has the guidance write the result without the tool",
        "unproven",
        5,
        head={"AGENTS.md": "# Notes\n\n```sh\nnotes --version\n" + WRITES + "\n```\n"},
    ),
    "prompt without the tool": Attempt(
        "has the prompt write the result instead of using the tool",
        "regression",
        base={
            **keep(AS_TOLD, "task: |\n  ```sh\n  notes add first\n  notes add second\n  ```"),
            "AGENTS.md": "# Notes\n",
        },
        head=keep(AS_TOLD, task("notes --version", WRITES)),
    ),
}

# What is not caught: docs/security.md says so, and these keep it true.
LIMITS = {
    "agent of the repository": Attempt(
        "has the agent, which is its own script, write the result besides using the tool",
        "no_regression",
        0,
        why="programs of the repository that agents consist of are the product",
        base={
            **agent("type: command, deterministic: true, command: 'sh {repo}/agent.sh'"),
            "agent.sh": f"{BOTH_NOTES}\n",
        },
        head={"agent.sh": f"{BOTH_NOTES}; echo second >> notes.txt\n"},
    ),
    "new gate that does the work": Attempt(
        "adds a gate, in front of the others, that writes the result",
        "regression",
        head=keep("  gates:\n", "  gates:\n" + WRITING_GATE),
    ),
    "new gate that does an evaluator's work": Attempt(
        "adds a gate that writes what an evaluator of base looks for",
        "regression",
        base={"bin/notes": STATED, **keep(more=STATE_EXPECTED)},
        head=keep("  gates:\n", "  gates:\n" + STATING_GATE, STATE_EXPECTED),
        tool=STATED.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||'),
    ),
    "new evaluator that does the work": Attempt(
        "adds an evaluator without weight, in front of base's, that writes what that one looks for",
        "regression",
        base={"bin/notes": STATED, **keep(more=STATE_EXPECTED)},
        head=keep(more=STATE_EXPECTED.replace("evaluators:\n", "evaluators:\n" + STATING_EVALUATOR)),
        tool=STATED.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||'),
    ),
    "checker in the path": Attempt(
        "edits a program in `path` that a gate runs",
        "regression",
        base={**graded("type: command_succeeds, command: has-second"), "bin/has-second": "#!/bin/sh\n" + SECOND + "\n"},
        head={"bin/has-second": "#!/bin/sh\nexit 0\n"},
    ),
    "prompt that does the work": Attempt(
        "has the prompt write the result besides using the tool",
        "regression",
        head=keep(AS_TOLD, task("notes --version", WRITES)),
    ),
    "guidance that does some of the work": Attempt(
        "has the guidance write the result besides using the tool",
        "no_regression",
        0,
        why="guidance and files in AgentV's prompts are each side's own: they can do the work in any number of ways",
        head={"AGENTS.md": f"# Notes\n\n```sh\nnotes list\n{WRITES}\n```\n"},
    ),
}
