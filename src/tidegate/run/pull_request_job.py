"""Load what a pull request runs: both suites, the plan, and what changed in definitions and watched files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.definitions.base_checks import with_checks_of_base
from tidegate.definitions.changes import changes
from tidegate.errors import MissingKeyError
from tidegate.history.known_results import open_answers
from tidegate.model.comparison import DefinitionChange
from tidegate.model.edited import Edited
from tidegate.model.plan import Plan
from tidegate.model.suite import Suite
from tidegate.plan import ALWAYS_WATCHED, make_plan, watched_files, with_presence, without_missing_keys
from tidegate.run.both_suites import BothSuites, load_both
from tidegate.run.build import Checkout
from tidegate.run.edited_files import edited_files
from tidegate.run.run_job import Options, RunJob
from tidegate.vcs.revisions import changed_files


class PullRequestJob(NamedTuple):
    """What to run, and why: `touched` are the changed files that can change an outcome."""

    job: RunJob
    suites: BothSuites
    definitions: tuple[DefinitionChange, ...]
    touched: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def both(self) -> tuple[Suite, Suite]:
        """Head's suite, and base's or again head's."""
        return self.suites.head, self.suites.base or self.suites.head


Sides = tuple[Checkout, Checkout]  # base, head


def load_pull_request(repo: Path, target: str, sides: Sides, scratch: Path, options: Options) -> PullRequestJob:
    """Return what to run for a pull request to the branch `target`, whose sides are checked out and not yet built."""
    suites = load_both(
        repo, target, sides, config=options.config, environ=options.environ, lenient=options.lenient_keys
    )
    suite, warnings = suites.in_force, suites.warnings
    if not options.gate:
        ungated = suite.policy.model_copy(update={"fail_fast": False, "mode": "advisory"})
        suite = suite.model_copy(update={"policy": ungated})
    if options.first_only:
        suite = suite.model_copy(update={"policy": suite.policy.model_copy(update={"fail_fast": True})})
    sides, plan, edited = _with_base(repo, make_plan(suite, options.selection), sides, suites, options)
    definitions = (*suites.lacking, *changes(suites.base, suites.head, edited, options.selection))
    if options.lenient_keys:
        blocks = suite.policy.weakened_checks == "block" and any(change.weakened for change in definitions)
        plan, left_out = _runnable(plan, options.environ, required=not blocks)
        warnings = (*warnings, *left_out)
    both = (suites.head, suites.base or suites.head)
    watched = tuple(dict.fromkeys(glob for one in both for glob in (*ALWAYS_WATCHED, *one.watch, *one.guidance_globs)))
    job = RunJob(suite, plan, sides, scratch, open_answers(repo, suite), watched)
    base, head = (side.revision for side in sides)
    touched = changed_files(repo, base, head, watched_files(*both))
    return PullRequestJob(job, suites, definitions, touched, warnings)


def _with_base(
    repo: Path, plan: Plan, sides: Sides, suites: BothSuites, options: Options
) -> tuple[Sides, Plan, Edited]:
    """Add base's suite: its rows, its checks that still apply, and what the pull request edited in definitions."""
    if suites.base is None:
        return sides, plan, Edited()
    base, head = sides
    base_plan = make_plan(suites.base)
    edited = edited_files(repo, base, head, (suites.base, suites.head), suites.in_force.guidance)
    plan = with_presence(plan, base_plan, options.selection)
    plan = with_checks_of_base(plan, base_plan, edited, judged=suites.in_force.policy.judge_blocks)
    return (replace(base, own=suites.base), head), plan, edited


def _runnable(plan: Plan, environ: Mapping[str, str], *, required: bool) -> tuple[Plan, tuple[str, ...]]:
    """Return the part of the plan that runs without the missing keys, and a note on the rest.

    If it is `required`, raises MissingKeyError if nothing can be run without them.
    """
    left, agents = without_missing_keys(plan, environ)
    named = f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
    if required and not left.rows:
        raise MissingKeyError(f"nothing can be run without the key of the {named}.", "docs/github.md says what to do.")
    secrets = {name for row in left.rows for name in row.scenario.target.secrets}
    if required and all(row.scenario.target.secrets for row in left.rows):
        raise MissingKeyError(f"nothing can be run without {', '.join(sorted(secrets))}.", "docs/github.md says more.")
    said = f"not run: the {named}, without a key, which forks do not get; the verdict excludes them"
    return left, (said,) if agents else ()
