"""Runs on disk: written atomically, and refused when damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import run, trial_result
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import RunFolder, load_run


def test_a_run_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    stored = run(trial_result())
    RunFolder(tmp_path / "r").finish_run(stored)

    assert load_run(tmp_path / "r") == stored
    assert load_run(tmp_path / "r" / "run.json") == stored
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["run.json"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_run_is_written_in_parts_as_if_it_were_one(count: int, tmp_path: Path) -> None:
    """A text of the run that looks like the field `trials` does not mislead."""
    trials = (trial_result(index=number + 1, reason='a\n "trials": []\n') for number in range(count))
    stored = run(*trials, build_error='b\n "trials": []\n')
    RunFolder(tmp_path).finish_run(stored)

    assert (tmp_path / "run.json").read_text(encoding="utf-8") == stored.model_dump_json(indent=1) + "\n"


@pytest.mark.parametrize("name", ["../../escape", "a/b", "..", "sp ace", "ünï", "%2e"])
def test_any_scenario_name_is_one_folder_inside_of_the_run(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path).trial_folder(trial_result(scenario=name).spec).resolve()

    assert folder.parent.parent.parent == tmp_path / "trials"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid JSON"),
        ("{}", "Field required"),
        ('{"schema_version": 2}', "schema_version"),
    ],
)
def test_a_damaged_run_is_named_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(ConfigurationError, match=message) as caught:
        load_run(tmp_path)

    assert str(tmp_path / "run.json") in caught.value.message


def test_an_unknown_field_is_refused(tmp_path: Path) -> None:
    text = run(seconds=2.0).model_dump_json().replace('"seconds":2.0', '"seconds":2.0,"extra":1')
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(ConfigurationError, match="extra"):
        load_run(tmp_path)


def test_a_folder_without_a_run_says_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no finished run"):
        load_run(tmp_path)


def test_a_damaged_event_line_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    record = folder.trial_folder(trial_result().spec)
    record.mkdir(parents=True)
    (record / "events.jsonl").write_text('{"type":"message","text":"hi"}\nnot json\n')

    with pytest.raises(ConfigurationError, match="line 2"):
        list(folder.events(trial_result().spec))
