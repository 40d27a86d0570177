"""Load what a pull request runs: both suites, the plan, and what changed in definitions and watched files."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import MissingKeyError
from tidegate.history.known_results import open_answers, read_history
from tidegate.model.comparison import DefinitionChange
from tidegate.model.plan import Plan, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.run.both_suites import RULES, BothSuites, load_both
from tidegate.run.build import Checkout
from tidegate.run.checkouts import Sides
from tidegate.run.run_job import Options, RunJob
from tidegate.suite.agent_fields import entrusted
from tidegate.suite.changes import changes, with_changed_files
from tidegate.suite.plan import (
    make_plan,
    not_selected,
    pull_request_plan,
    watched_files,
    watched_of_side,
    without_agents,
)
from tidegate.vcs.links import LinkedCheckout, with_link_targets
from tidegate.vcs.revisions import changed_files, submodules


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


def load_pull_request(root: Path, target: Revision, sides: Sides, scratch: Path, options: Options) -> PullRequestJob:
    """Return what to run for a pull request to the branch with that tip. The sides are checked out and not built."""
    suites = load_both(
        root, target.ref, sides, config=options.config, environ=options.environ, lenient=options.lenient_keys
    )
    suite = _with_options(suites.judging, options)
    base, head = sides.base.revision, sides.head.revision
    every = changed_files(root, base, head, ["**"])
    plan = make_plan(suite, options.selection)
    warnings = (*suites.warnings, *not_selected(suite, plan))
    if suites.base is not None:
        plan = _with_head(plan, suites, every, options)
    definitions = changes(suites.base, suites.head, every, RULES)
    both = (suites.head, suites.base or suites.head)
    checkouts = [LinkedCheckout(side.folder) for side in (sides.base, sides.head)]
    watched = with_link_targets(checkouts, (*watched_of_side(*both), *submodules(root, base, head)))
    if options.replay_only:
        plan = without_agents(plan, None)
    elif options.lenient_keys:
        plan = without_agents(plan, options.environ)
    job = RunJob(suite, plan, _built(sides, suites), scratch, open_answers(root, suite), watched, suites.folder)
    if options.lenient_keys:
        blocks = suite.policy.rules == "block" and any(change.effect == "less" for change in definitions)
        job, left_out = _runnable(root, job, options, required=not blocks)
        warnings = (*warnings, *left_out)
    touched = changed_files(root, base, head, (*watched, *with_link_targets(checkouts, watched_files(*both))))
    return PullRequestJob(job, suites, definitions, touched, warnings)


def _with_options(suite: Suite, options: Options) -> Suite:
    policy = suite.policy
    if not options.gate:
        policy = policy.model_copy(update={"fail_fast": False, "mode": "advisory"})
    if options.first_only:
        policy = policy.model_copy(update={"fail_fast": True})
    return suite.model_copy(update={"policy": policy})


def _with_head(plan: Plan, suites: BothSuites, touched: Collection[str], options: Options) -> Plan:
    """Return the plan of base's rows with what head's product has otherwise, and head's own definitions.

    Head's settings of an agent that is given a key are base's, as they could send it elsewhere.
    """
    assert suites.base is not None
    agents = entrusted(suites.base.agents, suites.head.agents)
    rules = {key: getattr(suites.judging, key) for key in RULES}
    head = suites.head.model_copy(update={**rules, "agents": agents})
    chosen = Plan(rows=tuple(row for row in make_plan(head).rows if options.selection.takes_row(row)))
    changed = with_changed_files(head, touched)
    return pull_request_plan(plan, make_plan(suites.product), chosen, changed)


def _built(sides: Sides, suites: BothSuites) -> tuple[Checkout, ...]:
    """Return both sides with their own build and `path`.

    On head, base's folders come first: a tool that has moved is found in its new place, and a copy cannot be put in
    front of one that is still in its old place.
    """
    if suites.base is None:
        return sides.base, sides.head
    path = tuple(dict.fromkeys((*suites.base.path, *suites.head.path)))
    head = suites.head.model_copy(update={"path": path})
    return replace(sides.base, own=suites.base), replace(sides.head, own=head)


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
