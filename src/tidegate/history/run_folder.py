"""Stores a run as a human-readable folder: `run.json`, and one folder per trial."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.event import Event
from tidegate.model.judge import Reply
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.trial import Record, Trial
from tidegate.model.trial_spec import Side, TrialSpec, encoded
from tidegate.model.value import Value

PULL_REQUEST_FILE = "result.json"  # of `tidegate pr`, beside the runs
RUN_FILE = "run.json"
RESULT_FILE = "result.json"
_event: TypeAdapter[Event] = TypeAdapter(Event)
V = TypeVar("V", bound=Value)


class RunFolder:
    """The folder of one run. A trial without a `result.json` has not finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open a run by its folder or by the path of its `run.json`."""
        return cls(path.parent if path.is_file() else path)

    def trial_folder(self, spec: TrialSpec) -> Path:
        """Return `trials/SCENARIO/AGENT/INDEX`, with the trial's raw record; the names are percent-encoded."""
        return Path(f"{self.folder}/trials/{encoded(spec.scenario)}/{encoded(spec.agent)}/{spec.index}")

    def clear_trial(self, spec: TrialSpec) -> None:
        """Delete everything stored for a trial, so that it can be retried."""
        folder = self.trial_folder(spec)
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)

    def finish_trial(self, result: TrialResult) -> None:
        """Write the trial's result atomically. Call this last: the file marks the trial as finished.

        It is not synced: a result that the machine loses in a power failure is run again.
        """
        _replace(self.trial_folder(result.spec) / RESULT_FILE, _json(result), sync=False)

    def copy_trial(self, result: TrialResult, ran_in: RunFolder) -> None:
        """Copy a trial from another run folder, with its record if there is one."""
        self.clear_trial(result.spec)
        with suppress(FileNotFoundError):
            folders = ran_in.trial_folder(result.spec), self.trial_folder(result.spec)
            shutil.copytree(*folders, symlinks=True, ignore=shutil.ignore_patterns(RESULT_FILE))
        self.finish_trial(result)

    def begin_run(self, run: Run) -> None:
        """Write `run.json`, marked as interrupted, before the first trial, so that an interrupted run can be read."""
        begun = run.model_copy(update={"interrupted": True, "trials": ()})
        write_value(self.folder / RUN_FILE, begun)

    def finished_trials(self) -> Iterator[TrialResult]:
        """Yield the results of all finished trials; damaged or misplaced ones are skipped."""
        for path in sorted(self.folder.glob(f"trials/*/*/*/{RESULT_FILE}")):
            with suppress(OSError, ValidationError):
                result = TrialResult.model_validate_json(path.read_bytes())
                if self.trial_folder(result.spec) == path.parent:
                    yield result

    def keep_trial(self, trial: Trial) -> None:
        """Overwrite the trial's raw record, for example after the judge has added its answers."""
        _replace(self.trial_folder(trial.spec) / "trial.json", _json(trial), sync=False)

    def finish_run(self, run: Run) -> None:
        """Write the complete run atomically."""
        write_value(self.folder / RUN_FILE, run)

    def events(self, spec: TrialSpec) -> Iterator[Event]:
        """Yield the stored events of a trial in order; nothing if no record was kept.

        Raises ConfigurationError for a damaged line.
        """
        path = self.trial_folder(spec) / "events.jsonl"
        if not path.is_file():
            return
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield _event.validate_json(line)
                except ValidationError as error:
                    raise damaged(path, f"line {number}: {first_error(error)}") from None

    def trial(self, spec: TrialSpec) -> Trial | None:
        """Return the raw record of a trial, or None if it never started. Raises ConfigurationError if it is damaged."""
        path = self.trial_folder(spec) / "trial.json"
        if not path.is_file():
            return None
        try:
            return Trial.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise damaged(path, first_error(error)) from None

    def record_size(self, spec: TrialSpec) -> int:
        """Return the bytes of a trial's raw record, 0 if it never started."""
        with suppress(OSError):
            return (self.trial_folder(spec) / "trial.json").stat().st_size
        return 0

    def prompt(self, spec: TrialSpec) -> str:
        """Return the prompt that the agent received, or "" if none was stored."""
        path = self.trial_folder(spec) / "prompt.txt"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def record(self, spec: TrialSpec) -> Record:
        """Return the prompt, the events and the diff that reports show. If they cannot be read, `problem` says why."""
        diff = self.trial_folder(spec) / "workspace.diff"
        try:
            text = diff.read_text(encoding="utf-8", errors="replace") if diff.is_file() else ""
            return Record(prompt=self.prompt(spec), events=tuple(self.events(spec)), diff=text)
        except ConfigurationError as error:
            return Record(problem=error.message)
        except OSError as error:
            return Record(problem=f"{error.filename}: {error.strerror}")


class AnswerStore:
    """The judge's answers: one JSON file each, named by the hash of its question. With None, nothing is stored."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, key: str) -> Reply | None:
        """Return the stored answer, or None if there is none or it cannot be read."""
        return read_value(self._place(self._folder, key), Reply) if self._folder else None

    def keep(self, key: str, reply: Reply) -> None:
        """Write the answer atomically. A write error is ignored: a later run then asks the question again."""
        if self._folder is not None:
            with suppress(OSError):
                write_value(self._place(self._folder, key), reply)

    @staticmethod
    def _place(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.json"


def load_run(folder: Path) -> Run:
    """Return the run stored in `folder`, which may also be the path of a `run.json`.

    An interrupted run holds the trials that had finished. Raises ConfigurationError if the run is missing or damaged.
    """
    path = folder if folder.is_file() else folder / RUN_FILE
    try:
        run = Run.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        sides = folder / "runs"
        where = f"`{sides}/base` or `{sides}/head`" if sides.is_dir() else "a folder that `tidegate run` has written"
        raise ConfigurationError(
            f"{path} does not exist: {folder} contains no finished run.", f"Name {where}."
        ) from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from None
    except ValidationError as error:
        raise damaged(path, first_error(error)) from None
    if not run.interrupted:
        return run
    finished = sorted(RunFolder(path.parent).finished_trials(), key=lambda trial: trial.index)
    return run.model_copy(update={"trials": tuple(finished)})


def stored_runs(place: Path) -> list[Run]:
    """Return the run stored in `place`, or both runs if `tidegate pr` wrote them there."""
    return [load_run(folder) for folder in run_places(place)]


def run_places(place: Path) -> list[Path]:
    """Return the folders that `stored_runs` reads."""
    both = [place / "runs" / side for side in ("base", "head")]
    return [folder for folder in both if (folder / RUN_FILE).is_file()] or [place]


def run_folder_of(place: Path, side: Side) -> RunFolder:
    """Return the folder of the run in `place`, or of the given side if `tidegate pr` wrote both there."""
    both = place / "runs" / side
    return RunFolder(both) if (both / RUN_FILE).is_file() else RunFolder.at(place)


def write_value(path: Path, value: Value) -> None:
    """Write a value as JSON. The file is renamed into place, so that readers never see a partial file."""
    write_text(path, _json(value))


def read_value(path: Path, kind: type[V]) -> V | None:
    """Return the value in a file; None if it is missing, damaged or of another version."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write text like `write_value`: to a temporary file, which is synced and then renamed into place."""
    _replace(path, text, sync=True)


def _json(value: Value) -> str:
    return value.model_dump_json(indent=1) + "\n"


def _replace(path: Path, text: str, *, sync: bool) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    temporary.replace(path)


def damaged(path: Path, what: str) -> ConfigurationError:
    """Return the error for a stored file that cannot be read."""
    return ConfigurationError(f"{path}: {what}", "The file is damaged or of another version; run it again.")


def first_error(error: ValidationError) -> str:
    """Return the first validation error as `key.path: message`."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
