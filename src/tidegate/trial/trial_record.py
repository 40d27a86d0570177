"""Write a trial's record: the trial itself, and a transcript to read."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.event import Event
from tidegate.model.trial import Trial
from tidegate.rubrics.work import line
from tidegate.trial.directories import Folders
from tidegate.trial.safe_files import write_file


def store_trial(folders: Folders, trial: Trial) -> None:
    """Write trial.json. If the trial has filled the disk, remove its folders first."""
    file, data = folders.record / "trial.json", trial.model_dump_json(indent=1).encode()
    try:
        write_file(file, data)
    except OSError:
        folders.remove_scratch()
        write_file(file, data)


def write_transcript(folders: Folders, events: Sequence[Event]) -> None:
    """Write transcript.txt."""
    text = "".join(f"{line(event)}\n" for event in events)
    write_file(folders.record / "transcript.txt", text.encode())
