"""A pull request that breaks the tool is not green, whichever definition it also changes; the report says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e import test_agentv as agentv
from tests.e2e.conftest import AGENTS_MD, FILES, NOTES, SCENARIO, SUITE

Make = Callable[..., Any]
Files = dict[str, str | None]
BY_CHANGE = "passes only because the scenario was changed"
TASK = SCENARIO.partition("evaluation:")[0]
F1 = "{type: tool_f1, expected: ['notes:add', 'notes:add']}"
LINES = "{type: code_judge, name: lines, script: python3 judge.py}"
YES = 'print("{\\"score\\": 1}")\n'
JUDGE = """\
import json, os, pathlib
from counting import lines
print(json.dumps({"score": min(1, lines(pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt")) / 2)}))
"""
COUNTING = "def lines(path):\n    return len(path.read_text().splitlines())\n"


def evaluated(*evaluators: str) -> dict[str, str]:
    """The scenario with these evaluators and nothing else."""
    lines = "".join(f"    - {evaluator}\n" for evaluator in evaluators)
    return {"scenarios/keep.yaml": f"{TASK}evaluation:\n  evaluators:\n{lines}"}


SCORED = {
    **FILES,
    **evaluated(F1, LINES),
    "scenarios/judge.py": JUDGE,
    "scenarios/counting.py": COUNTING,
    ".gitignore": "__pycache__/\n",
}
ONE_NOTE = {"AGENTS.md": AGENTS_MD.replace("$ notes add first\n", "")}  # tool_f1 0.67, lines 0.5
FORGETFUL = {"bin/notes": NOTES.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')}


@pytest.fixture
def judged(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """A pull request against these files."""

    def run(base: dict[str, str], pr: Files, *more: str) -> Any:
        repo = make_repository()
        repo.commit(base)
        repo.branch("pr", pr)
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", *more, cwd=repo.root)

    return run


def said(ran: Any) -> list[str]:
    return [change["detail"] for change in ran.result["definitions"] if change["weakened"]]


@pytest.mark.parametrize(
    "pr",
    [
        evaluated(F1, LINES, *(f"{{type: code_judge, name: always{n}, script: 'true'}}" for n in range(5))),
        evaluated(F1.replace("}", ", weight: 0}"), LINES.replace("}", ", weight: 0}")),
        {**evaluated(LINES), "scenarios/judge.py": YES},
        {**evaluated(LINES.replace("judge.py", "mild.py")), "scenarios/mild.py": YES},
    ],
    ids=["five that always pass", "no weights", "one removed, the other's script edited", "another script"],
)
def test_evaluators_are_decided_as_they_were_too(judged: Make, pr: Files) -> None:
    ran = judged(SCORED, {**ONE_NOTE, **pr})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.comment
    assert said(ran)[0].startswith(f"{BY_CHANGE}: 3 of 3 trials on head; with base's checks, ")
    head = next(trial for trial in ran.result["trials"] if trial["side"] == "head")
    assert (head["outcome"], head["decides"]) == ("pass", "fail")
    assert head["reason"].startswith(f"{BY_CHANGE}; before, evaluators: case score 0.58 is below 0.8")
    assert BY_CHANGE in ran.comment


@pytest.mark.parametrize(
    ("edited", "text"), [("scenarios/judge.py", YES), ("scenarios/counting.py", "def lines(path):\n    return 2\n")]
)
def test_the_script_of_an_evaluator_is_base_s_for_base_s_definition(judged: Make, edited: str, text: str) -> None:
    """No scenario file says that a script was edited, nor what it imports."""
    base = {**SCORED, **evaluated(LINES)}
    ran = judged(base, {**ONE_NOTE, edited: text})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed")
    by_change, files = said(ran)
    assert by_change.startswith(f"{BY_CHANGE}: 3 of 3 trials on head; with base's checks, ")
    assert files == f"files of its evaluators: {edited}"


def test_an_edited_script_alone_waits_for_somebody_to_accept_it(judged: Make) -> None:
    """Also where it is all that changed, and no part of the subject."""
    base = {**SCORED, "tidegate.yaml": SUITE + "watch: [bin/**]\n"}
    ran = judged(base, {"scenarios/judge.py": JUDGE + "# edited\n"})

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "weakened_check")
    assert (ran.row("keep_notes")["state"], said(ran)) == ("ok", ["files of its evaluators: scenarios/judge.py"])


def test_other_files_beside_a_script_are_no_part_of_it(judged: Make) -> None:
    ran = judged(SCORED, {"scenarios/README.md": "x\n", "bin/notes": NOTES + "# x\n"})

    assert (ran.code, ran.result["definitions"]) == (0, [])
    assert {trial["case_score"] for trial in ran.result["trials"]} == {1}


def test_what_evaluators_are_told_is_base_s_too(judged: Make) -> None:
    easier = {
        "evals/research.yaml": agentv.EVALS.replace("content: moon", "content: sun"),
        "evals/agent.py": agentv.AGENT.replace("The moon", "The sun"),
    }
    ran = judged(agentv.FILES, easier)

    assert ran.code == 1, ran.stderr
    assert said(ran)[0].startswith(BY_CHANGE)
    assert "case" in said(ran)


HIDDEN: dict[str, tuple[dict[str, str], Files, str]] = {
    "a gate that nothing can pass": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "    - {type: file_exists, path: nowhere}\n"},
        "passes on neither side since it was changed",
    ),
    "no time": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO + "run: {timeout_secs: 0.001}\n"},
        "passes on neither side since it was changed",
    ),
    "an agent that does nothing": (
        FILES,
        {"tidegate.yaml": SUITE.replace("type: doc-follower", "type: scripted, steps: {}")},
        "passes on neither side since it was changed",
    ),
    "a setup that base does not have": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: [ready]}\n" + SCENARIO, "bin/ready": "#!/bin/sh\n"},
        "cannot be run on base since it was changed, and passes in no trial on head",
    ),
    "a setup that does the task": (
        FILES,
        {"scenarios/keep.yaml": "setup: {commands: [printf 'first\\nsecond\\n' > notes.txt]}\n" + SCENARIO},
        "setup",
    ),
    "a template that has the result": (
        {
            **FILES,
            "scenarios/state/readme": "",
            "scenarios/keep.yaml": SCENARIO.replace("target:", "template_folder: state\ntarget:"),
        },
        {"scenarios/state/notes.txt": "first\nsecond\n"},
        "files of its template: scenarios/state/notes.txt",
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
        "files of its template: scenarios/state/check.sh",
    ),
    "a health check less": (
        FILES,
        {"scenarios/keep.yaml": SCENARIO.replace(", health_check: notes --version", "")},
        "target",
    ),
    "another id": (FILES, {"scenarios/keep.yaml": SCENARIO.replace("keep_notes", "kept")}, "scenario removed"),
    "a glob that misses it": (
        FILES,
        {"scenarios/other.yaml": SCENARIO.replace("keep_notes", "other"), "tidegate.yaml": SUITE.replace("/*", "/o*")},
        "scenario removed",
    ),
    "an agent of another type": (
        FILES,
        {
            "tidegate.yaml": SUITE.replace(
                "type: doc-follower",
                "type: command, deterministic: true, command: \"printf 'first\\\\nsecond\\\\n' > notes.txt\"",
            )
        },
        "agent docs: type, deterministic, run_all, command, output, stdin",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_definition_that_hides_what_is_broken_is_not_green(judged: Make, name: str) -> None:
    base, pr, why = HIDDEN[name]
    ran = judged(base, {**FORGETFUL, **pr})

    assert ran.code == 1, ran.stderr + ran.comment
    assert any(detail.startswith(why) for detail in said(ran)), said(ran)


@pytest.mark.parametrize(
    ("more", "option"), [("tags: [slow]\n", ("--tags", "fast")), ("tags: [fast]\ntier: 3\n", ("--tier", "0"))]
)
def test_a_scenario_cannot_leave_the_selection_in_silence(judged: Make, more: str, option: tuple[str, str]) -> None:
    tagged = SCENARIO + "tags: [fast]\ntier: 0\n"
    pr = {"scenarios/keep.yaml": SCENARIO + more, "scenarios/other.yaml": tagged.replace("keep_notes", "other")}
    ran = judged({**FILES, "scenarios/keep.yaml": tagged}, {**pr, "AGENTS.md": AGENTS_MD + "x\n"}, *option)

    assert (ran.code, said(ran)) == (1, ["it is not among the scenarios that are run any more"])


@pytest.mark.parametrize(
    "pr",
    [
        {"tidegate.yaml": SUITE + "watch: [nothing/**]\n"},
        {"tidegate.yaml": SUITE.replace("[bin]", "[bin2]"), "bin2/notes": FORGETFUL["bin/notes"]},
        {"tidegate.yaml": SUITE + 'build: ["test -f marker"]\n', "marker": ""},
        {"tidegate.yaml": SUITE + "budget: {trials: 1}\ntrials: {max: 1}\npolicy: {agents: [], block: []}\n"},
        {"scenarios/keep.yaml": None, "scenarios/moved.yaml": SCENARIO},
    ],
    ids=["subject", "path", "build", "rules", "moved"],
)
def test_what_is_broken_is_found_whatever_the_suite_says_now(judged: Make, pr: Files) -> None:
    """`build` and `path` are each side's own: base is built as base says."""
    ran = judged(FILES, {**FORGETFUL, **pr})

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed"), ran.comment
    assert ran.row("keep_notes")["base"]["passes"] == 2


def test_guidance_is_read_where_base_s_globs_say_until_the_merge(judged: Make) -> None:
    ran = judged(FILES, {**ONE_NOTE, "tidegate.yaml": SUITE + "guidance: []\n"})

    assert (ran.code, ran.row("keep_notes")["state"], said(ran)) == (1, "regressed", [])
