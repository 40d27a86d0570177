"""Load what a pull request runs: both suites, the plan, and what changed in definitions and watched files."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.definitions.base_checks import with_checks_of_base
from tidegate.definitions.changes import changes
from tidegate.errors import MissingKeyError
from tidegate.history.known_results import open_answers, read_history
from tidegate.model.comparison import DefinitionChange
from tidegate.model.edited import Edited
from tidegate.model.plan import Plan, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.plan import make_plan, not_selected, watched_files, watched_of_side, with_presence, without_agents
from tidegate.run.both_suites import BothSuites, load_both
from tidegate.run.build import Checkout
from tidegate.run.edited_files import edited_files
from tidegate.run.run_job import Options, RunJob
from tidegate.vcs.links import LinkedCheckout, with_link_targets
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


def load_pull_request(root: Path, target: Revision, sides: Sides, scratch: Path, options: Options) -> PullRequestJob:
    """Return what to run for a pull request to the branch with that tip. The sides are checked out and not built."""
    suites = load_both(
        root, target, sides, config=options.config, environ=options.environ, lenient=options.lenient_keys
    )
    suite, warnings = suites.in_force, suites.warnings
    if not options.gate:
        ungated = suite.policy.model_copy(update={"fail_fast": False, "mode": "advisory"})
        suite = suite.model_copy(update={"policy": ungated})
    if options.first_only:
        suite = suite.model_copy(update={"policy": suite.policy.model_copy(update={"fail_fast": True})})
    selected = make_plan(suite, options.selection)
    warnings = (*warnings, *not_selected(suite, selected))
    sides, plan, edited = _with_base(root, selected, sides, suites, options)
    definitions = (*suites.lacking, *changes(suites.base, suites.head, edited, options.selection))
    both = (suites.head, suites.base or suites.head)
    checkouts = [LinkedCheckout(side.folder) for side in sides]
    watched = with_link_targets(checkouts, watched_of_side(*both))
    if options.replay_only:
        plan = without_agents(plan, None)
    elif options.lenient_keys:
        plan = without_agents(plan, options.environ)
    job = RunJob(
        suite, plan, sides, scratch, open_answers(root, suite), watched, edited_agents=frozenset(edited.programs)
    )
    if options.lenient_keys:
        blocks = suite.policy.weakened_checks == "block" and any(change.weakened for change in definitions)
        job, left_out = _runnable(root, job, options, required=not blocks)
        warnings = (*warnings, *left_out)
    base, head = (side.revision for side in sides)
    touched = changed_files(root, base, head, with_link_targets(checkouts, watched_files(*both)))
    return PullRequestJob(job, suites, definitions, touched, warnings)


def _with_base(
    root: Path, plan: Plan, sides: Sides, suites: BothSuites, options: Options
) -> tuple[Sides, Plan, Edited]:
    """Add base's suite: its rows, its checks that still apply, and what the pull request edited in definitions."""
    if suites.base is None:
        return sides, plan, Edited()
    base, head = sides
    base_plan = make_plan(suites.base)
    edited = edited_files(root, base, head, (suites.base, suites.head), suites.in_force.guidance)
    plan = with_presence(plan, base_plan, options.selection)
    plan = with_checks_of_base(plan, base_plan, edited, judged=suites.in_force.policy.judge_blocks)
    return (replace(base, own=suites.base), head), plan, edited


def _runnable(root: Path, job: RunJob, options: Options, *, required: bool) -> tuple[RunJob, tuple[str, ...]]:
    """Return the job with the rows that can be compared without the missing keys, and notes on the others.

    These are the rows of agents that need no key, and those whose recorded sessions can be replayed. If something is
    `required`, raises MissingKeyError if there is nothing else.
    """
    rows = job.plan.rows
    recorded = _recorded(root, job, options)
    left = [row for row in rows if row.no_agent is None or row.key in recorded]
    without = sorted({row.key.agent for row in rows if row not in left})
    replayed = sorted({row.key.agent for row in left if row.no_agent is not None})
    if required and not left:
        raise MissingKeyError(f"nothing can be run without the key of the {_named(without)}.", "See docs/github.md.")
    secrets = {name for row in left for name in row.scenario.target.secrets}
    if required and all(row.scenario.target.secrets for row in left):
        raise MissingKeyError(f"nothing can be run without {', '.join(sorted(secrets))}.", "docs/github.md says more.")
    notes = [f"without a key, which forks do not get: the {_named(replayed)}; recorded sessions are replayed instead"]
    notes = notes if replayed else []
    if without:
        why = "without a key, which forks do not get; the verdict excludes them"
        notes.append(f"not run: the {_named(without)}, {why}")
    return replace(job, plan=Plan(rows=tuple(left))), tuple(notes)


def _recorded(root: Path, job: RunJob, options: Options) -> Container[RowKey]:
    """Return the rows that have recorded sessions of base, for those of which no agent may be run."""
    if job.suite.policy.replay.use == "off" or not any(row.no_agent for row in job.plan.rows):
        return ()
    history, _ = read_history(root, job.suite, options.origin)
    return history.sessions.read(job.fingerprints(history.versions())).by_row if history else ()


def _named(agents: Sequence[str]) -> str:
    return f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
