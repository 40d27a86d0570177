"""Stored trials measured again, and results of other tools imported, without running an agent."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES
from tests.warm import run_tidegate

Make = Callable[..., Any]
JUDGE = """\
import json, os, pathlib, sys
notes = pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text()
print(json.dumps({"score": float("WORD" in notes)}))
"""
EVALUATORS = "  evaluators: [{type: code_judge, script: python3 judge.py}]\n"
SCENARIO = FILES["scenarios/keep.yaml"]
SUITE = FILES | {"scenarios/keep.yaml": SCENARIO + EVALUATORS, "scenarios/judge.py": JUDGE.replace("WORD", "second")}


@pytest.fixture(scope="module")
def template(shared_path: Path) -> Path:
    """A repository and a run of it, in which everything passed."""
    repo = Repository(shared_path / "repo")
    repo.commit(SUITE)
    ran = run_tidegate("run", "--out", "run", cwd=repo.root)
    assert ran.returncode == 0, ran.stderr
    return repo.root


@pytest.fixture
def stored(template: Path, tmp_path: Path) -> tuple[Repository, Path]:
    """A copy of them, which the test may change."""
    repo = Repository(tmp_path / "repo", template)
    return repo, repo.root / "run"


def outcomes(run: Path) -> list[tuple[str | None, str]]:
    return [(trial["outcome"], trial["reason"]) for trial in json.loads((run / "run.json").read_text())["trials"]]


def test_the_same_suite_gives_the_same_outcomes(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, run = stored
    done = tidegate("regrade", "run", cwd=repo.root)
    assert (done.code, done.stdout.splitlines()[0]) == (0, "0 of 1 trials have another outcome."), done.stderr
    assert outcomes(repo.root / "run-regraded") == outcomes(run) == [("pass", outcomes(run)[0][1])]


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("substring: first", "substring: third", "fail"),  # decided on the file as it was read then
        ("pattern: second", "pattern: '^third$'", "fail"),  # and on what the command printed then
        ("path: notes.txt", "path: other.txt", None),  # nobody has looked there
        ("command: notes list", "command: notes count", None),
    ],
)
def test_gates_are_decided_on_what_was_found_out_then(
    stored: tuple[Any, Path], tidegate: Make, old: str, new: str, outcome: str | None
) -> None:
    repo, _ = stored
    repo.write({"scenarios/keep.yaml": SUITE["scenarios/keep.yaml"].replace(old, new)})
    done = tidegate("regrade", "run", "--out", "again", cwd=repo.root)
    assert done.stdout.startswith("1 of 1 trials have another outcome."), done.stderr
    assert outcomes(repo.root / "again")[0][0] == outcome


def test_scripts_run_again_beside_the_workspace_as_it_was_left(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, _ = stored
    repo.write({"scenarios/judge.py": JUDGE.replace("WORD", "third")})
    done = tidegate("regrade", "run", cwd=repo.root)
    assert "keep_notes × docs #1: pass → fail: case score 0.00 is below 0.8" in done.stdout


def test_a_script_that_runs_again_gets_the_model_of_the_agent_that_ran(make_repository: Make, tidegate: Make) -> None:
    judge = 'import json, os\nprint(json.dumps({"score": float(os.environ["TIDEGATE_MODEL"] == "lab/m-1")}))\n'
    suite = FILES["tidegate.yaml"].replace("doc-follower}", "doc-follower, model: lab/m-1}")
    repo = make_repository()
    repo.commit(SUITE | {"tidegate.yaml": suite, "scenarios/judge.py": judge})
    ran = tidegate("run", "--out", "run", cwd=repo.root)
    assert ran.code == 0, ran.stderr

    tidegate("regrade", "run", cwd=repo.root)

    assert outcomes(repo.root / "run-regraded") == outcomes(repo.root / "run")


def test_a_workspace_that_cannot_be_made_again_is_not_measured(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, _ = stored
    repo.write({"scenarios/keep/notes.txt": "already here\n"})  # a template, into which the change does not fit
    done = tidegate("regrade", "run", cwd=repo.root)
    assert "pass → not measured: evaluator code_judge: nothing was found out for it" in done.stdout


def test_a_workspace_that_was_lost_is_not_taken_for_an_unchanged_one(make_repository: Make, tidegate: Make) -> None:
    """Its folders lie so deep that the system opens no path that long: what is in them cannot be kept."""
    deep = "name=$(printf '%080d' 0); for n in $(seq 60); do mkdir -p $name; cd $name; done; exit;"
    digging = FILES["bin/notes"].replace("  add) shift;", f"  add) {deep}")
    repo = make_repository()
    repo.commit({**SUITE, "bin/notes": digging, "scenarios/judge.py": "print('{\"score\": 0}')\n"})
    ran = tidegate("run", "--out", "run", cwd=repo.root)
    assert ran.code == 1, ran.stderr
    kept = [line for line in SCENARIO.splitlines(keepends=True) if "path: " not in line and "pattern: " not in line]
    repo.write({"scenarios/keep.yaml": "".join(kept).replace("  gates:\n", "") + EVALUATORS})

    done = tidegate("regrade", "run", cwd=repo.root)

    assert "fail → not measured: evaluator code_judge: nothing was found out for it" in done.stdout, done.stderr


def test_both_runs_can_be_compared(stored: tuple[Any, Path], tidegate: Make) -> None:
    """One trial on each side, 1/1 and 0/1, is too few to confirm a regression: the verdict is inconclusive."""
    repo, _ = stored
    repo.write({"scenarios/keep.yaml": SUITE["scenarios/keep.yaml"].replace("substring: first", "substring: third")})
    tidegate("regrade", "run", cwd=repo.root)
    done = tidegate("compare", "run", "run-regraded", cwd=repo.root)
    assert done.code == 5, done.stderr
    assert "keep_notes" in done.stdout


def test_a_scenario_that_is_gone_is_said(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, _ = stored
    repo.write({"scenarios/keep.yaml": SCENARIO.replace("name: keep_notes", "name: other")})
    done = tidegate("regrade", "run", cwd=repo.root)
    assert "keep_notes: the suite has no such scenario, so its trials are as they were" in done.stdout


ASKED = """\
import json, pathlib, sys
question = sys.stdin.read()
with pathlib.Path(sys.argv[1]).open("a") as calls:
    calls.write("asked\\n")
score = 0.9 if "Both notes are kept" in question else 0.3
print(json.dumps({"scores": [{"id": "kept", "reason": "So it is.", "score": score}]}))
"""
RUBRIC = "criteria: [{id: kept, weight: 1, description: Both notes are kept.}]\n"


@pytest.fixture
def judged(make_repository: Make, tidegate: Make, tmp_path: Path) -> tuple[Any, Path]:
    """A repository with a stored run whose only trial a program has judged, and the file with a line for each call."""
    calls = tmp_path / "calls.txt"
    judge = f"judge: {{type: command, samples: 2, command: python3 judge.py {calls}}}\n"
    repo = make_repository()
    repo.commit(
        FILES
        | {
            "tidegate.yaml": FILES["tidegate.yaml"] + judge,
            "scenarios/keep.yaml": SCENARIO + "  judge: {rubric: rubric.yaml}\n",
            "rubric.yaml": RUBRIC,
            "judge.py": ASKED,
        }
    )
    ran = tidegate("run", "--trials", "1", "--out", "run", cwd=repo.root)
    assert ran.code == 0, ran.stderr
    assert calls.read_text().count("asked") == 2
    return repo, calls


def test_what_the_judge_has_answered_is_not_asked_again(judged: tuple[Any, Path], tidegate: Make) -> None:
    repo, calls = judged
    assert tidegate("regrade", "run", cwd=repo.root).code == 0
    (trial,) = json.loads((repo.root / "run-regraded/run.json").read_text())["trials"]
    assert (trial["outcome"], trial["judge"]["weighted_score"]) == ("pass", 0.9)
    assert (trial["judge_use"]["calls"], trial["judge_use"]["cached"]) == (0, 2)
    assert calls.read_text().count("asked") == 2


def test_a_rubric_that_was_changed_is_asked_anew(judged: tuple[Any, Path], tidegate: Make) -> None:
    repo, calls = judged
    repo.write({"rubric.yaml": RUBRIC.replace("Both notes are kept.", "Each note says why.")})
    assert tidegate("regrade", "run", cwd=repo.root).code == 0
    (trial,) = json.loads((repo.root / "run-regraded/run.json").read_text())["trials"]
    assert (trial["outcome"], trial["judge"]["weighted_score"]) == ("fail", 0.3)
    assert (trial["judge_use"]["calls"], trial["judge_use"]["cached"]) == (2, 0)
    assert calls.read_text().count("asked") == 4


def test_bad_ends(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, _ = stored
    assert tidegate("regrade", "nothing", cwd=repo.root).code == 2
    (repo.root / "full").mkdir()
    (repo.root / "full/file").touch()
    done = tidegate("regrade", "run", "--out", "full", cwd=repo.root)
    assert (done.code, "full is not an empty folder" in done.stderr) == (2, True)


def test_what_pr_wrote_can_be_shown_regraded_and_written_again(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": FILES["bin/notes"] + "# other\n"})
    assert tidegate("pr", "--base", "main", cwd=repo.root).code == 0

    assert tidegate("show", "../out", cwd=repo.root).code == 0
    assert "keep_notes" in tidegate("show", "../out", "keep_notes", cwd=repo.root).stdout

    assert tidegate("regrade", "../out/runs/head", cwd=repo.root).code == 0
    again = tidegate("pr", "--base", "main", cwd=repo.root)
    assert again.code == 0, again.stderr


def test_a_single_run_fails_where_a_trial_does(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({**FILES, "AGENTS.md": "Nothing to run.\n"})

    assert tidegate("run", cwd=repo.root).code == 1
    assert tidegate("run", "--history", "--rev", "HEAD", "--out", "base", cwd=repo.root).code == 0


CURIOUS = """\
import json, pathlib, socket
tried = []
for name in ("ROOT/AGENTS.md", "ROOT/.git/config"):
    try:
        pathlib.Path(name).open("a" if name.endswith(".md") else "r").close()
        tried.append(name)
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", PORT), 2).close()
    tried.append("the network")
except OSError:
    pass
print(json.dumps({"score": float(not tried), "reasoning": f"it got through: {tried}"}))
"""


def test_scripts_are_confined_as_in_a_trial(stored: tuple[Any, Path], tidegate: Make) -> None:
    repo, run = stored
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = CURIOUS.replace("ROOT", str(repo.root)).replace("PORT", str(server.getsockname()[1]))
        suite = SUITE["tidegate.yaml"] + "network: {gates: false}\n"
        repo.write({"scenarios/judge.py": script, "tidegate.yaml": suite})
        done = tidegate("regrade", "run", cwd=repo.root)

    assert outcomes(repo.root / "run-regraded") == outcomes(run), done.stderr
