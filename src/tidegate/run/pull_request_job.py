"""Load what a pull request runs: both suites, the plan, and what changed in definitions and watched files."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError, MissingKeyError, NothingToRunError
from tidegate.history.known_results import open_answers, read_history
from tidegate.history.script_contents import program_globs
from tidegate.model.comparison import DefinitionChange
from tidegate.model.plan import Plan, RowKey
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.reports.comment import without_blocks
from tidegate.run.build import Checkout
from tidegate.run.checkouts import Sides
from tidegate.run.run_job import Options, RunJob
from tidegate.suite.agent_fields import entrusted
from tidegate.suite.changes import RULES, changes, with_changed_files
from tidegate.suite.lfs_pointers import lfs_pointers
from tidegate.suite.load import load_suite, try_load_suite
from tidegate.suite.plan import (
    make_plan,
    not_selected,
    pull_request_plan,
    watched_files,
    without_agents,
)
from tidegate.suite.uncommitted import uncommitted
from tidegate.text.shorten import few
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
    suites = _load_both(
        root, target.ref, sides, config=options.config, environ=options.environ, lenient=options.lenient_keys
    )
    suite = _with_options(suites.judging, options)
    base, head = sides.base.revision, sides.head.revision
    every = changed_files(root, base, head, ["**"])
    plan = make_plan(suite, options.selection)
    warnings = (*suites.warnings, *not_selected(suite, plan))
    if suites.base is not None:
        plan = _with_head(plan, suites, every, options)
    definitions = changes(suites.base, suites.head, every)
    both = (suites.head, suites.base or suites.head)
    watched = _watched(root, sides, both)
    if options.replay_only:
        plan = without_agents(plan, None)
    elif options.lenient_keys:
        plan = without_agents(plan, options.environ)
    job = RunJob(suite, plan, _built(sides, suites), scratch, open_answers(root, suite), watched, suites.folder)
    if options.lenient_keys:
        blocks = suite.policy.rules == "block" and any(change.effect == "less" for change in definitions)
        job, left_out = _runnable(root, job, options, required=not blocks)
        warnings = (*warnings, *left_out)
    touched = changed_files(root, base, head, watched)
    return PullRequestJob(job, suites, definitions, touched, warnings)


def _watched(root: Path, sides: Sides, suites: Sequence[Suite]) -> tuple[str, ...]:
    """Return globs of all files that can change an outcome, wherever links and submodules keep them."""
    pair = (sides.base, sides.head)
    programs = (
        one
        for side in pair
        for suite in suites
        for agent in suite.agents.values()
        for one in program_globs(side.folder, agent, suite.path)
    )
    moved = submodules(root, *(side.revision for side in pair))
    checkouts = [LinkedCheckout(side.folder) for side in pair]
    return with_link_targets(checkouts, (*watched_files(*suites), *programs, *moved))


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
    """Return both sides with their own build and `path`."""
    if suites.base is None:
        return sides.base, sides.head
    return replace(sides.base, own=suites.base), replace(sides.head, own=suites.head)


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
    return history.sessions.read(job.fingerprints(history.versions())).by_row


def _named(agents: Sequence[str]) -> str:
    return f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"


class BothSuites(NamedTuple):
    """The suites of a pull request.

    `judging` is base's with the target branch's rules; `product` is the same with the prompts that contain files as
    head has these. `base` is what head's suite is compared with; None if there is no suite before this one, which then
    judges. `folder` is the clean checkout that `judging` was read from.
    """

    judging: Suite
    product: Suite
    head: Suite
    base: Suite | None
    folder: Path | None
    comment_template: str | None
    warnings: tuple[str, ...]


def _load_both(
    root: Path, branch: str, sides: Sides, *, config: str, environ: Mapping[str, str], lenient: bool
) -> BothSuites:
    """Load the suites of the pull request to this branch.

    Rules are read from the branch's tip, not from the merge base: the pull request's author chooses where it begins.
    If the merge base has no suite of its own, the branch's judges.
    Without secrets (`lenient`), scenarios that need one are still loaded.
    """
    base, warnings = try_load_suite(sides.judge, config, environ=environ, without_secrets=lenient)
    tip, folder = base, sides.judge
    if sides.tip != sides.judge:
        tip = try_load_suite(sides.tip, config, environ=environ, without_secrets=lenient)[0] or base
    if base is None and tip is not None:
        why = "cannot be used" if (sides.judge / config).exists() else "is missing"
        base, folder = tip, sides.tip
        warnings = (f"{config} {why} at the merge base: that of `{branch}` judges",)
    passed = environ if tip is None else {name: environ[name] for name in tip.pass_env if name in environ}
    head = load_suite(sides.head.folder, config, environ=passed, without_secrets=lenient)
    warnings = (*warnings, *_newer_scenarios(tip, base, head, branch), *_of_files(root, config, environ))
    warnings = (*warnings, *lfs_pointers(sides.head.folder, head))
    if base is None or tip is None:
        advisory = head.model_copy(update={"policy": head.policy.model_copy(update={"mode": "advisory"})})
        template = _comment_template(sides.head.folder, "head", head)
        return BothSuites(advisory, advisory, head, None, None, template, warnings)
    rules = {key: getattr(tip, key) for key in RULES}
    judging = base.model_copy(update=rules)
    product = _product(folder, sides, config, environ=passed, lenient=lenient)
    template = _comment_template(sides.tip, "base", tip)
    return BothSuites(judging, product or judging, head, base, folder, template, warnings)


def _product(folder: Path, sides: Sides, config: str, *, environ: Mapping[str, str], lenient: bool) -> Suite | None:
    """Return base's suite with the texts of files in prompts as head has them; None if it cannot be read so."""
    try:
        return load_suite(folder, config, environ=environ, without_secrets=lenient, texts=sides.head.folder)
    except (ConfigurationError, NothingToRunError):
        return None


def _of_files(root: Path, config: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield warnings of files in the working tree that no commit has."""
    here, _ = try_load_suite(root, config, environ=environ, without_secrets=True)
    if here is not None:
        yield from uncommitted(root, here)


def _newer_scenarios(target: Suite | None, base: Suite | None, head: Suite, branch: str) -> Iterator[str]:
    """Yield a warning if the target branch has scenarios that the pull request's branch is too old to have."""
    if target is None or base is None:
        return
    known = {scenario.name for suite in (base, head) for scenario in suite.scenarios}
    if newer := [scenario.name for scenario in target.scenarios if scenario.name not in known]:
        yield (
            f"not run, as `{branch}` has them only since this branch began: {few(newer)}; merge `{branch}` into this"
            " branch to run them"
        )


def _comment_template(folder: Path, side: str, suite: Suite) -> str | None:
    """Return the text of the suite's comment template in that checkout; None if it uses the default one."""
    if suite.comment_template is None:
        return without_blocks(suite.report_hide) if suite.report_hide else None
    path = (folder / suite.comment_template).resolve()
    try:
        if not path.is_relative_to(folder.resolve()):
            raise OSError("it leads out of the repository")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"report.comment_template: {suite.comment_template} cannot be read on {side}: {error}",
            "The path is relative to the repository's root.",
        ) from None
