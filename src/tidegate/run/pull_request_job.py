"""Load what a pull request runs: both suites, the plan, and what changed in definitions and files."""

from __future__ import annotations

import glob
import os
import posixpath
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import dropwhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.checks.evaluators.script_files import files_of, named_files
from tidegate.checks.script_contents import script_contents
from tidegate.decide.causes.left_behind import files_apart
from tidegate.errors import ConfigurationError, MissingKeyError, NothingToRunError
from tidegate.history.fingerprint import program_globs, scenario_files
from tidegate.history.known_results import open_answers, read_history
from tidegate.history.run_folder import RunFolder
from tidegate.model.comparison import DefinitionChange, Read, Row
from tidegate.model.measurement import Call, TrialResult
from tidegate.model.plan import Plan, RowKey
from tidegate.model.probe import Answer, CommandAnswer, FileAnswer
from tidegate.model.result import FileChange, Result
from tidegate.model.revision import Revision
from tidegate.model.suite import Policy, Suite
from tidegate.model.trial_spec import Side
from tidegate.reports.comment import without_blocks
from tidegate.run.build import Checkout
from tidegate.run.checkouts import TwoSides
from tidegate.run.run_job import Options, RunJob
from tidegate.suite.changes import RULES, changes, entrusted
from tidegate.suite.load import load_suite, try_load_suite
from tidegate.suite.origins import origins
from tidegate.suite.plan import (
    make_plan,
    not_selected,
    pull_request_plan,
    watched_files,
    without_agents,
)
from tidegate.text.shorten import few
from tidegate.trial.program_lookup import Built
from tidegate.vcs.links import LinkedCheckout, with_link_targets
from tidegate.vcs.revisions import changed_files, file_diffs

_NO_SUBMODULE = "Submodules are not checked out: {}. If the tool needs one, let `build` fetch its commit."


class PullRequestJob(NamedTuple):
    """What to run, and why: `touched` are the changed files that can change an outcome.

    `new_history`: no file differs, but the commits do, and a build may read them.
    """

    job: RunJob
    suites: BothSuites
    definitions: tuple[DefinitionChange, ...]
    touched: tuple[str, ...]
    warnings: tuple[str, ...]
    new_history: bool

    @property
    def is_needed(self) -> bool:
        """True if an outcome may differ between the sides."""
        return bool(self.touched or self.definitions or self.new_history)

    @property
    def both(self) -> tuple[Suite, Suite]:
        """Head's suite, and base's or again head's."""
        return self.suites.head, self.suites.base or self.suites.head


def load_pull_request(root: Path, target: Revision, sides: TwoSides, scratch: Path, options: Options) -> PullRequestJob:
    """Return what to run for a pull request to the branch with that tip. The sides are checked out and not built."""
    suites = _load_both(target.ref, sides, config=options.config, environ=options.environ, lenient=options.lenient_keys)
    suite = _with_options(suites.judging, options)
    base, head = sides.base.revision, sides.head.revision
    plan = make_plan(suite, options.selection)
    warnings = (*suites.warnings, *not_selected(suite, plan))
    definitions: tuple[DefinitionChange, ...] = ()
    if suites.base is not None and suites.folder is not None:
        files = _changed_files(suites.folder, suites.base, sides.head.folder, suites.head)
        plan = _with_head(plan, suites, files, options)
        definitions = _definitions(suites, sides, files)
    _refuse_deployed(plan)
    both = (suites.head, suites.base or suites.head)
    checkouts = [LinkedCheckout(side.folder) for side in (sides.base, sides.head)]
    missing = tuple(dict.fromkeys(name for one in checkouts for name in one.submodules))
    watched = _watched(checkouts, (*both, suite), missing)
    if options.replay_only:
        plan = without_agents(plan, None)
    elif options.lenient_keys:
        plan = without_agents(plan, options.environ)
    job = RunJob(suite, plan, _built(sides, suites), scratch, open_answers(root, suite), watched, suites.folder)
    if options.lenient_keys:
        blocks = suite.policy.rules == "block" and any(change.effect != "more" for change in definitions)
        job, left_out = _runnable(root, job, options, required=not blocks)
        warnings = (*warnings, *left_out)
    if missing:
        warnings = (*warnings, _NO_SUBMODULE.format(few(missing)))
    touched = changed_files(root, base, head, watched)
    is_built = any(side.build_of(job.suite) for side in job.sides)
    new_history = is_built and base.tree == head.tree and base.sha != head.sha
    return PullRequestJob(job, suites, definitions, touched, warnings, new_history)


def _refuse_deployed(plan: Plan) -> None:
    """Raise ConfigurationError if a row's MCP server is not started by the side's own command."""
    for row in plan.rows:
        server = row.scenario.target.mcp
        if server is not None and not server.command:
            raise ConfigurationError(
                f"{row.key.scenario}: the MCP server at {server.url} has no `command`, so it has no base and no head.",
                "Use `tidegate run`, or add the command that starts each side's own server.",
            )


def _watched(
    checkouts: Sequence[LinkedCheckout], suites: Sequence[Suite], submodules: Sequence[str]
) -> tuple[str, ...]:
    """Return globs of all files that can change an outcome, wherever links and submodules keep them."""
    programs = (
        one
        for side in checkouts
        for suite in suites
        for agent in suite.agents.values()
        for one in program_globs(side.folder, agent, suite.path)
    )
    return with_link_targets(checkouts, (*watched_files(*suites), *programs, *map(glob.escape, submodules)))


def _with_options(suite: Suite, options: Options) -> Suite:
    policy = suite.policy
    if not options.gate:
        policy = policy.model_copy(update={"fail_fast": False, "mode": "advisory"})
    return suite.model_copy(update={"policy": policy})


def _changed_files(before: Path, base: Suite, after: Path, head: Suite) -> dict[str, list[str]]:
    """Return which files of templates and scripts differ between the checkouts, by head's scenario.

    Guidance is part of the product; base's scenarios say which files are guidance.
    """
    old = origins(base.scenarios, head.scenarios)

    @cache  # scenarios may share a template
    def differ(origin: str | None, template: str | None, scripts: Sequence[str], globs: Sequence[str]) -> list[str]:
        own, files = scenario_files(before, origin, scripts, globs), scenario_files(after, template, scripts, globs)
        return _differing({_moved(name, origin, template): mark for name, mark in own.items()}, files)

    found = dict[str, list[str]]()
    for one in head.scenarios:
        origin = old.get(one.name, one)
        guidance = tuple(origin.guidance_or(base.guidance)) if one.name in old else tuple(base.guidance)
        found[one.name] = differ(origin.template, one.template, files_of(one.evaluators), guidance)
    return found


def _moved(name: str, origin: str | None, template: str | None) -> str:
    """Return the file's path where its template is now."""
    is_in = origin is not None and template is not None and name.startswith(f"{origin}/")
    return f"{template}{name.removeprefix(origin or '')}" if is_in else name


def _definitions(
    suites: BothSuites, sides: TwoSides, files: Mapping[str, Sequence[str]]
) -> tuple[DefinitionChange, ...]:
    """Return what will be checked differently: what head has otherwise than base and the target branch's tip.

    `files`: those that head changes, by scenario.
    """
    assert suites.base is not None
    assert suites.folder is not None
    found = _since(suites.folder, suites.base, sides, suites.head, files)
    if not found or suites.tip is None or suites.folder == sides.tip:
        return found
    changed = _changed_files(sides.tip, suites.tip, sides.head.folder, suites.head)
    still = {(one.scenario, one.agent) for one in _since(sides.tip, suites.tip, sides, suites.head, changed)}
    return tuple(one for one in found if (one.scenario, one.agent) in still)


def _since(
    before: Path, base: Suite, sides: TwoSides, head: Suite, files: Mapping[str, Sequence[str]]
) -> tuple[DefinitionChange, ...]:
    """Return head's changes of this suite, of the program that its judge or executor is, and of others of checks."""
    after = sides.head.folder
    found = [*changes(base, head, files)]
    run = getattr(base.executor, "run", "")
    named = {"judge": files_of(base.judge.members) if base.judge else (), "executor": named_files(run, ".")}
    for what, names in named.items():
        if differing := _differing(script_contents(before, names), script_contents(after, names)):
            found.insert(0, DefinitionChange(scenario=None, effect="less", detail=f"{what}: {few(differing)}"))
    called = _called_besides(base)
    old, new = _programs(before, base, called), _programs(after, head, called)
    tools = _tools(base) - called
    if programs := [name for name in _differing(old, new) if name not in old or name not in tools]:
        found.append(DefinitionChange(scenario=None, effect="other", detail=f"programs of path: {few(programs)}"))
    return tuple(found)


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _programs(root: Path, suite: Suite, called: Collection[str]) -> dict[str, list[str]]:
    """Return a hash of each program, by its name, that `path` finds in a checkout that is not built, and of each other
    file there that is `called`.
    """
    built = Built(root, suite.path)
    found = {name: os.path.relpath(program, root) for name in built.names if (program := built.program(name))}
    named = ((name, posixpath.join(folder, name)) for name in called for folder in suite.path)
    found |= {name: path for name, path in named if name not in found and (root / path).is_file()}
    return {name: [*script_contents(root, [program]).values()] for name, program in found.items()}


def _called_besides(suite: Suite) -> set[str]:
    """Return all that commands of setups and checks may name, but for the tool that the scenario is about."""
    found = set[str]()
    for one in suite.scenarios:
        commands = [getattr(check, "command", "") for check in (*one.gates, *one.post, *one.evaluator_scripts)]
        commands += [*one.setup, one.target.health_check or ""]
        commands += [command for evaluator in one.evaluators for command, _ in evaluator.scripts]
        found |= {name for command in commands for name in named_files(command, ".")} - {one.target.binary}
    return found


def _tools(suite: Suite) -> set[str]:
    """Return the names of the tools under test."""
    targets = [scenario.target for scenario in suite.scenarios]
    words = (word for one in targets for word in (one.binary, *(one.mcp.command.split() if one.mcp else ())))
    return {word.rpartition("/")[2] for word in words}


def _with_head(plan: Plan, suites: BothSuites, files: Mapping[str, Sequence[str]], options: Options) -> Plan:
    """Return the plan of base's rows with what head's product has otherwise, and head's own definitions.

    Head's settings of an agent that is given a key are base's, as they could send it elsewhere.
    """
    assert suites.base is not None
    agents = entrusted(suites.base.agents, suites.head.agents)
    rules = {key: getattr(suites.judging, key) for key in RULES}
    head = suites.head.model_copy(update={**rules, "agents": agents})
    changed = {name for name, own in files.items() if own}
    return pull_request_plan(plan, make_plan(suites.product), make_plan(head), changed, options.selection)


def _built(sides: TwoSides, suites: BothSuites) -> tuple[Checkout, ...]:
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
    judges. `folder` is the clean checkout that `judging` was read from. `tip` is the target branch's suite; the pull
    request does not change what head has in common with it.
    """

    judging: Suite
    product: Suite
    head: Suite
    base: Suite | None
    folder: Path | None
    comment_template: str | None
    warnings: tuple[str, ...]
    tip: Suite | None = None


def _load_both(branch: str, sides: TwoSides, *, config: str, environ: Mapping[str, str], lenient: bool) -> BothSuites:
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
    passed = environ
    if tip is not None:  # of what only servers get, head may know that it is set
        given = {name: "set" for name in tip.server_variables if environ.get(name)}
        passed = given | {name: environ[name] for name in tip.pass_env if name in environ}
    try:
        head = load_suite(sides.head.folder, config, environ=passed, without_secrets=lenient)
    except NothingToRunError as error:
        if tip is None:
            raise
        raise ConfigurationError(f"On head, {error.message}", "Keep the list: base's scenarios have to run.") from None
    warnings = (*warnings, *_newer_scenarios(tip, base, head, branch))
    if base is None or tip is None:
        advisory = head.model_copy(update={"policy": head.policy.model_copy(update={"mode": "advisory"})})
        template = _comment_template(sides.head.folder, "head", head)
        return BothSuites(advisory, advisory, head, None, None, template, warnings)
    rules = {key: getattr(tip, key) for key in RULES}
    judging = base.model_copy(update={**rules, "policy": _policy(tip, base)})
    product = _product(folder, sides, config, environ=environ, lenient=lenient)
    template = _comment_template(sides.tip, "base", tip)
    return BothSuites(judging, product, head, base, folder, template, warnings, tip)


def _policy(tip: Suite, base: Suite) -> Policy:
    """Return the tip's policy. An agent that the tip no longer defines blocks, since `policy.agents` cannot name it."""
    if tip.policy.agents is None:
        return tip.policy
    renamed = (name for name in base.agents if name not in tip.agents)
    return tip.policy.model_copy(update={"agents": (*tip.policy.agents, *renamed)})


def _product(folder: Path, sides: TwoSides, config: str, *, environ: Mapping[str, str], lenient: bool) -> Suite:
    """Return base's suite with the texts of files in prompts as head has them, and as base has what head has not."""
    try:
        return load_suite(folder, config, environ=environ, without_secrets=lenient, texts=sides.head.folder)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"With head's files in base's prompts, {error.message}", "Keep the files readable, or remove them."
        ) from None


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


_TRIALS = 3  # of base that are read, to know what varies by itself
_MOST = 4_000  # characters of a text that is read; of more, those from the first difference on are kept
MOST_FILES = 30
MOST_CHARACTERS = 10_000  # of one file


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
    return tuple(_change(path, diffs.get(path, ""), path in definitions, suites) for path in ordered[:MOST_FILES])


def _is_definition(path: str, suites: Sequence[Suite]) -> bool:
    return any(path == suite.file for suite in suites) or any(_scenarios(path, suites))


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
