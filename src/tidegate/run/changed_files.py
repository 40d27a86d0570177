"""Collects the files that the pull request changed, as diffs for the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path, PurePosixPath

from tidegate.decide.comparison.left_behind import files_apart
from tidegate.history.run_folder import RunFolder
from tidegate.model.comparison import Read, Row
from tidegate.model.measurement import Call, TrialResult
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer
from tidegate.model.result import FileChange, Result
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.model.trial_spec import Side
from tidegate.vcs.revisions import changed_files, file_diffs

_TRIALS = 3  # of base that are read, to know what varies by itself
_MOST = 4_000  # characters of a text that is read; of more, those from the first difference on are kept
MOST_FILES = 60
MOST_CHARACTERS = 20_000  # of one file
MOST_IN_ALL = 300_000
_NO_ROOM = "… left out: the diffs of all files together are too long"


def file_changes(
    root: Path, base: Revision, head: Revision, paths: Sequence[str], suites: Sequence[Suite]
) -> tuple[FileChange, ...]:
    """Return the diffs of these files, definitions first. Diffs that are too long are cut and say so."""
    if not paths:
        return ()
    globs = [glob for suite in suites for glob in suite.guidance_globs]
    guidance = set(changed_files(root, base, head, globs)) if globs else set()
    definitions = {path for path in paths if _is_definition(path, suites) and path not in guidance}
    ordered = sorted(paths, key=lambda path: path not in definitions)
    diffs = file_diffs(root, base, head, ordered[:MOST_FILES])
    changes = (_change(path, diffs.get(path, ""), path in definitions, suites) for path in ordered[:MOST_FILES])
    return tuple(_within(MOST_IN_ALL, changes))


def _is_definition(path: str, suites: Sequence[Suite]) -> bool:
    return any(path == suite.file for suite in suites) or any(_scenarios(path, suites))


def _within(room: int, changes: Iterable[FileChange]) -> Iterator[FileChange]:
    """Yield the changes; once `room` characters are used up, diffs are replaced by a note."""
    for change in changes:
        room -= len(change.diff)
        yield change if room >= 0 else change.model_copy(update={"diff": _NO_ROOM})


def _change(path: str, diff: str, is_definition: bool, suites: Sequence[Suite]) -> FileChange:
    left_out = len(diff) - MOST_CHARACTERS
    return FileChange(
        path=path,
        role="definition" if is_definition else "watched",
        scenarios=tuple(dict.fromkeys(_scenarios(path, suites))),
        diff=f"{diff[:MOST_CHARACTERS]}\n… {left_out:,} characters left out" if left_out > 0 else diff,
    )


def _scenarios(path: str, suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the scenarios whose own file or template contains the path."""
    for suite in suites:
        for scenario in suite.scenarios:
            inside = scenario.template is not None and PurePosixPath(path).is_relative_to(scenario.template)
            if path == scenario.file or inside:
                yield scenario.name


def with_files(result: Result, stores: Mapping[Side, RunFolder]) -> Result:
    """Return the result with the files and reads of rows that fail on head."""
    return result.model_copy(update={"rows": tuple(_row(row, result, stores) for row in result.rows)})


def _row(row: Row, result: Result, stores: Mapping[Side, RunFolder]) -> Row:
    found = row.evidence
    shown = next((trial for trial in result.trials if found and trial.id == found.trial), None)
    if found is None or shown is None or shown.side != "head" or shown.decides != "fail":
        return row
    passing = [one for one in result.trials if (one.key, one.side, one.decides) == (row.key, "base", "pass")]
    base = [stores["base"].record(trial.spec).diff for trial in passing[:_TRIALS]]
    files = files_apart(base, stores["head"].record(shown.spec).diff)
    reads = tuple(_reads(passing[0], shown, stores)) if passing else ()
    return row.model_copy(update={"evidence": found.model_copy(update={"files": files, "reads": reads})})


def _reads(base: TrialResult, head: TrialResult, stores: Mapping[Side, RunFolder]) -> Iterator[Read]:
    """Yield what the checks read that fail on head and pass on base."""
    before, after = (stores[trial.side].trial(trial.spec) for trial in (base, head))
    passed = {gate.label for gate in base.gates if gate.passed}
    for number, gate in enumerate(head.gates):
        answers = [trial.answers[number] for trial in (before, after) if trial and number < len(trial.answers)]
        if gate.passed or gate.label not in passed or len(answers) != 2:
            continue
        ours, theirs = (_call(answer) for answer in answers)
        if ours and theirs and ours.command == theirs.command and ours != theirs:
            texts = _from_difference(ours.message, theirs.message)
            yield Read(
                is_file=isinstance(answers[0], FileAnswer),
                base=ours.model_copy(update={"message": texts[0]}),
                head=theirs.model_copy(update={"message": texts[1]}),
            )


def _call(answer: Answer | None) -> Call | None:
    match answer:
        case FileAnswer(text=str()):
            return Call(command=answer.path, status="ok", message=answer.text or "")
        case CommandAnswer(result=result):
            status = result.shell_status
            return Call(command=result.command, exit_code=status, status=result.status, message=result.printed)
        case _:
            return None


def _from_difference(base: str, head: str) -> tuple[str, str]:
    """Return both texts, or of long ones so many lines from the first difference on."""
    if max(len(base), len(head)) <= _MOST:
        return base, head
    ours, theirs = base.splitlines(keepends=True), head.splitlines(keepends=True)
    pairs = enumerate(zip(ours, theirs, strict=False))
    start = next((number for number, _ in dropwhile(lambda pair: pair[1][0] == pair[1][1], pairs)), 0)
    return "".join(ours[start:])[:_MOST], "".join(theirs[start:])[:_MOST]
