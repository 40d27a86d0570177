"""Attempts that use guidance files, of which each side has its own, to change what base's commands find."""

from __future__ import annotations

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, NOTES
from tests.thorough.attempts.attempt import Attempt, Files, graded, suite

IN_DOCS, ALL_PAGES = suite('guidance: [AGENTS.md, "docs/**"]\n'), suite('guidance: ["**/*.md"]\n')


def asking(file: str) -> str:
    """A gate that looks for each word of the file."""
    return f"type: script, command: 'for w in $(cat {file}); do grep -q $w notes.txt || exit 1; done'"


def prepared(setup: str, gate: str) -> Files:
    return {"scenarios/keep.yaml": graded(gate)["scenarios/keep.yaml"] + f"setup: {{commands: ['{setup}']}}\n"}


def folder_for_file(repo: Repository) -> None:
    repo.git("rm", "--quiet", "docs/wanted")
    repo.write({"docs/wanted/a.md": "x\n"})


def moved_skill(repo: Repository) -> None:
    repo.git("rm", "--quiet", ".claude/skills/notes/SKILL.md")
    repo.write({"skills/notes/SKILL.md": AGENTS_MD.replace("add second", "ad second")})
    (repo.root / ".claude/skills").mkdir(parents=True, exist_ok=True)
    (repo.root / ".claude/skills/notes").symlink_to("../../skills/notes")


CHECKED = graded("type: command_succeeds, command: make -s check")
WORDS = "first second\n"
GUIDANCE: dict[str, Attempt] = {
    "a folder for a guidance file": Attempt(
        "makes a guidance file that a gate reads a folder",
        "regression",
        base={**IN_DOCS, "docs/wanted": WORDS, **graded(asking("docs/wanted"))},
        prepare=folder_for_file,
    ),
    "the folder of a guidance file": Attempt(
        "adds a guidance file in a folder that has the name of base's target in a Makefile",
        "regression",
        base={
            **suite('guidance: [AGENTS.md, "*/*.md"]\n'),
            "scenarios/state/Makefile": "check:\n\tgrep -q second notes.txt\n",
            "scenarios/keep.yaml": CHECKED["scenarios/keep.yaml"] + "template_folder: state\n",
        },
        head={"check/readme.md": "x\n"},
    ),
    "guidance that the setup makes": Attempt(
        "adds a guidance file that base's setup makes and a gate reads",
        "regression",
        base=prepared("echo first second > CLAUDE.md", asking("CLAUDE.md")),
        head={"CLAUDE.md": "x\n"},
    ),
    "guidance that the setup changes": Attempt(
        "changes a guidance file that base's setup changes and a gate reads",
        "regression",
        base={**ALL_PAGES, "use.md": "first\n", **prepared("echo second >> use.md", asking("use.md"))},
        head={"use.md": "x\n"},
    ),
    "guidance in the commit": Attempt(
        "changes a guidance file that a gate reads from the workspace's commit",
        "regression",
        base={
            **ALL_PAGES,
            "use.md": WORDS,
            **graded(
                "type: script, command: 'for w in $(git show HEAD:use.md); do grep -q $w notes.txt || exit 1; done'"
            ),
        },
        head={"use.md": "first\n"},
    ),
    "guidance in the index": Attempt(
        "adds attributes as guidance, which git would take from its index",
        "regression",
        base={
            **IN_DOCS,
            "bin/notes": NOTES.replace(">> notes.txt", ">> notes.txt; echo x >> docs/log"),
            "docs/log": "keep\n",
            **graded("type: script, command: 'git diff HEAD -- docs/log > $TMPDIR/o; ! grep -q ^-keep $TMPDIR/o'"),
        },
        head={"docs/.gitattributes": "* binary\n"},
        tool=NOTES.replace(">> notes.txt", ">> notes.txt; echo x > docs/log"),
    ),
    "guidance in the health check": Attempt(
        "changes a guidance file that the health check copies and a gate reads",
        "regression",
        base={
            **ALL_PAGES,
            "use.md": WORDS,
            "scenarios/keep.yaml": graded(asking("use.txt"))["scenarios/keep.yaml"].replace(
                "health_check: notes --version", "health_check: cp use.md use.txt"
            ),
        },
        head={"use.md": "first\n"},
    ),
    "the time of guidance": Attempt(
        "changes a guidance file from which base's Makefile would make the result again",
        "regression",
        base={
            **ALL_PAGES,
            "seed.md": "first\nsecond\n",
            "scenarios/state/Makefile": "check: notes.txt\n\tgrep second $<\nnotes.txt: seed.md\n\tcp $< $@\n",
            "scenarios/keep.yaml": CHECKED["scenarios/keep.yaml"] + "template_folder: state\n",
        },
        head={"seed.md": "x\n"},
    ),
    "the tool's output as guidance": Attempt(
        "commits the broken tool's output as a guidance file, which the tool then writes again",
        "regression",
        base={
            "bin/notes": NOTES.replace("list)", "make) echo right > CLAUDE.md ;;\n  list)"),
            "CLAUDE.md": "right\n",
            "AGENTS.md": "```console\n$ notes make\n```\n",
            **graded("type: file_contains, path: CLAUDE.md, substring: right"),
        },
        head={"CLAUDE.md": "wrong\n"},
        tool=NOTES.replace("list)", "make) echo wrong > CLAUDE.md ;;\n  list)"),
    ),
    "guidance in place of the setup's state": Attempt(
        "changes a guidance file to which base's setup adds what the broken tool damages",
        "regression",
        base={
            "CLAUDE.md": "rules\n",
            **prepared("echo kept >> CLAUDE.md", "type: command_succeeds, command: grep -q kept CLAUDE.md"),
        },
        head={"CLAUDE.md": "other rules\n"},
        tool=NOTES.replace("add) shift;", "add) shift; if grep -q kept CLAUDE.md; then : > CLAUDE.md; fi;"),
    ),
    "a link to the folder of a skill": Attempt(
        "breaks a skill, and makes its folder a link",
        "regression",
        base={"AGENTS.md": None, ".claude/skills/notes/SKILL.md": AGENTS_MD},
        tool=None,
        prepare=moved_skill,
    ),
}
