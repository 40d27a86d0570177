"""Attempts by head's build: it undoes what the commit breaks, so that something else is tested than what is merged."""

from __future__ import annotations

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, NOTES
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, Link, suite

HERE = '$(dirname "$(readlink -f "$0")")'
KEEP = 'echo "$1" >> notes.txt\n'
SOURCING = NOTES.replace('echo "$1" >> notes.txt', f'. "{HERE}/../lib/keep.sh"')
OPTIONAL = NOTES.replace(
    'echo "$1" >> notes.txt', f'keep="{HERE}/../lib/keep.sh"; [ ! -f "$keep" ] && echo "$1" >> notes.txt || . "$keep"'
)
PLUGINS = NOTES.replace("case", f'for one in "{HERE}"/../lib/*.sh; do . "$one"; done\ncase', 1)


def to_bad(repo: Repository) -> None:
    (repo.root / "lib").unlink()
    (repo.root / "lib").symlink_to("bad")


def empty_commit(repo: Repository) -> None:
    repo.commit({}, "break it")


def folder_to_bad(repo: Repository) -> None:
    repo.git("mv", "bin", "bad")
    (repo.root / "bin").symlink_to("bad")


def program_to_bad(repo: Repository) -> None:
    """The program leads to the broken one by a link on the way."""
    repo.git("mv", "bin/notes", "impl/notes")
    (repo.root / "current").symlink_to("impl")
    (repo.root / "bin").mkdir(exist_ok=True)
    (repo.root / "bin/notes").symlink_to("../current/notes")


def built(command: str) -> dict[str, str]:
    return suite(f"build: ['{command}']\n")


BUILDS = {
    "an empty commit": Attempt(
        "changes no file, and has a message by which base's build breaks the tool",
        "regression",
        base={
            "bin/notes": NOTES.replace('[ -n "$1" ] ||', f'[ -s "{HERE}/broken" ] && exit 0; [ -n "$1" ] ||'),
            **built("git log -1 --format=%s | grep break > bin/broken; true"),
        },
        tool=None,
        prepare=empty_commit,
    ),
    "a deleted file put back": Attempt(
        "deletes a file of the tool, and its build puts it back",
        "setup_regression",
        base={"bin/notes": SOURCING, "lib/keep.sh": KEEP},
        tool=None,
        head={"lib/keep.sh": None, "lib/other.sh": "", **built("git show main:lib/keep.sh > lib/keep.sh")},
    ),
    "the old text with other rights": Attempt(
        "breaks a file of the tool, and its build puts base's text back with other rights",
        "unproven",
        5,
        base={"bin/notes": SOURCING, "lib/keep.sh": KEEP},
        tool=None,
        head={"lib/keep.sh": "", "old": KEEP, **built("cp old lib/keep.sh && chmod 755 lib/keep.sh")},
    ),
    "a link to the old text": Attempt(
        "breaks a file of the tool, and its build puts a link to base's text in its place",
        "unproven",
        5,
        base={"bin/notes": SOURCING, "lib/keep.sh": KEEP},
        tool=None,
        head={"lib/keep.sh": "", "old": KEEP, **built("ln -sf ../old lib/keep.sh")},
    ),
    "the old tool in a new place": Attempt(
        "deletes the tool, and its build takes base's from git, into another folder",
        "setup_regression",
        tool=None,
        head={
            "bin/notes": None,
            **suite("build: ['git show main:bin/notes > new/notes && chmod +x new/notes']\n", "[bin]", "[new]"),
            "new/readme": "",
        },
    ),
    "an added file removed": Attempt(
        "adds a file that breaks the tool, and its build removes it",
        "unproven",
        5,
        base={"bin/notes": PLUGINS, "lib/a.sh": ":\n"},
        tool=None,
        head={"lib/b.sh": '[ "$1$2" = addsecond ] && exit 0; :\n', **built("rm lib/b.sh")},
    ),
    "a changed file removed": Attempt(
        "breaks a file that the tool can do without, and its build removes it",
        "unproven",
        5,
        base={"bin/notes": OPTIONAL, "lib/keep.sh": KEEP},
        tool=None,
        head={"lib/keep.sh": ":\n", **built("rm lib/keep.sh")},
    ),
    "a linked folder put back": Attempt(
        "has a link lead to a broken folder, and its build to the right one",
        "unproven",
        5,
        base={"bin/notes": SOURCING, "good/keep.sh": KEEP, "bad/keep.sh": ":\n", "lib": Link("good")},
        tool=None,
        head=built("ln -sfn good lib"),
        prepare=to_bad,
    ),
    "a program in a linked folder": Attempt(
        "breaks a program in the folder that `path` leads to by a link, and its build replaces it",
        "unproven",
        5,
        base={"impl/notes": NOTES, "bin": Link("impl"), "bin/notes": None},
        tool=None,
        head={"impl/notes": FORGETFUL, "works": NOTES + "# x\n", **built("cp works impl/notes")},
    ),
    "a program behind a link": Attempt(
        "breaks the file that a program in `path` leads to by a link, and its build replaces it",
        "unproven",
        5,
        base={"impl/notes": NOTES, "bin/notes": Link("../impl/notes")},
        tool=None,
        head={"impl/notes": FORGETFUL, "works": NOTES + "# x\n", **built("cp works impl/notes")},
    ),
    "a folder of `path` led elsewhere": Attempt(
        "makes the folder of `path` a link to a broken tool, and its build leads it to another one",
        "unproven",
        5,
        head={"good/notes": NOTES + "# x\n", **built("ln -sfn good bin")},
        prepare=folder_to_bad,
    ),
    "a link on the way led elsewhere": Attempt(
        "makes the tool a link by way of another link, which its build leads to another folder",
        "unproven",
        5,
        head={"impl/readme": "", "good/notes": NOTES + "# x\n", **built("ln -sfn good current")},
        prepare=program_to_bad,
    ),
    "a file for a folder of `path`": Attempt(
        "commits a file where the build makes the folder of `path`, and `watch` does not list it",
        "setup_regression",
        tool=None,
        base={
            **suite("build: ['mkdir -p out/bin && cp src/notes out/bin']\nwatch: ['src/**']\n", "[bin]", "[out/bin]"),
            "src/notes": NOTES,
        },
        head={"out": ""},
    ),
    "guidance fixed by the build": Attempt(
        "breaks an example of the guidance, which its build fixes in other words",
        "unproven",
        5,
        tool=None,
        head={
            "AGENTS.md": AGENTS_MD.replace("add second", "ad second"),
            **built("sed -i s/ad.second/add\\ second\\n/ AGENTS.md"),
        },
    ),
    "a skill made by the build": Attempt(
        "has its build make a skill that does the work",
        "unproven",
        5,
        head={
            "skill": "```console\n$ notes add first\n$ echo second >> notes.txt; notes list\n```\n",
            **built("mkdir -p .claude/skills/a && cp skill .claude/skills/a/SKILL.md"),
        },
    ),
    "a program as a FIFO": Attempt(
        "has its build make a FIFO of the tool",
        "setup_regression",
        head=built("rm bin/notes && mkfifo bin/notes"),
    ),
}
