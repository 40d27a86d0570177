"""Stored trials for other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.__main__ import main

SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
agents:
  script: {type: scripted, steps: {first: [git --version, git nonsense]}}
"""
SCENARIO = "name: first\ndescription: d\ntarget: {binary: git}\ntask: Look at git.\ngates: []\n"


@pytest.fixture
def run(tmp_path: Path, make_repository: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stored run of two trials."""
    repository = make_repository("r")
    repository.commit({"tidegate.yaml": SUITE, "scenarios/first.yaml": SCENARIO})
    monkeypatch.chdir(repository.root)
    assert main(["run", "--quiet", "--trials", "2", "--out", str(tmp_path / "run")]) == 0
    return tmp_path / "run"


def test_spans_are_one_file(run: Path, tmp_path: Path) -> None:
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 0
    ((resource,),) = json.loads((tmp_path / "out" / "traces.json").read_text()).values()
    names = [span["name"] for span in resource["scopeSpans"][0]["spans"]]
    assert names.count("invoke_agent script") == 2
    assert names.count("git") == 4
