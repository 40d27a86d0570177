"""`tidegate label` and `tidegate calibrate`, as a person runs them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.test_judges import FEWER, JUDGED
from tests.packed import page_data
from tests.warm import run_tidegate as tidegate
from tidegate.decide.trust import trust
from tidegate.model.judge_result import Calibration
from tidegate.reports.judge_summary import calibrated as said_of


@pytest.fixture(scope="module")
def judged(shared_path: Path) -> Path:
    """What `tidegate pr` wrote: base met everything; head nothing, by the judge."""
    from tests.conftest import Repository

    repo = Repository(shared_path / "repo")
    repo.commit(JUDGED)
    repo.branch("fewer", FEWER)
    done = tidegate("pr", "--base", "main", "--out", repo.root.parent / "out", cwd=repo.root)
    assert done.returncode == 0, done.stderr
    return repo.root.parent / "out"


def test_a_person_labels_and_calibrates(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    # Head's three criteria come first, since they fail although the gate passed: no, no, yes, and then base's.
    done = tidegate("label", judged, "--labels", labels, cwd=tmp_path, stdin="n\nwhat?\nn\nt\ny\ny\ns\nq\n")
    assert done.returncode == 0, done.stderr
    assert "4 labelled, 2 left" in done.stdout
    assert "Both notes are kept." in done.stdout
    assert "task: Add two notes as AGENTS.md says." in done.stdout
    for told in ("Only one note is there", "0.20", "judge", "✗ fail"):  # who knows what the judge thinks follows it
        assert told not in done.stdout
    assert "head/" not in done.stdout  # nor does it matter which side it is
    assert f"next: tidegate calibrate {labels} --run {judged}" in done.stdout
    written = [json.loads(line) for line in labels.read_text().splitlines()]
    assert [line["verdict"] for line in written] == ["unmet", "unmet", "met", "met"]
    assert [line["trial"].split("/")[0] for line in written] == ["head", "head", "head", "base"]

    again = tidegate("label", judged, "--labels", labels, cwd=tmp_path)
    assert "0 labelled, 2 left" in again.stdout

    done = tidegate("calibrate", labels, "--run", judged, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "tidegate.calibration.json").read_text())
    # person: unmet, unmet, met, met; judge: unmet, unmet, unmet, met
    assert found["table"] == {"met/met": 1, "met/unmet": 1, "unmet/met": 0, "unmet/unmet": 2}
    assert found["agreement"] == 0.75
    assert found["kappa"] == pytest.approx(0.5)  # (.75 − .5) / (1 − .5)
    (other,) = found["disagreements"]
    assert (other["person"], other["judge"]) == ("met", "unmet")
    assert "agrees with people in 75%" in done.stdout
    assert "kappa 0.50 (moderate" in done.stdout
    assert "fewer than 50 labels" in done.stdout


def test_a_slip_is_mended_by_going_back(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    done = tidegate("label", judged, "--labels", labels, cwd=tmp_path, stdin="b\nn\nb\ny\nq\n")
    assert done.stdout.count("1 of 6") == 3
    assert "1 labelled, 5 left" in done.stdout
    verdicts = [json.loads(line)["verdict"] for line in labels.read_text().splitlines()]
    assert verdicts == ["unmet", "met"]  # the later one counts


def test_what_an_agent_said_cannot_write_to_the_terminal_itself(judged: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(judged, out)
    events = out / "runs/head/trials/keep_notes/docs/1/events.jsonl"
    said = {"type": "message", "text": "\x1b[2J\x1b]0;title\x07 all \u202egood\n" + "line\n" * 40}
    events.write_text(events.read_text() + json.dumps(said) + "\n")
    done = tidegate("label", out, cwd=tmp_path, stdin="t\nq\n")
    assert "more lines above" in done.stdout
    assert "all [U+202E]good" in done.stdout
    assert not set("\x1b\x07\u202e") & set(done.stdout)


def quoted(judged: Path, folder: Path, files: dict[str, str]) -> str:
    """What a later run says of the calibration; base has these files too."""
    from tests.conftest import Repository

    repo = Repository(folder / "repo")
    repo.commit(JUDGED | files)
    repo.branch("fewer", FEWER)
    done = tidegate("pr", "--base", "main", "--out", folder / "out", cwd=repo.root)
    assert done.returncode == 0, done.stderr
    comment = (folder / "out/comment.md").read_text()
    assert "calibrat" in json.dumps(page_data((folder / "out/report.html").read_text()))
    return comment.partition("**judge** ")[2].partition("</sub>")[0].rpartition(" · ")[2]


@pytest.fixture(scope="module")
def calibrated(judged: Path, shared_path: Path) -> str:
    """The calibration that a person has made, with labels of all three criteria."""
    labels = shared_path / "labels.jsonl"
    verdicts = {"complete": "met", "clear": "unmet", "direct": "unmet"}
    lines = [{"trial": "head/keep_notes/docs/1", "criterion": name, "verdict": said} for name, said in verdicts.items()]
    lines.append({"trial": "base/keep_notes/docs/1", "criterion": "complete", "verdict": "met"})
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = tidegate("calibrate", labels, "--run", judged, cwd=shared_path)
    assert done.returncode == 0, done.stderr
    return (shared_path / "tidegate.calibration.json").read_text()


def test_later_runs_quote_it(judged: Path, calibrated: str, tmp_path: Path) -> None:
    assert "not calibrated" in (judged / "comment.md").read_text()
    said = quoted(judged, tmp_path, {"tidegate.calibration.json": calibrated})
    assert said == "agrees with people 75% (kappa 0.50), calibrated on 4 labels of these criteria"


def told(calibration: Mapping[str, Any], model: str, wordings: Collection[str]) -> str:
    """What reports say of a judge with that model and criteria of these wordings."""
    return said_of(trust(Calibration.model_validate(calibration), model, wordings))


def test_a_reworded_criterion_has_no_labels_any_more(calibrated: str) -> None:
    """Only those of the others are quoted: of `complete`, one of two; the two others agreed."""
    found = json.loads(calibrated)
    wordings = ["0" * 64 if one["criterion"] == "direct" else one["wording"] for one in found["criteria"]]
    assert told(found, found["model"], wordings) == (
        "agrees with people 67% (kappa 0.40), calibrated on 3 labels of 2 of these criteria; 1 criterion has none"
    )


@pytest.mark.parametrize("what", ["model", "words", "format"])
def test_a_calibration_of_something_else_is_not_quoted(what: str, calibrated: str) -> None:
    found = json.loads(calibrated)
    model, wordings = found["model"], [one["wording"] for one in found["criteria"]]
    if what == "format":  # of a version that did not write it
        for criterion in found["criteria"]:
            del criterion["wording"], criterion["table"]
    said = told(found, "another" if what == "model" else model, ["0" * 64] if what == "words" else wordings)
    assert said == "not calibrated for these criteria: the labels are of others, or of another model"


def test_two_runs_with_the_same_trials_are_refused(judged: Path, tmp_path: Path) -> None:
    """Whose label would it be?"""
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"trial": "head/keep_notes/docs/1", "criterion": "clear", "verdict": "met"}\n')
    done = tidegate("calibrate", labels, "--run", judged, "--run", judged, cwd=tmp_path)
    assert done.returncode == 2
    assert "base/keep_notes/docs/1 is a trial of two of the runs" in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "labels.jsonl:1: it is not JSON"),
        ('{"trial": "a", "criterion": "b", "verdict": "maybe"}', "labels.jsonl:1: verdict: "),
        ('{"trial": "a", "criterion": "b"}', "labels.jsonl:1: verdict: Field required"),
        ('{"trial": "a", "criterion": "b", "verdict": true}', "none of the 1 labels is of something"),
    ],
)
def test_labels_that_say_nothing(line: str, said: str, judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(line + "\n")
    done = tidegate("calibrate", labels, "--run", judged, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "tidegate.calibration.json").exists()
