"""Each kind of cause, found from real calls of a small tool: one repository, one breaking change for each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]

TOOL = """\
#!/usr/bin/env python3
import argparse, json, pathlib, sys, time
STORE = pathlib.Path("notes.json")
def load():
    return json.loads(STORE.read_text()) if STORE.exists() else []
def add(args):
    notes = load()
    if not args.text.strip():
        print("error: the text is empty", file=sys.stderr)
        return 2
    notes.append({"text": args.text, "tag": args.tag})
    STORE.write_text(json.dumps(notes))
    print(f"added note {len(notes)}")
    return 0
def show(args):
    for number, note in enumerate(load(), 1):
        print(json.dumps({"id": number, "tag": note["tag"]}) if args.json else f"{number}. {note['text']}")
    return 0
def clear(args):
    count = len(load())
    STORE.write_text("[]")
    print(f"removed {count} notes")
    return 0
parser = argparse.ArgumentParser(prog="notes")
commands = parser.add_subparsers(dest="command", required=True)
one = commands.add_parser("add")
one.add_argument("text")
one.add_argument("--tag", default="none", choices=["none", "work", "home"])
one.set_defaults(run=add)
two = commands.add_parser("show")
two.add_argument("--json", action="store_true")
two.set_defaults(run=show)
three = commands.add_parser("clear")
three.set_defaults(run=clear)
arguments = parser.parse_args()
sys.exit(arguments.run(arguments))
"""
GUIDE = """\
# Notes

```console
$ notes add --tag work first
$ notes show
$ notes show --json
$ notes clear
$ notes add --tag work last
```
"""
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
build: ["test ! -e broken.cfg || { echo 'error: cannot read broken.cfg'; exit 1; }"]
agents:
  docs: {type: doc-follower}
"""
SCENARIO = """\
name: keep_notes
description: A note is kept, shown and removed, and another one is kept.
target: {binary: notes}
task: Follow AGENTS.md.
run: {timeout_secs: 8}
evaluation:
  gates:
    - {type: file_contains, path: notes.json, substring: last}
    - {type: command_succeeds, command: "! grep -q first notes.json"}
"""
CALLS = {"error_text": '$ notes add " "\n'}  # further lines of the guide
# Further checks, for changes that leave the agent's work unharmed.
GATES = {
    "error_text": "notes add ' ' 2>&1 | grep -q 'text is empty'",
    "slow": "timeout 1.5 notes show",
    "json_key": 'test "$(notes show --json)" = \'{"id": 1, "tag": "work"}\'',
    "output": "test \"$(notes show)\" = '1. last'",
    "exit_code": "notes clear",
    "crash": "notes clear",
}
CHANGES = {
    "option": ('"--tag", default', '"--label", dest="tag", default'),
    "subcommand": ('add_parser("clear")', 'add_parser("purge")'),
    "argument": ('choices=["none", "work", "home"]', 'choices=["none", "office", "home"]'),
    "json_key": ('"tag": note["tag"]}) if', '"label": note["tag"]}) if'),
    "exit_code": (
        '    print(f"removed {count} notes")\n    return 0',
        '    print(f"removed {count} notes")\n    return 7',
    ),
    "output": ("f\"{number}. {note['text']}\"", "f\"#{number} {note['text']}\""),
    "error_text": ("error: the text is empty", "error: nothing to add"),
    "slow": ("def show(args):", "def show(args):\n    time.sleep(2)"),
    "prompt": ("    count = len(load())", '    count = len(load())\n    input("Remove all notes? [y/N] ")'),
    "hang": ("    count = len(load())", "    count = len(load())\n    time.sleep(600)"),
    "crash": ('f"removed {count} notes"', 'f"removed {total} notes"'),
}
SAYS = {
    "option": "`notes add` no longer accepts `--tag`",
    "subcommand": "`notes` no longer has the command `clear`",
    "argument": "`notes add` no longer accepts the value `work`",
    "json_key": "the JSON output of `notes show --json` has the key `label` instead of `tag`",
    "exit_code": "`notes clear` now exits with status 7 (was 0)",
    "output": "`notes show` prints `#1 first` instead of `1. first`",
    "error_text": "the error message of `notes add ' '` is `error: nothing to add` instead of",
    "slow": "`notes show",
    "prompt": "`notes clear` now waits for input: `Remove all notes? [y/N]`",
    "hang": "`notes clear` timed out after",
    "crash": "`notes clear` crashes: `NameError: name 'total' is not defined`",
}


def files(kind: str) -> dict[str, str]:
    gate = f"    - {{type: command_succeeds, command: {json.dumps(GATES[kind])}}}\n" if kind in GATES else ""
    guide = GUIDE.replace("$ notes show\n", f"{CALLS.get(kind, '')}$ notes show\n")
    return {"bin/notes": TOOL, "tidegate.yaml": SUITE, "scenarios/keep.yaml": SCENARIO + gate, "AGENTS.md": guide}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_of_the_tool_is_named_in_the_first_lines(make_repository: Make, tidegate: Make, kind: str) -> None:
    repo = make_repository()
    repo.commit(files(kind))
    old, new = CHANGES[kind]
    assert TOOL.count(old) == 1
    repo.branch("pr", {"bin/notes": TOOL.replace(old, new)})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    assert done.code == 1, done.stdout + done.stderr
    (cause,) = done.result["causes"]
    assert cause["kind"] == kind
    assert cause["says"].startswith(SAYS[kind])
    changed = cause["added"] or cause["removed"]
    assert changed["path"] == "bin/notes"
    assert new.splitlines()[-1].strip().split("(")[0] in changed["text"]
    heading, first = [line for line in done.comment.splitlines() if line][:2]
    assert heading.startswith("## ❌")
    assert first.startswith("**Slower:** " if kind == "slow" else "**Likely cause:** ")
    assert f"bin/notes:{changed['line']}" in first


def test_docs_that_still_use_what_is_gone_are_named(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(files("option"))
    repo.branch("pr", {"bin/notes": TOOL.replace(*CHANGES["option"])})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    assert [cause["still_named"], *cause["also_named"]] == [
        {"side": "head", "path": "AGENTS.md", "line": 4, "text": "$ notes add --tag work first"},
        {"side": "head", "path": "AGENTS.md", "line": 8, "text": "$ notes add --tag work last"},
    ]
    changed = cause["added"]["line"]
    fix = f"update `AGENTS.md:4` and `AGENTS.md:8`, which still use `--tag`, or revert `bin/notes:{changed}`."
    assert f"**To fix:** {fix}" in done.comment
    assert "**What to do:**" not in done.comment


def test_each_guide_that_still_uses_what_is_gone_is_named(make_repository: Make, tidegate: Make) -> None:
    """Two scenarios with a guide of their own, one cause: the lines of both are to be updated."""
    repo = make_repository()
    names = ("first", "second")
    guides = {f"scenarios/{name}/AGENTS.md": GUIDE for name in names}
    rows = {f"scenarios/{name}.yaml": SCENARIO.replace("keep_notes", name) for name in names}
    repo.commit({"bin/notes": TOOL, "tidegate.yaml": SUITE, "README.md": "notes add --tag home x\n", **guides, **rows})
    repo.branch("pr", {"bin/notes": TOOL.replace(*CHANGES["option"])})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    places = [f"{place['path']}:{place['line']}" for place in [cause["still_named"], *cause["also_named"]]]
    both = [f"scenarios/{name}/AGENTS.md:{line}" for name in names for line in (4, 8)]
    assert places == [*both, "README.md:1"]
    assert "and `README.md:1`, which still use `--tag`" in done.comment


def test_docs_come_before_the_lines_of_scenarios_which_are_checks(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    gate = "    - {type: command_succeeds, command: notes show --json}\n"
    scenario = SCENARIO.replace("Follow AGENTS.md.", "Follow AGENTS.md, and notes show --json.") + gate
    repo.commit({**files("option"), "scenarios/keep.yaml": scenario})
    repo.branch("pr", {"bin/notes": TOOL.replace('"--json"', '"--raw", dest="json"')})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    assert (cause["still_named"]["path"], cause["still_named"]["line"]) == ("AGENTS.md", 6)
    assert [(place["path"], place["line"]) for place in cause["checked_in"]] == [
        ("scenarios/keep.yaml", 4),
        ("scenarios/keep.yaml", 10),
    ]
    fix = next(line for line in done.comment.splitlines() if line.startswith("**To fix:**"))
    assert fix.index("AGENTS.md:6") < fix.index("scenarios/keep.yaml:4") < fix.index("scenarios/keep.yaml:10")
    assert fix.endswith("a maintainer has to accept a change there that weakens a check.")
    assert "Scenario files are checks." in done.comment


def test_an_option_of_a_tool_without_subcommands_has_one_cause_and_all_docs(
    make_repository: Make, tidegate: Make
) -> None:
    """One scenario checks the help text, the other one uses the option, whose value stands first."""
    tool = (
        "#!/usr/bin/env python3\nimport argparse\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument(\n    "-s",\n    "--start",\n    help="first day"\n)\n'
        'parser.add_argument("file")\nprint(parser.parse_args())\n'
    )
    head = "name: {}\ndescription: d\ntarget: {{binary: plot}}\n"
    task = head + "task: |-\n  ```sh\n  {}\n  ```\nevaluation:\n  gates:\n"
    words = "    - {type: command_output_words, command: plot --help, words: [-s, --start, file]}\n"
    use = "    - {type: command_succeeds, command: plot -s 2017-07-01 x}\n"
    repo = make_repository()
    repo.commit(
        {
            "bin/plot": tool,
            "tidegate.yaml": SUITE.partition("build:")[0] + "agents:\n  docs: {type: doc-follower}\n",
            "README.md": "# plot\n\n    $ plot -s 2017-07-01 x\n\n    -s, --start START  first day\n\n    grep -s x\n",
            "scenarios/help.yaml": task.format("help", "plot --help") + words,
            "scenarios/use.yaml": task.format("use", "plot -s 2017-07-01 x") + use,
        }
    )
    repo.branch("pr", {"bin/plot": tool.replace('"-s"', '"-d"').replace('"--start"', '"--date"')})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    assert cause["says"] == "`plot` no longer accepts `-s` and `--start`"
    assert [row["scenario"] for row in cause["rows"]] == ["help", "use"]
    named = [f"{place['path']}:{place['line']}" for place in [cause["still_named"], *cause["also_named"]]]
    assert named == ["README.md:3", "README.md:5"]
    assert [f"{place['path']}:{place['line']}" for place in cause["checked_in"]] == [
        "scenarios/help.yaml:10",
        "scenarios/use.yaml:6",
        "scenarios/use.yaml:10",
    ]
    assert done.comment.count("**Likely cause:**") == done.comment.count("**To fix:**") == 1


def test_a_build_that_fails_is_the_cause(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(files("option"))
    repo.branch("pr", {"broken.cfg": "x\n"})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    assert (cause["kind"], cause["says"]) == ("build", "the build fails on head: `error: cannot read broken.cfg`")


def test_a_changed_line_of_the_guide_is_the_cause_where_the_tool_did_not_change(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    repo.commit(files("option"))
    repo.branch("pr", {"AGENTS.md": GUIDE.replace("notes clear", "notes erase")})
    done = tidegate("pr", "--quiet", "--pause", "0", cwd=repo.root)
    (cause,) = done.result["causes"]
    assert cause["kind"] == "guidance"
    assert cause["says"] == "`AGENTS.md:7` now tells the agent to run `notes erase`, which fails"
    assert (cause["removed"]["text"], cause["added"]["text"]) == ("$ notes clear", "$ notes erase")
