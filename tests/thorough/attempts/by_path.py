"""Attempts by head's `path`: an old copy is tested, or programs of the system's names do the tool's work."""

from __future__ import annotations

from tests.journeys.conftest import AGENTS_MD, NOTES
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, agent, suite

BUILT = suite("build: ['mkdir -p out; cp bin/notes out/notes']\n", "[bin]", "[out]")
BOTH = "build: ['mkdir -p out dist; cp bin/notes dist/notes; cp old/notes out/notes']\n"
KEEPS = {"bin/notes": NOTES.replace('echo "$1" >> notes.txt', 'notes-keep "$1"')}
LOADING = '#!/bin/sh\n. "${0%/*}/../lib/keep.sh"\n'
ADDS = "#!/bin/sh\necho second >> notes.txt\n"
CALLED = "type: command, deterministic: true, command: 'notes add first; notes add second; PROGRAM'"
SORTED = {"AGENTS.md": AGENTS_MD.replace("second\n", "second\n$ sort notes.txt\n")}

PATHS = {
    "old copy behind": Attempt(
        "puts a folder with a broken tool in front of the one in which it leaves the old copy",
        "unproven",
        5,
        tool=None,
        head={**suite(old="[bin]", new="[dist, bin]"), "dist/notes": FORGETFUL},
    ),
    "old copy beside": Attempt(
        "moves the tool to another folder, where it is broken, and leaves the old copy in its place",
        "unproven",
        5,
        tool=None,
        head={**suite(old="[bin]", new="[dist]"), "dist/notes": FORGETFUL},
    ),
    "old copy of the build": Attempt(
        "has its build make a broken tool in a new folder, and the old one where base's build has it",
        "unproven",
        5,
        tool=None,
        base={**BUILT, "old/notes": NOTES + "# old\n"},
        head={**suite(BOTH, "[bin]", "[dist]"), "bin/notes": FORGETFUL},
    ),
    "old copy in the repository": Attempt(
        "has its build make the broken tool in a new folder, and commits the old one where base's build has it",
        "unproven",
        5,
        tool=None,
        base=BUILT,
        head={
            **suite("build: ['mkdir -p dist; cp bin/notes dist/notes']\n", "[bin]", "[dist]"),
            "out/notes": NOTES,
            "bin/notes": FORGETFUL,
        },
    ),
    "old copy of another program": Attempt(
        "moves a program that the tool starts to another folder, where it is broken, and leaves the old copy",
        "unproven",
        5,
        tool=None,
        base={**KEEPS, "bin/notes-keep": '#!/bin/sh\necho "$1" >> notes.txt\n'},
        head={**suite(old="[bin]", new="[dist, bin]"), "dist/notes-keep": "#!/bin/sh\n"},
    ),
    "copy with another library": Attempt(
        "puts a copy of the tool in front of the old one, beside a broken library that the tool loads",
        "unproven",
        5,
        tool=None,
        base={"bin/notes": '#!/bin/sh\n. "${0%/*}/lib"\n', "bin/lib": NOTES},
        head={
            **suite(old="[bin]", new="[dist, bin]"),
            "dist/notes": '#!/bin/sh\n. "${0%/*}/lib"\n',
            "dist/lib": FORGETFUL,
        },
    ),
    "sleep": Attempt(
        "adds a `sleep` to `path` that does the work when the agent calls it",
        "regression",
        base=agent(CALLED.replace("PROGRAM", "sleep 0.1")),
        head={"bin/sleep": ADDS},
    ),
    "sh": Attempt(
        "adds a `sh` to `path` that does the work when the agent calls it",
        "regression",
        base=agent(CALLED.replace("PROGRAM", "sh -c true")),
        head={"bin/sh": '#!/bin/dash\necho second >> notes.txt\nexec /bin/dash "$@"\n'},
    ),
    "sort": Attempt(
        "adds a `sort` to `path` that does the work when the agent follows base's docs",
        "regression",
        base=SORTED,
        head={"bin/sort": ADDS},
    ),
    "helper with another library": Attempt(
        "puts a copy of a program that the tool starts in front of the old one, beside a broken library",
        "no_regression",
        0,
        why="trials find programs beside the tool where base has them; a copy counts as the same program",
        base={**KEEPS, "bin/notes-keep": LOADING, "lib/keep.sh": 'echo "$1" >> notes.txt\n'},
        head={**suite(old="[bin]", new="[dist/bin, bin]"), "dist/bin/notes-keep": LOADING, "dist/lib/keep.sh": ":\n"},
        tool=None,
    ),
    "helper beside a link to nothing": Attempt(
        "puts a copy of a program that the tool starts in front of the old one, beside a library that leads nowhere",
        "unproven",
        5,
        base={**KEEPS, "bin/notes-keep": '#!/bin/sh\n. "${0%/*}/keep.sh"\n', "bin/keep.sh": 'echo "$1" >> notes.txt\n'},
        head={**suite(old="[bin]", new="[dist, bin]"), "dist/notes-keep": '#!/bin/sh\n. "${0%/*}/keep.sh"\n'},
        tool=None,
        prepare=lambda repo: (repo.root / "dist/keep.sh").symlink_to("nowhere"),
    ),
    "built sort": Attempt(
        "has its build make such a `sort`",
        "regression",
        base=SORTED,
        head={**suite("build: ['cp sort.sh bin/sort; chmod +x bin/sort']\n"), "sort.sh": ADDS},
    ),
    "moved behind a link": Attempt(
        "moves the tool to another folder, and leaves a link to it in its place",
        "no_regression",
        0,
        head={**suite(old="[bin]", new="[dist]"), "dist/notes": NOTES + "# moved\n", "bin/notes": None},
        tool=None,
        prepare=lambda repo: (repo.root / "bin/notes").symlink_to("../dist/notes"),
    ),
    "copied by the build": Attempt(
        "has its build copy the tool to another folder of `path`",
        "no_regression",
        0,
        head=suite("build: ['mkdir -p dist; cp bin/notes dist/notes']\n", "[bin]", "[dist]"),
        tool=NOTES + "# copied\n",
    ),
    "program of the tool": Attempt(
        "adds a program of the system's name to `path`, which the tool needs",
        "no_regression",
        0,
        head={"bin/tee": '#!/bin/sh\necho "$1" >> notes.txt\n'},
        tool=NOTES.replace('echo "$1" >> notes.txt', 'tee "$1"'),
    ),
}
