"""Try the fix of docs that still show what is gone: edit them in a copy of head, and run the regressed rows there."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidegate.decide.causes.find import RENAMES
from tidegate.history.run_folder import RunFolder
from tidegate.model.cause import Cause, Fix, Place
from tidegate.model.plan import Plan, RowKey
from tidegate.model.result import Result
from tidegate.run.build import Checkout
from tidegate.run.run_job import Options, RunJob, runner_of, screening_specs
from tidegate.vcs.git import must
from tidegate.vcs.worktrees import checkout

MOST_PLACES = 20


async def with_fix(root: Path, result: Result, work: RunJob, options: Options) -> Result:
    """Return the result with the edit of docs that makes the regressed rows of deterministic agents pass.

    Without one if a name has no known successor, if there are too many places, or if a row still fails. Scenario files
    are never edited: they are checks.
    """
    causes = [cause for cause in result.causes if _is_rename(cause)]
    regressed = {row.key for row in result.rows if row.state == "regressed" and row.deterministic}
    rows = regressed.intersection(key for cause in causes for key in cause.rows)
    places = {place for cause in causes for place in cause.still_named}
    budget_left = result.cost.budget_used is None or result.cost.budget_used < 1
    if not rows or not 0 < len(places) <= MOST_PLACES or not budget_left:
        return result
    options.progress.stage("trying a fix of the docs")
    head = work.sides[-1].revision
    with checkout(root, head, work.scratch / secrets.token_hex(8)) as folder:
        for cause in causes:
            _edit(folder, cause.still_named, dict(zip(cause.names, cause.new, strict=True)))
        diff = must(folder, "diff", "--no-color", "--no-ext-diff")
        side = Checkout("head", head, folder, RunFolder(work.scratch / secrets.token_hex(8)))
        trials = await _trials(side, rows, work, options) if diff.strip() else 0
    fix = Fix(diff=f"{diff.rstrip()}\n", trials=trials, rows=tuple(sorted(rows, key=str)))
    return result.model_copy(update={"fix": fix}) if trials else result


def _is_rename(cause: Cause) -> bool:
    return cause.kind in RENAMES and len(cause.names) == len(cause.new) > 0 and not cause.passes


def _edit(folder: Path, places: Iterable[Place], names: Mapping[str, str]) -> None:
    """Replace the names on these lines, each as a whole word."""
    for place in places:
        file = folder / place.path
        if file.is_symlink() or not file.resolve().is_relative_to(folder.resolve()):
            continue
        lines = file.read_bytes().decode("utf-8", errors="surrogateescape").split("\n")
        for name, new in names.items():
            word = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
            lines[place.line - 1] = re.sub(word, new.replace("\\", r"\\"), lines[place.line - 1])
        file.write_bytes("\n".join(lines).encode("utf-8", errors="surrogateescape"))


async def _trials(side: Checkout, keys: Iterable[RowKey], work: RunJob, options: Options) -> int:
    """Return the number of trials of these rows in the edited copy if all of them pass; else 0."""
    wanted = frozenset(keys)
    plan = Plan(rows=tuple(row for row in work.plan.rows if row.key in wanted))
    job = RunJob(work.suite, plan, (side,), work.scratch, work.answers)
    async with runner_of(job, options) as runner:
        trials = await runner.run(screening_specs(job, None))
    return len(trials) if trials and all(trial.decides == "pass" for trial in trials) else 0
