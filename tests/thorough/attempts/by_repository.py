"""Attempts by what git keeps: names, links, modes, attributes and the shape of history."""

from __future__ import annotations

import os
from functools import partial

from tests.conftest import Repository
from tests.journeys.conftest import NOTES
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, Link, graded, keep, suite

IN_LIBRARY = '#!/bin/sh\n. "$(dirname "$0")"/l/notes\n'
WATCHED = suite("watch: ['bin/**']\n")
APPEND = NOTES.replace('echo "$1" >> notes.txt', '. "$(dirname "$(readlink -f "$0")")/kéep.sh"')
# The tool runs the files beside its folder whose names are white space.
EXTENDED = NOTES.replace(
    'case "$1" in',
    'for file in "${0%/*}/../"*; do case "${file##*/}" in *[![:space:]]*) ;; *) . "$file" ;; esac; done\ncase "$1" in',
    1,
)
BREAKING = '[ "$1 $2" != "add second" ] || exit 0\n'


def mode(repo: Repository) -> None:
    (repo.root / "bin/notes").chmod(0o644)


def moved(repo: Repository) -> None:
    repo.git("mv", "bin/notes", "notes")


def renamed_since(repo: Repository) -> None:
    """Main has given the agent another name, which its policy has, too."""
    repo.commit({})
    repo.commit(suite("policy: {agents: [robot]}\n", "docs:", "robot:"), on="main")
    repo.git("checkout", "--quiet", "pr")


def replaced(repo: Repository) -> None:
    """Git shows main's tool instead of the broken one."""
    repo.commit({})
    repo.git("replace", repo.git("rev-parse", "pr:bin/notes"), repo.git("rev-parse", "main:bin/notes"))


def orphan(repo: Repository) -> None:
    """The branch has no commit in common with main."""
    repo.commit({})
    repo.git("checkout", "--quiet", "--orphan", "alone")
    repo.git("commit", "--quiet", "--message", "alone")
    repo.git("branch", "-M", "pr")


def ours(repo: Repository) -> None:
    """It begins at an old commit with a broken tool, and has merged main without taking anything of it."""
    repo.git("checkout", "--quiet", "-B", "old", "main")
    repo.commit({"bin/notes": FORGETFUL})
    repo.git("checkout", "--quiet", "-B", "pr", "old")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "old")
    repo.commit({"bin/notes": NOTES})
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "--strategy", "ours", "--message", "merge", "main")


def crossed(repo: Repository) -> None:
    """Main and the branch have merged each other: two merge bases, and the tool of the later one is broken."""
    repo.git("checkout", "--quiet", "-B", "pr", "main")
    broken = repo.commit({"bin/notes": FORGETFUL}, "broken")
    good = repo.commit({"README.md": "x\n"}, "good", on="main")
    repo.git("merge", "--quiet", "--strategy", "ours", "--message", "merge", broken)
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "--message", "merge", good)


def repaired_since(repo: Repository) -> None:
    """Main has repaired the tool after the branch began."""
    repo.git("stash", "--quiet")
    repo.commit({"bin/notes": NOTES}, on="main")
    repo.git("checkout", "--quiet", "pr")
    repo.git("stash", "pop", "--quiet")


def submodule(repo: Repository) -> None:
    """The folder of the tool is a submodule that nothing names."""
    commit = repo.git("rev-parse", "HEAD")
    repo.git("rm", "-r", "--quiet", "bin")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},bin")
    repo.git("commit", "--quiet", "--message", "submodule")


def scenarios_elsewhere(repo: Repository) -> None:
    commit = repo.git("rev-parse", "HEAD")
    repo.git("rm", "-r", "--quiet", "scenarios")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},scenarios")
    repo.git("commit", "--quiet", "--message", "submodule")


def outputs_are_a_link(repo: Repository) -> None:
    (repo.root / ".tidegate").symlink_to("docs")


def as_submodule(repo: Repository, folder: str) -> None:
    """The folder is a submodule that is checked out."""
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--force", str(repo.root), folder)


def tag_named_like_main(repo: Repository) -> None:
    """Git prefers tags to branches."""
    repo.commit({})
    repo.git("tag", "main")
    repo.commit({"README.md": "x\n"})


def stricter_since(repo: Repository) -> None:
    """Main has checked more since the branch began."""
    repo.git("stash", "--quiet")
    repo.commit(keep(), on="main")
    repo.git("checkout", "--quiet", "pr")
    repo.git("stash", "pop", "--quiet")


REPOSITORY = {
    "tag": Attempt("sets a tag with the name of the target branch", "regression", prepare=tag_named_like_main),
    "laxer base": Attempt(
        "begins at a commit of main that checked less, where the workflow checks out the branch, not its merge",
        "no_regression",
        0,
        base=graded("type: file_contains, path: notes.txt, substring: first"),
        prepare=stricter_since,
        why="definitions are those of the merge base; a workflow that checks out the merge, as ours do, has main's",
    ),
    "stored results": Attempt(
        "commits a file below `.tidegate/store`", "is part of the commit", 2, head={".tidegate/store/readme": "x\n"}
    ),
    "library of the agent": Attempt(
        "breaks a library of the agent's program that `watch` does not list",
        "regression",
        base={
            **WATCHED,
            **suite(
                "watch: ['bin/**']\n",
                "{type: doc-follower}",
                "{type: command, deterministic: true, command: 'sh {repo}/ai/run.sh'}",
            ),
            "ai/run.sh": '. "$(dirname "$0")/more.sh"\n',
            "ai/more.sh": "notes add first; notes add second\n",
        },
        tool=None,
        head={"ai/more.sh": "notes add first\n"},
    ),
    "moved tool": Attempt(
        "moves the tool out of the watched folder, which a list of renamed files shows under its new name only",
        "regression",
        base=WATCHED,
        tool=None,
        prepare=moved,
    ),
    "link to the tool": Attempt(
        "breaks the file that the watched tool, which is a link, leads to through a linked folder",
        "regression",
        base={**WATCHED, "bin/notes": Link("../lib/notes"), "lib": Link("impl"), "impl/notes": NOTES},
        tool=None,
        head={"impl/notes": FORGETFUL},
    ),
    "links beyond links": Attempt(
        "breaks what a watched link leads to by `..` behind a link",
        "regression",
        base={
            **WATCHED,
            "bin/notes": IN_LIBRARY,
            "bin/l": Link("../k/../lib"),
            "k": Link("deep/er"),
            "deep/er/x": "x\n",
            "deep/lib/notes": NOTES,
        },
        tool=None,
        head={"deep/lib/notes": FORGETFUL},
    ),
    "a link to the root": Attempt(
        "breaks what is behind a watched link to the root of the repository",
        "regression",
        base={
            **WATCHED,
            "bin/notes": IN_LIBRARY.replace("/l/", "/l/lib/"),
            "bin/l": Link(".."),
            "lib/notes": NOTES,
        },
        tool=None,
        head={"lib/notes": FORGETFUL},
    ),
    "a link with any bytes for a name": Attempt(
        "breaks what is behind a watched link whose name is not UTF-8",
        "regression",
        base={
            **WATCHED,
            "bin/notes": IN_LIBRARY.replace("/l/", "/l*/"),
            os.fsdecode(b"bin/l\xff"): Link("../lib"),
            "lib/notes": NOTES,
        },
        tool=None,
        head={"lib/notes": FORGETFUL},
    ),
    "not executable": Attempt("takes the tool's right to be run", "regression", base=WATCHED, tool=None, prepare=mode),
    "letters beyond ASCII": Attempt(
        "breaks a watched file whose name git quotes",
        "regression",
        base={**WATCHED, "bin/notes": APPEND, "bin/kéep.sh": 'echo "$1" >> notes.txt\n'},
        tool=None,
        head={"bin/kéep.sh": ":\n"},
    ),
    "a blank for a name": Attempt(
        "breaks the tool by a file whose name is a blank",
        "regression",
        base={"bin/notes": EXTENDED},
        tool=None,
        head={" ": BREAKING},
    ),
    "a line end for a name": Attempt(
        "breaks the tool by a file whose name is a line end",
        "regression",
        base={"bin/notes": EXTENDED},
        tool=None,
        head={"\n": BREAKING},
    ),
    "line ends": Attempt(
        "has .gitattributes give the tool line ends that its interpreter does not know",
        "regression",
        head={".gitattributes": "bin/notes text eol=crlf\n"},
        tool=NOTES + "# x\n",
    ),
    "line ends of a watched file": Attempt(
        "has .gitattributes, which `watch` does not list, give the watched tool other line ends",
        "regression",
        base=WATCHED,
        tool=None,
        head={".gitattributes": "bin/notes text eol=crlf\n"},
    ),
    "exported": Attempt(
        "has .gitattributes leave the scenarios out of archives",
        "regression",
        head={".gitattributes": "scenarios/** export-ignore\n"},
    ),
    "merged tree": Attempt(
        "merges main with the strategy `ours`, which drops a repair", "regression", tool=None, prepare=ours
    ),
    "crossed merges": Attempt(
        "has two merge bases, and the tool of the later one is broken", "regression", tool=None, prepare=crossed
    ),
    "repaired since": Attempt(
        "begins at a commit with a broken tool, which main has repaired since, and breaks it again",
        "unproven",
        5,
        base={"bin/notes": FORGETFUL},
        tool=FORGETFUL + "# again\n",
        prepare=repaired_since,
    ),
    "agent renamed since": Attempt(
        "begins before main gave the agent another name, which `policy.agents` has",
        "regression",
        prepare=renamed_since,
    ),
    "replaced object": Attempt(
        "is looked at in a clone whose refs/replace hide the break", "regression", prepare=replaced
    ),
    "no scenarios": Attempt(
        "empties the list of scenarios",
        "`scenarios` is an empty list",
        2,
        head=suite(old="scenarios: [scenarios/*.yaml]", new="scenarios: []"),
    ),
    "no common history": Attempt("has no commit in common with main", "no commit in common", 2, prepare=orphan),
    "tool in a submodule": Attempt("makes the tool's folder a submodule", "regression", tool=None, prepare=submodule),
    "scenarios in a submodule": Attempt(
        "makes the scenarios' folder a submodule", "matches no file", 2, prepare=scenarios_elsewhere
    ),
    "ignored scenario": Attempt("adds the scenarios to .gitignore", "regression", head={".gitignore": "scenarios/\n"}),
    "a link for outputs": Attempt(
        "commits `.tidegate` as a link", "is part of the commit", 2, prepare=outputs_are_a_link
    ),
    "a submodule for outputs": Attempt(
        "makes `.tidegate` a submodule, which may have a history of base",
        "is part of the commit",
        2,
        prepare=partial(as_submodule, folder=".tidegate"),
    ),
    "a submodule for the store": Attempt(
        "makes the folder around that of `store` a submodule",
        "is part of the commit",
        2,
        base=suite("store: {path: ci/store}\n"),
        prepare=partial(as_submodule, folder="ci"),
    ),
    "LFS": Attempt(
        "replaces the tool by a pointer to a large file",
        "regression",
        tool="version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        head={".gitattributes": "bin/* filter=lfs\n"},
    ),
}
