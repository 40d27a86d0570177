"""From judged trials over a person's labels to how far the judge can be trusted, as a person does it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_judges import FEWER, JUDGED

Make = Callable[..., Any]


def tidegate(*arguments: str | Path, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tidegate", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


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


def test_a_person_labels_and_calibrates_and_later_runs_quote_it(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    # Head's three criteria come first, since they fail although the gate passed: no, no, yes, and then base's.
    done = tidegate("label", judged, "--labels", labels, cwd=tmp_path, stdin="n\nwhat?\nn\nt\ny\ny\ns\nq\n")
    assert done.returncode == 0, done.stderr
    assert "4 labelled, 2 left" in done.stdout
    assert "Both notes are kept." in done.stdout
    for told in ("Only one note is there", "0.20", "judge"):  # a person who knows what the judge thinks follows it
        assert told not in done.stdout
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


def test_later_runs_quote_it(judged: Path, make_repository: Make, tmp_path: Path) -> None:
    calibration = {"model": "scripted", "labels": 54, "agreement": 0.9, "agreement_interval": [0.8, 0.95]}
    calibration |= {"kappa": 0.78, "kappa_interval": [0.6, 0.96], "table": {}}
    repo = make_repository()
    repo.commit(JUDGED | {"tidegate.calibration.json": json.dumps(calibration)})
    repo.branch("fewer", FEWER)
    done = tidegate("pr", "--base", "main", "--out", tmp_path / "out", cwd=repo.root)
    assert done.returncode == 0, done.stderr
    assert "with people 90% (54 labels, kappa 0.78)" in (tmp_path / "out/comment.md").read_text()
    assert "not calibrated" in (judged / "comment.md").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "labels.jsonl:1: it is no JSON"),
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
