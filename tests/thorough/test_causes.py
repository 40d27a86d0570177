"""Each kind of cause, found from real calls of a small tool: one repository, one breaking change for each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tidegate.model.cause import Cause
from tidegate.reports.cause_text import says

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
# Further checks, for changes that leave the agent's work unharmed.
GATES = {
    "json_key": 'test "$(notes show --json)" = \'{"id": 1, "tag": "work"}\'',
    "output": "test \"$(notes show)\" = '1. last'",
    "exit_code": "notes clear",
    "crash": "notes clear",
}
CHANGES = {
    "option": ('"--tag", default', '"--label", dest="tag", default'),
    "subcommand": ('add_parser("clear")', 'add_parser("purge")'),
    "json_key": ('"tag": note["tag"]}) if', '"label": note["tag"]}) if'),
    "exit_code": (
        '    print(f"removed {count} notes")\n    return 0',
        '    print(f"removed {count} notes")\n    return 7',
    ),
    "output": ("f\"{number}. {note['text']}\"", "f\"#{number} {note['text']}\""),
    "prompt": ("    count = len(load())", '    count = len(load())\n    input("Remove all notes? [y/N] ")'),
    "hang": ("    count = len(load())", "    count = len(load())\n    time.sleep(600)"),
    "crash": ('f"removed {count} notes"', 'f"removed {total} notes"'),
}
SAYS = {
    "option": "`notes add` no longer accepts `--tag`; `--label` is new",
    "subcommand": "`notes` no longer has the command `clear`; `purge` is new",
    "json_key": "the JSON of `notes show --json` has the key `label` instead of `tag`",
    "exit_code": "`notes clear` now exits with status 7 (was 0)",
    "output": "`notes show` prints `#1 first` instead of `1. first`",
    "prompt": "`notes clear` now waits for input: `Remove all notes? [y/N]`",
    "hang": "`notes clear` timed out after",
    "crash": "`notes clear` crashes: `NameError: name 'total' is not defined`",
}


def files(kind: str) -> dict[str, str]:
    gate = f"    - {{type: command_succeeds, command: {json.dumps(GATES[kind])}}}\n" if kind in GATES else ""
    return {"bin/notes": TOOL, "tidegate.yaml": SUITE, "scenarios/keep.yaml": SCENARIO + gate, "AGENTS.md": GUIDE}


def sentence(cause: dict[str, Any]) -> str:
    return says(Cause.model_validate(cause))


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_of_the_tool_is_named_in_the_first_lines(pull_request: Make, kind: str) -> None:
    old, new = CHANGES[kind]
    assert TOOL.count(old) == 1
    done = pull_request(files(kind), {"bin/notes": TOOL.replace(old, new)})
    assert done.code == 1, done.stdout + done.stderr
    (cause,) = done.result["causes"]
    assert cause["kind"] == kind
    assert sentence(cause).startswith(SAYS[kind])
    changed = cause["edits"][0]["added"] or cause["edits"][0]["removed"]
    assert changed["path"] == "bin/notes"
    assert new.splitlines()[-1].strip().split("(")[0] in changed["text"]
    heading, first = [line for line in done.comment.splitlines() if line][:2]
    assert heading.startswith("## ❌")
    assert first.startswith("**Likely cause:** ")
    assert f"bin/notes:{changed['line']}" in first


def test_docs_that_still_use_what_is_gone_are_named(pull_request: Make) -> None:
    done = pull_request(files("option"), {"bin/notes": TOOL.replace(*CHANGES["option"])})
    (cause,) = done.result["causes"]
    assert cause["still_named"] == [
        {"side": "head", "path": "AGENTS.md", "line": 4, "text": "$ notes add --tag work first"},
        {"side": "head", "path": "AGENTS.md", "line": 8, "text": "$ notes add --tag work last"},
    ]
    changed = cause["edits"][0]["added"]["line"]
    fix = f"update `AGENTS.md:4` and `AGENTS.md:8`, which still use `--tag`, or revert `bin/notes:{changed}`."
    assert f"**To fix:** {fix}" in done.comment
    assert "**What to do:**" not in done.comment


def test_each_guide_that_still_uses_what_is_gone_is_named(pull_request: Make) -> None:
    """Two scenarios with a guide of their own, one cause: the lines of both are to be updated."""
    names = ("first", "second")
    guides = {f"scenarios/{name}/AGENTS.md": GUIDE for name in names}
    rows = {f"scenarios/{name}.yaml": SCENARIO.replace("keep_notes", name) for name in names}
    done = pull_request(
        {"bin/notes": TOOL, "tidegate.yaml": SUITE, "README.md": "notes add --tag home x\n", **guides, **rows},
        {"bin/notes": TOOL.replace(*CHANGES["option"])},
    )
    (cause,) = done.result["causes"]
    places = [f"{place['path']}:{place['line']}" for place in cause["still_named"]]
    both = [f"scenarios/{name}/AGENTS.md:{line}" for name in names for line in (4, 8)]
    assert places == [*both, "README.md:1"]
    assert "and `README.md:1`, which still use `--tag`" in done.comment


def test_docs_come_before_the_lines_of_scenarios_which_are_checks(pull_request: Make) -> None:
    gate = "    - {type: command_succeeds, command: notes show --json}\n"
    scenario = SCENARIO.replace("Follow AGENTS.md.", "Follow AGENTS.md, and notes show --json.") + gate
    done = pull_request(
        {**files("option"), "scenarios/keep.yaml": scenario},
        {"bin/notes": TOOL.replace('"--json"', '"--raw", dest="json"')},
    )
    (cause,) = done.result["causes"]
    assert (cause["still_named"][0]["path"], cause["still_named"][0]["line"]) == ("AGENTS.md", 6)
    assert [(place["path"], place["line"]) for place in cause["checked_in"]] == [
        ("scenarios/keep.yaml", 4),
        ("scenarios/keep.yaml", 10),
    ]
    fix = next(line for line in done.comment.splitlines() if line.startswith("**To fix:**"))
    assert fix.index("AGENTS.md:6") < fix.index("scenarios/keep.yaml:4") < fix.index("scenarios/keep.yaml:10")
    assert fix.endswith("if the change is intended, edit them too, and have a maintainer accept it.")
    assert "files that define scenarios are checks" in done.comment


def test_an_option_of_a_tool_without_subcommands_has_one_cause_and_all_docs(pull_request: Make) -> None:
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
    done = pull_request(
        {
            "bin/plot": tool,
            "tidegate.yaml": SUITE.partition("build:")[0] + "agents:\n  docs: {type: doc-follower}\n",
            "README.md": "# plot\n\n    $ plot -s 2017-07-01 x\n\n    -s, --start START  first day\n\n    grep -s x\n",
            "scenarios/help.yaml": task.format("help", "plot --help") + words,
            "scenarios/use.yaml": task.format("use", "plot -s 2017-07-01 x") + use,
        },
        {"bin/plot": tool.replace('"-s"', '"-d"').replace('"--start"', '"--date"')},
    )
    (cause,) = done.result["causes"]
    assert sentence(cause) == "`plot` no longer accepts `--start` or `-s`; `--date` and `-d` are new"
    assert [row["scenario"] for row in cause["rows"]] == ["help", "use"]
    named = [f"{place['path']}:{place['line']}" for place in cause["still_named"]]
    assert named == ["README.md:3", "README.md:5"]
    assert [f"{place['path']}:{place['line']}" for place in cause["checked_in"]] == [
        "scenarios/help.yaml:10",
        "scenarios/use.yaml:6",
        "scenarios/use.yaml:10",
    ]
    assert done.comment.count("**Likely cause:**") == done.comment.count("**To fix:**") == 1


def test_a_build_that_fails_is_the_cause(pull_request: Make) -> None:
    done = pull_request(files("option"), {"broken.cfg": "x\n"})
    (cause,) = done.result["causes"]
    assert (cause["kind"], sentence(cause)) == ("build", "the build fails on head: `error: cannot read broken.cfg`")


def test_a_changed_line_of_the_guide_is_the_cause_where_the_tool_did_not_change(pull_request: Make) -> None:
    done = pull_request(files("option"), {"AGENTS.md": GUIDE.replace("notes clear", "notes erase")})
    (cause,) = done.result["causes"]
    assert cause["kind"] == "guidance"
    assert sentence(cause) == "`AGENTS.md:7` now tells the agent to run `notes erase`, which fails"
    (edit,) = cause["edits"]
    assert (edit["removed"]["text"], edit["added"]["text"]) == ("$ notes clear", "$ notes erase")


COUNTED = """\
#!/usr/bin/env python3
import argparse, json, pathlib, sys
parser = argparse.ArgumentParser(prog="store")
commands = parser.add_subparsers(dest="command", required=True)
one = commands.add_parser("put")
one.add_argument("--count", type=int, default=1)
two = commands.add_parser("take")
two.add_argument("--count", type=int, default=1)
args = parser.parse_args()
file = pathlib.Path("stock.json")
stock = json.loads(file.read_text())["stock"] if file.exists() else 0
stock += args.count if args.command == "put" else -args.count
file.write_text(json.dumps({"stock": stock}))
print(stock)
"""
STORE = """\
name: keep_stock
description: Things are put in and taken out.
target: {binary: store}
task: Follow AGENTS.md.
evaluation:
  gates: [{type: file_contains, path: stock.json, substring: '"stock": 7'}]
"""
COUNT_GUIDE = "# Store\n\n```console\n$ store put --count 10\n$ store take --count 3\n```\n"


def store(guide: str = COUNT_GUIDE) -> dict[str, str]:
    suite = "version: 1\nscenarios: [keep.yaml]\npath: [bin]\nagents: {docs: {type: doc-follower}}\n"
    return {"bin/store": COUNTED, "tidegate.yaml": suite, "keep.yaml": STORE, "AGENTS.md": guide}


def test_every_subcommand_that_lost_an_option_and_each_of_its_places_are_named(pull_request: Make) -> None:
    renamed = COUNTED.replace('"--count"', '"--amount", dest="count"')
    done = pull_request(store(), {"bin/store": renamed})
    (cause,) = done.result["causes"]
    assert sentence(cause) == "`store put` and `store take` no longer accept `--count`; `--amount` is new"
    assert [place["line"] for place in cause["still_named"]] == [4, 5]
    assert [edit["added"]["line"] for edit in cause["edits"]] == [6, 8]


def test_a_line_that_follows_the_advice_is_not_blamed(pull_request: Make) -> None:
    """One of two places is updated: the other one is what is left to do."""
    renamed = COUNTED.replace('"--count"', '"--amount", dest="count"')
    half = COUNT_GUIDE.replace("put --count", "put --amount")
    done = pull_request(store(), {"bin/store": renamed, "AGENTS.md": half})
    (cause,) = done.result["causes"]
    assert sentence(cause) == "`store take` no longer accepts `--count`; `--amount` is new"
    assert [(place["path"], place["line"]) for place in cause["still_named"]] == [("AGENTS.md", 5)]


def test_a_guide_that_shows_what_head_accepts_is_no_cause(pull_request: Make) -> None:
    broken = COUNTED.replace('"--count"', '"--amount", dest="count"').replace("-args.count", "-args.count * 2")
    done = pull_request(store(), {"bin/store": broken, "AGENTS.md": COUNT_GUIDE.replace("--count", "--amount")})
    assert done.code == 1
    assert not any(cause["kind"] == "guidance" for cause in done.result["causes"])
    assert "revert `AGENTS.md" not in done.comment


def test_a_key_that_only_a_check_reads_is_named_with_the_new_one(pull_request: Make) -> None:
    """Scenario files have `tag:` keys of their own, which are no places of the tool's key."""
    gate = "- {type: command_json_path, command: notes show --json, path: $.tag, assertion: equals work}"
    scenario = SCENARIO.partition("    - {")[0] + f"    {gate}\n"
    guide = GUIDE.replace("$ notes show --json\n", "").replace("$ notes clear\n$ notes add --tag work last\n", "")
    done = pull_request(
        {**files("option"), "scenarios/keep.yaml": f"{scenario}tags: [tag]\n", "AGENTS.md": guide},
        {"bin/notes": TOOL.replace(*CHANGES["json_key"])},
    )
    (cause,) = done.result["causes"]
    assert sentence(cause) == "the JSON of `notes show --json` has the key `label` instead of `tag`"
    assert [place["text"] for place in cause["checked_in"]] == [gate]


def test_a_status_that_only_looks_like_a_signal_is_an_exit_status(pull_request: Make) -> None:
    done = pull_request(
        {**files("exit_code")}, {"bin/notes": TOOL.replace(*CHANGES["exit_code"]).replace("return 7", "return 255")}
    )
    (cause,) = done.result["causes"]
    assert sentence(cause).startswith("`notes clear` now exits with status 255 (was 0)")


def test_a_call_that_fails_on_head_is_told_although_all_checks_pass(pull_request: Make) -> None:
    done = pull_request({**files("option")}, {"bin/notes": TOOL.replace(*CHANGES["exit_code"])})
    assert done.code == 0
    says = "`notes clear` now exits with status 7 (was 0)"
    assert f"**Fails, although all checks pass:** {says}" in done.comment


def test_calls_that_fail_alike_on_base_are_not_listed_as_failures_of_head(pull_request: Make) -> None:
    done = pull_request(
        {**files("option"), "AGENTS.md": GUIDE.replace("$ notes show\n", '$ notes add " "\n$ notes show\n')},
        {"bin/notes": TOOL.replace(*CHANGES["subcommand"])},
    )
    (row,) = done.result["rows"]
    assert [call["command"] for call in row["evidence"]["calls"]] == ["notes clear", "notes clear --help"]
