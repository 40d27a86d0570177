"""A run as a folder that a person can read: `run.json`, and one folder per trial."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.event import Event
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.trial import Record, Side, Trial, TrialSpec, encoded
from tidegate.model.value import Value

RUN_FILE = "run.json"
RESULT_FILE = "result.json"
_event: TypeAdapter[Event] = TypeAdapter(Event)


class RunFolder:
    """The folder of one run. A trial without its result.json did not finish."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def at(cls, path: Path) -> Self:
        """The run that a person named: by its folder, or by the run.json in it."""
        return cls(path.parent if path.is_file() else path)

    def trial_folder(self, spec: TrialSpec) -> Path:
        """`trials/SCENARIO/AGENT/INDEX`, names percent-encoded."""
        return self.folder / "trials" / encoded(spec.scenario) / encoded(spec.agent) / str(spec.index)

    def record_folder(self, spec: TrialSpec) -> Path:
        """The raw record of a trial: events, invocations, output of every command."""
        return self.trial_folder(spec) / "record"

    def clear_trial(self, spec: TrialSpec) -> None:
        """Forget an attempt that did not count, so that it can be made again."""
        shutil.rmtree(self.trial_folder(spec), ignore_errors=True)

    def finish_trial(self, result: TrialResult) -> None:
        """Write the trial's result, last and at once."""
        write_value(self.trial_folder(result.spec) / RESULT_FILE, result)

    def copy_trial(self, result: TrialResult, ran_in: RunFolder) -> None:
        """Store a trial of another folder here too, with its record where there is one."""
        self.clear_trial(result.spec)
        with suppress(FileNotFoundError):
            shutil.copytree(ran_in.record_folder(result.spec), self.record_folder(result.spec), symlinks=True)
        self.finish_trial(result)

    def begin_run(self, run: Run) -> None:
        """Write what is known before the first trial, so that a run that is cut off can be read."""
        write_value(self.folder / RUN_FILE, run.model_copy(update={"interrupted": True, "trials": ()}))

    def finished_trials(self) -> Iterator[TrialResult]:
        """The results of all trials that finished; a damaged one is left out."""
        for path in sorted(self.folder.glob(f"trials/*/*/*/{RESULT_FILE}")):
            with suppress(OSError, ValidationError):
                result = TrialResult.model_validate_json(path.read_bytes())
                if self.trial_folder(result.spec) == path.parent:
                    yield result

    def keep_trial(self, trial: Trial) -> None:
        """Write the trial's raw record again, with what was found out since."""
        write_value(self.record_folder(trial.spec) / "trial.json", trial)

    def finish_run(self, run: Run) -> None:
        """Write the run, last and at once."""
        write_value(self.folder / RUN_FILE, run)

    def events(self, spec: TrialSpec) -> Iterator[Event]:
        """The stored events of a trial, in order; none where no record was kept."""
        path = self.record_folder(spec) / "events.jsonl"
        if not path.is_file():
            return
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield _event.validate_json(line)
                except ValidationError as error:
                    raise _damaged(path, f"line {number}: {_first(error)}") from None

    def trial(self, spec: TrialSpec) -> Trial | None:
        """The raw record of a trial; None if it was never started."""
        path = self.record_folder(spec) / "trial.json"
        if not path.is_file():
            return None
        try:
            return Trial.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise _damaged(path, _first(error)) from None

    def prompt(self, spec: TrialSpec) -> str:
        """What the agent was asked; '' if it never was."""
        path = self.record_folder(spec) / "prompt.txt"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def record(self, spec: TrialSpec) -> Record:
        """What a reader wants to see of a trial; what cannot be read is missing from it, and it says so."""
        diff = self.record_folder(spec) / "workspace.diff"
        try:
            text = diff.read_text(encoding="utf-8", errors="replace") if diff.is_file() else ""
            return Record(events=tuple(self.events(spec)), diff=text)
        except ConfigurationError as error:
            return Record(problem=error.message)
        except OSError as error:
            return Record(problem=f"{error.filename}: {error.strerror}")


def load_run(folder: Path) -> Run:
    """The run stored in `folder` (or the run.json itself); a ConfigurationError says what is wrong with it.

    Of one that was interrupted, the trials that had finished.
    """
    path = folder if folder.is_file() else folder / RUN_FILE
    try:
        run = Run.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        sides = folder / "runs"
        where = f"`{sides}/base` or `{sides}/head`" if sides.is_dir() else "a folder that `tidegate run` has written"
        raise ConfigurationError(f"{path} does not exist: {folder} holds no finished run.", f"Name {where}.") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", "Look at its rights.") from None
    except ValidationError as error:
        raise _damaged(path, _first(error)) from None
    if not run.interrupted:
        return run
    finished = sorted(RunFolder(path.parent).finished_trials(), key=lambda trial: trial.index)
    return run.model_copy(update={"trials": tuple(finished)})


def stored_runs(place: Path) -> list[Run]:
    """The run stored there, or both runs of what `tidegate pr` wrote there."""
    return [load_run(folder) for folder in run_places(place)]


def run_places(place: Path) -> list[Path]:
    """The folders of `stored_runs`."""
    both = [place / "runs" / side for side in ("base", "head")]
    return [folder for folder in both if (folder / RUN_FILE).is_file()] or [place]


def run_folder_of(place: Path, side: Side) -> RunFolder:
    """The run stored there, or that side's of what `tidegate pr` wrote there."""
    both = place / "runs" / side
    return RunFolder(both) if (both / RUN_FILE).is_file() else RunFolder.at(place)


def write_value(path: Path, value: Value) -> None:
    """Write a value as JSON under a temporary name and move it into place, so that no half file is ever seen."""
    write_text(path, value.model_dump_json(indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """The same for text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _damaged(path: Path, what: str) -> ConfigurationError:
    return ConfigurationError(f"{path}: {what}", "The file is damaged or of another version; run it again.")


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
