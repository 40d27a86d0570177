"""Write a trial's record: the trial itself, and a transcript to read."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.event import Event
from tidegate.model.trial import Trial
from tidegate.rubrics.transcript import line
from tidegate.trial.directories import Folders


def store_trial(folders: Folders, trial: Trial) -> None:
    """Write trial.json. If the trial has filled the disk, remove its folders first."""
    file, text = folders.record / "trial.json", trial.model_dump_json(indent=1)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError:
        folders.remove_scratch()
        file.write_text(text, encoding="utf-8")


def write_transcript(folders: Folders, events: Sequence[Event]) -> None:
    """Write transcript.txt."""
    text = "".join(f"{line(event)}\n" for event in events)
    (folders.record / "transcript.txt").write_text(text, encoding="utf-8")
