"""Clean pull requests of the kinds that people make, with variants: none of them may be blocked. See `run_all.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, NOTES, SCENARIO, SUITE
from tests.thorough.attempts.attempt import Attempt
from tests.thorough.attempts.by_suite import LISTED, LISTING, SCRIPTED

IN_TEMPLATE = SCENARIO.replace("target:", "template_folder: state\ntarget:")
WORDS = ("one", "two", "three", "four", "five")
SERVERS = {  # what an MCP server lists in place of its tool
    "a new tool of a server": f"{LISTED}, {LISTED.replace('add', 'list_all')}, ",
    "a tool that a server describes": LISTED.replace('{"name"', '{"description": "Adds a note.", "name"') + ", ",
    "a new parameter of a tool": LISTED.replace(
        "}}}", '}, "tags": {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}]}}}'
    )
    + ", ",
    "a required parameter of a tool": LISTED.replace("}}}", '}}, "required": ["text"]}') + ", ",
}
GENERATED = "watch: [bin/**, made.txt, .gitignore, AGENTS.md]\nbuild: [sh gen.sh, git describe --always]\n"
Files = dict[str, str | None]
AGENTS = {
    "docs": "{type: doc-follower}",
    "command": "{type: command, deterministic: true, command: 'notes add first; notes add second; notes --version'}",
}


def scenario(name: str) -> str:
    return SCENARIO.replace("keep_notes", name)


def edits(word: str) -> dict[str, tuple[Files, Files]]:
    """What main has besides, and what the pull request changes, by kind; `word` makes variants."""
    tool = NOTES.replace("  --help)", f"  {word}) echo {word} ;;\n  --help)")
    elsewhere = NOTES.replace('echo "$1" >> notes.txt', f'echo "$1" >> notes.txt; date >> .notes.{word}')
    reworded = SCENARIO.replace("Add two notes", f"Please ({word}) add two notes")
    judge = '{type: code_judge, name: NAME, weight: 1, script: \'echo "{\\"score\\": 1}"\'}'
    evaluated = SCENARIO + f"  evaluators: [{judge.replace('NAME', word)}]\n"
    seeded: Files = {"scenarios/keep.yaml": IN_TEMPLATE, "scenarios/state/readme": f"{word}\n"}
    made = "build: ['mkdir -p out; cp bin/notes out/notes']\n"
    folders: Files = {
        "tidegate.yaml": SUITE.replace("[bin]", "[other, bin]"),
        "other/list": "1\n",
        "bin/list": f"{word}\n",
    }
    return {
        "a new subcommand": ({}, {"bin/notes": tool}),
        "files of one name in two folders of `path`": (folders, {"bin/notes": tool}),
        "documentation": ({}, {"README.md": f"{word}\n", "AGENTS.md": AGENTS_MD + f"\n{word}\n"}),
        "a new scenario": ({}, {f"scenarios/{word}.yaml": scenario(word)}),
        "a scenario for a new subcommand": (
            {},
            {
                "bin/notes": tool,
                f"scenarios/{word}.yaml": scenario(word) + f"    - {{type: command_succeeds, command: notes {word}}}\n",
            },
        ),
        "a reworded prompt": ({}, {"scenarios/keep.yaml": reworded, "bin/notes": tool}),
        "a renamed scenario": ({}, {"scenarios/keep.yaml": scenario(word)}),
        "a removed scenario": ({f"scenarios/{word}.yaml": scenario(word)}, {f"scenarios/{word}.yaml": None}),
        "a renamed template": (
            seeded,
            {
                "scenarios/keep.yaml": IN_TEMPLATE.replace("state", word),
                "scenarios/state/readme": None,
                f"scenarios/{word}/readme": f"{word}\n",
            },
        ),
        "a reformatted template": (seeded, {"scenarios/state/readme": f"# {word}\n", "bin/notes": tool}),
        "another file in the template": (seeded, {f"scenarios/state/{word}": "x\n", "bin/notes": tool}),
        "a new evaluator": ({}, {"scenarios/keep.yaml": evaluated, "bin/notes": tool}),
        "a new gate": ({}, {"scenarios/keep.yaml": SCENARIO + "    - {type: file_exists, path: notes.txt}\n"}),
        "a stricter policy": ({}, {"tidegate.yaml": SUITE + "policy: {alpha: 0.01, rules: block}\n"}),
        "more time": ({}, {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 600}\n"}),
        "less time": ({}, {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 200}\n", "bin/notes": tool}),
        "a moved tool": (
            {},
            {
                "bin/notes": None,
                f"tools/{word}/notes": tool,
                "tidegate.yaml": SUITE.replace("[bin]", f"[tools/{word}]"),
            },
        ),
        "a new build step": (
            {},
            {
                "bin/notes": None,
                "src/notes.sh": tool,
                "tidegate.yaml": SUITE + "build: ['mkdir -p bin; cp src/notes.sh bin/notes; chmod +x bin/notes']\n",
            },
        ),
        "a tool that the build makes instead": (
            {},
            {
                "bin/notes": None,
                "src/notes.sh": NOTES,
                ".gitignore": "/bin/\n",
                "tidegate.yaml": SUITE + "build: ['mkdir -p bin; cp src/notes.sh bin/notes; chmod +x bin/notes']\n",
            },
        ),
        "a generated file that is no longer committed": (
            {"gen.sh": f"echo {word} > made.txt\n", "made.txt": f"{word}\n", "tidegate.yaml": SUITE + GENERATED},
            {"made.txt": None, ".gitignore": "/made.txt\n"},
        ),
        "a changed build": (
            {"tidegate.yaml": SUITE.replace("[bin]", "[out]") + made},
            {"tidegate.yaml": SUITE.replace("[bin]", "[out]") + made + f"# {word}\n", "bin/notes": tool},
        ),
        "another program in path": ({}, {f"bin/notes-{word}": "#!/bin/sh\necho x\n", "bin/notes": tool}),
        "a tool that keeps its state elsewhere": ({}, {"bin/notes": elsewhere}),
        "a new state file, which the setup makes": (
            {"scenarios/keep.yaml": SCENARIO + "setup: {commands: [notes add zero]}\n"},
            {"bin/notes": elsewhere},
        ),
        "a new agent": ({}, {"tidegate.yaml": SUITE + f"  {word}: {{type: doc-follower, timeout_secs: 200}}\n"}),
    }


def moved_submodule(repo: Repository) -> None:
    (repo.root / "vendor/core").mkdir(parents=True)
    commit = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/core")
    repo.git("commit", "--quiet", "--message", "submodule")


def squashed(repo: Repository) -> None:
    """Main has merged the first of two stacked branches as one commit; the second one begins at the first."""
    repo.commit({"AGENTS.md": AGENTS_MD + "\nThe first of two.\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"AGENTS.md": AGENTS_MD + "\nThe first of two.\n"})
    repo.git("checkout", "--quiet", "pr")


def all_clean() -> Iterator[tuple[str, Attempt]]:
    """Yield 100 and more by name."""
    for word, (agent, settings) in product(WORDS, AGENTS.items()):
        for kind, (base, head) in edits(word).items():
            if agent != "docs" and WORDS.index(word) > 0:
                continue  # one variant with another agent is enough
            files = {**base, "tidegate.yaml": base.get("tidegate.yaml") or SUITE}
            files, head = (
                {name: text and text.replace("{type: doc-follower}", settings) for name, text in one.items()}
                for one in (files, head)
            )
            yield f"{kind}, {word}, {agent}", Attempt(kind, "", 0, base=files, head=head, tool=None)
    for name, new in SERVERS.items():
        head = {"bin/server.py": LISTING.replace(f"{LISTED}, ", new)}
        yield name, Attempt(name, "", 0, base=SCRIPTED, head=head, tool=None)
    for name, prepare in (("an updated submodule", moved_submodule), ("a squash-merged stack", squashed)):
        yield name, Attempt(name, "", 0, head={"bin/notes": NOTES + "# x\n"}, tool=None, prepare=prepare)
