"""Try the fix of docs that still show what is gone: edit them in a copy of head, and run the regressed rows there."""

from __future__ import annotations

import glob
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import regex

from tidegate.decide.causes.diff_lines import MOST_EDITS, edits_of, is_doc, renamed
from tidegate.decide.causes.find import RENAMES
from tidegate.decide.causes.seen import named_in
from tidegate.history.run_folder import RunFolder
from tidegate.model.cause import Cause, CauseKind, Fix, Place
from tidegate.model.measurement import TrialResult, by_row
from tidegate.model.plan import Plan, RowKey
from tidegate.model.result import Result
from tidegate.model.revision import Revision
from tidegate.model.suite import Scenario, Suite
from tidegate.run.build import Checkout
from tidegate.run.run_job import Options, RunJob, runner_of, screening_specs
from tidegate.vcs.git import must
from tidegate.vcs.revisions import MOST as MOST_LINES
from tidegate.vcs.revisions import FileLine, lines_with
from tidegate.vcs.worktrees import checkout

GONE: frozenset[CauseKind] = RENAMES | frozenset[CauseKind]({"value"})
_DOCS = ("**/*.md", "**/*.markdown", "**/*.mdc", "**/*.rst", "**/*.adoc", "**/*.[1-8]")  # the last: man pages
_TESTS = frozenset({"test", "tests", "testdata"})  # folders
_HISTORY = ("changelog", "changes", "history", "news", "releases")
_ROFF = re.compile(r"\\f(?:[A-Z]|\[\w*\])|\\(?=-)")  # fonts, and the backslash of `\-`
_SHORT = re.compile(r"-\w")
MOST = 200  # characters of a line
LONGEST = 2_000  # of a line that is edited
MOST_PLACES = 20
MOST_TRIED = 3  # names of which no cause is known


async def with_fix(root: Path, result: Result, work: RunJob, options: Options) -> Result:
    """Return the result with the first edit of docs that makes regressed rows of deterministic agents pass.

    Scenario files are never edited: they are checks. So a row whose checks name what is gone is not tried. If no cause
    has a successor, names that the changed code replaces are tried; one that makes rows pass is their cause.
    """
    regressed = {row.key for row in result.rows if row.state == "regressed" and row.deterministic}
    if not regressed or (result.cost.budget_used is not None and result.cost.budget_used >= 1):
        return result
    for causes in _candidates(root, result, work, regressed):
        rows, named = _apart(regressed, causes, work.suite)
        if rows and (fix := await _tried(root, causes, rows, work, options)):
            found = explained(result.causes, causes, fix.rows)
            places = [{place for cause in some for place in cause.still_named} for some in (found, causes)]
            left = len(places[0] - places[1])
            fix = fix.model_copy(update={"named": tuple(sorted(named, key=str)), "left": left})
            return result.model_copy(update={"fix": fix, "causes": found})
    return result


def _candidates(root: Path, result: Result, work: RunJob, rows: Iterable[RowKey]) -> Iterator[tuple[Cause, ...]]:
    """Yield the causes that an edit may fix together: those with a successor, else each name that the code replaces."""
    known = tuple(nearest(cause) for cause in result.causes if _is_rename(cause) and cause.still_named)
    if known:
        yield tuple(cause for cause in known if cause.still_named)
        return
    tools = tuple(_programs(work.suite.scenarios))
    found = 0
    for old, new in renamed(result.changes).items():
        edits = edits_of((old,), [change for change in result.changes if not is_doc(change.path)], MOST_EDITS)
        cause = Cause(kind="name", rows=tuple(rows), about=tools, names=(old,), new=(new,), edits=edits)
        cause = nearest(_with_docs(root, work.sides[-1].revision, work.suite, cause))
        if cause.still_named and found < MOST_TRIED:
            found += 1
            yield (cause,)


def nearest(cause: Cause) -> Cause:
    """Return the cause with the places of its first files, as many as may be edited."""
    paths = [place.path for place in cause.still_named]
    most = max(
        (n for n in range(len(paths) + 1) if n <= MOST_PLACES and paths[n - 1 : n] != paths[n : n + 1]), default=0
    )
    return cause.model_copy(update={"still_named": cause.still_named[:most]})


def _apart(rows: Iterable[RowKey], causes: Iterable[Cause], suite: Suite) -> tuple[set[RowKey], set[RowKey]]:
    """Return the rows that an edit of docs can make pass, and those whose own checks name what is gone."""
    of_name = {scenario.name: scenario for scenario in suite.scenarios}
    named = {key for key in rows if any(checks_name(of_name[key.scenario], cause) for cause in causes)}
    return {*rows} - named, named


async def _tried(
    root: Path, causes: Sequence[Cause], rows: Iterable[RowKey], work: RunJob, options: Options
) -> Fix | None:
    """Return the edit with the rows that pass with it; None if none does."""
    options.progress.stage("trying a fix of the docs")
    head = work.sides[-1].revision
    with checkout(root, head, work.scratch / secrets.token_hex(8)) as folder:
        diff = edited(folder, causes)
        side = Checkout("head", head, folder, RunFolder(work.scratch / secrets.token_hex(8)))
        trials = await _trials(side, rows, work, options) if diff else []
    passing = {key for key, own in by_row(trials).items() if own and all(trial.decides == "pass" for trial in own)}
    of_rows = {"rows": passing, "others": {*rows} - passing}
    keys = {name: tuple(sorted(own, key=str)) for name, own in of_rows.items()}
    return Fix(diff=diff, trials=len(trials), **keys) if passing else None


def explained(known: Iterable[Cause], tried: Sequence[Cause], rows: Sequence[RowKey]) -> tuple[Cause, ...]:
    """Return the causes: if one name alone was edited, it explains the rows that pass then."""
    if len(tried) > 1:
        return tuple(known)
    (one,) = tried
    others = [cause.model_copy(update={"rows": tuple(key for key in cause.rows if key not in rows)}) for cause in known]
    own = next((cause for cause in known if (cause.kind, cause.names) == (one.kind, one.names)), None)
    kept = tuple(key for key in own.rows if key not in rows) if own else ()
    one = (own or one).model_copy(update={"rows": (*rows, *kept)})
    return (one, *(cause for cause in others if cause.rows and (cause.kind, cause.names) != (one.kind, one.names)))


def _is_rename(cause: Cause) -> bool:
    return cause.kind in GONE and len(cause.names) == len(cause.new) > 0 and not cause.passes


def checks_name(scenario: Scenario, cause: Cause) -> bool:
    """Return True if the scenario's checks, or the steps of its scripted agent, name what is gone."""
    parts = {"steps", "post", "evaluator_scripts", "gates", "evaluators", "judge", "composite"}
    forms = [_form(cause, name) for name in cause.names]
    texts = (_ROFF.sub("", text) for text in _texts(scenario.model_dump(include=parts)))
    return any(text in cause.names or any(form.search(text) for form in forms) for text in texts)


def _form(cause: Cause, name: str) -> regex.Pattern[str]:
    """Return the pattern of the name where it is not prose: a plain word has to be quoted, in a path or in its call.

    A short option may be that of any program, so it does not count behind another one's name, in small letters.
    """
    word = rf"{regex.escape(name)}(?![\w-])"
    if _SHORT.fullmatch(name) and cause.about:
        tool = regex.escape(cause.about[0].partition(" ")[0])
        other = rf"(?:^|[`|;&])\s*(?:[$#>%]\s*)?(?!{tool}\b)[a-z][\w./-]*\s(?:[^`|;&]*[^\w`|;&-])?"
        return regex.compile(rf"(?<![\w-])(?<!{other}){word}")
    if not name.isalpha():
        return regex.compile(rf"(?<![\w-]){word}")
    about = (cause.kind == "value" and cause.about[1:]) or cause.about  # a value is that of its option
    call = "|".join(rf"(?<![\w-]){regex.escape(call)}" for call in map(_command, about)) or "(?!)"
    forms = [rf"(?<=(?:{call})(?:\s+-\S+)*[\s=]+){word}"]
    if cause.kind != "subcommand" and about == cause.about:
        forms += [rf"(?<=[.\[]){word}", rf"(?<=[\"'`]){word}(?!\.\w)"]
    if cause.kind == "name":
        forms.append(rf"(?<=(?:{call})\s[^`|;&#]*[\s=]){word}")
    if cause.kind == "tool":
        forms.append(rf"^\s*{word}(?=\s*[{{(])")
    return regex.compile("|".join(forms))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def edited(folder: Path, causes: Iterable[Cause]) -> str:
    """Replace the names of the causes in this checkout, and return the patch with the files' own line ends."""
    for cause in causes:
        for place in cause.still_named:
            _edit(folder, place, cause)
    return must(folder, "diff", "-z", "--no-color", "--no-ext-diff")  # without -z, `must` strips and unifies lines


def _edit(folder: Path, place: Place, cause: Cause) -> None:
    """Replace the names of the cause on this line."""
    file = folder / place.path
    if file.is_symlink() or not file.resolve().is_relative_to(folder.resolve()):
        return
    lines = file.read_bytes().decode("utf-8", errors="surrogateescape").split("\n")
    if len(lines[place.line - 1]) > LONGEST:
        return
    for name, new in zip(cause.names, cause.new, strict=True):
        text = _form(cause, name).sub(new.replace("\\", r"\\"), lines[place.line - 1])
        roff = rf"(?:(?<![\w-])|(?<=\\f[A-Z])){re.escape(name.replace('-', chr(92) + '-'))}(?![\w-]|\\-)"
        lines[place.line - 1] = re.sub(roff, new.replace("-", r"\\-"), text) if "-" in name else text
    file.write_bytes("\n".join(lines).encode("utf-8", errors="surrogateescape"))


async def _trials(side: Checkout, keys: Iterable[RowKey], work: RunJob, options: Options) -> list[TrialResult]:
    """Return the trials of these rows in the edited copy."""
    wanted = frozenset(keys)
    plan = Plan(rows=tuple(row for row in work.plan.rows if row.key in wanted))
    job = RunJob(work.suite, plan, (side,), work.scratch, work.answers)
    async with runner_of(job, options) as runner:
        return await runner.run(screening_specs(job, None))


def with_docs(root: Path, head: Revision, suite: Suite, causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return the causes, each with the lines that still name what is gone."""
    return tuple(_with_docs(root, head, suite, cause) for cause in causes)


def _with_docs(root: Path, head: Revision, suite: Suite, cause: Cause) -> Cause:
    if cause.kind not in GONE or not cause.names:
        return cause
    gone = cause.names if cause.kind == "option" else cause.names[:1]
    own = {row.scenario for row in cause.rows}
    scenarios = [scenario for scenario in suite.scenarios if scenario.name in own]
    files = {scenario.file for scenario in suite.scenarios}
    templates = [f"{glob.escape(scenario.template)}/**" for scenario in scenarios if scenario.template]
    # Where no call shows what a plain word is, it may be data, unless an agent of these rows reads it.
    searched = templates if cause.kind == "name" and gone[0].isalpha() else _DOCS
    patterns = (*suite.guidance_globs, *searched, *map(glob.escape, sorted(files)))
    lines = {
        line: None
        for name in gone
        for line in _lines(root, head, name, patterns)
        if _form(cause, name).search(line.text) and not _is_history(line.path)
    }
    calls = tuple(_command(call) for call in cause.about)
    calls += tuple(name for name in gone if cause.kind in ("tool", "name") and not name.isalpha())
    nowhere = [name for name in gone if name.startswith("--") and _is_nowhere(root, head, name, files, scenarios)]
    docs = _docs([line for line in lines if line.path not in files], calls, gone, scenarios, nowhere)
    checks = _checks([line for line in lines if line.path in files], calls, gone, scenarios)
    return cause.model_copy(update={"still_named": tuple(map(_place, docs)), "checked_in": tuple(checks)})


def _lines(root: Path, head: Revision, name: str, patterns: Sequence[str]) -> Iterator[FileLine]:
    """Yield the lines with the name, those of man pages as a reader sees them."""
    for form in dict.fromkeys((name, name.replace("-", r"\-"))):
        for line in lines_with(root, head, form, patterns):
            yield line._replace(text=_ROFF.sub("", line.text)) if line.path[-1].isdigit() else line


def _is_history(path: str) -> bool:
    return Path(path).stem.lower().startswith(_HISTORY)


def _is_nowhere(root: Path, head: Revision, name: str, files: Iterable[str], scenarios: Sequence[Scenario]) -> bool:
    """Return True if no code has this option: only docs, tests, checks, histories and calls of the tool have it."""
    call = rf"(?<![\w-])(?:{'|'.join(map(re.escape, _programs(scenarios)))})\s[^'\"]*{re.escape(name)}"
    lines = [line for line in lines_with(root, head, name, ["**"]) if named_in(line.text, name)]
    return len(lines) < MOST_LINES and all(
        is_doc(line.path)
        or line.path in files
        or _is_history(line.path)
        or _is_test(line.path)
        or re.search(call, line.text)
        for line in lines
    )


def _is_test(path: str) -> bool:
    return not _TESTS.isdisjoint(path.lower().split("/")[:-1])


def _command(call: str) -> str:
    """Return the part of a call that docs show alike: without the arguments of an MCP tool, and its server."""
    parts = call.split(" ", 2)
    return parts[1] if len(parts) > 1 and (parts[0] == "target" or parts[-1].startswith("{")) else call


def _docs(
    lines: list[FileLine],
    calls: Sequence[str],
    gone: Sequence[str],
    scenarios: Sequence[Scenario],
    nowhere: Sequence[str],
) -> list[FileLine]:
    """Return the docs' lines about these calls, the most important first; else one that names the tool.

    A line that has an option which is `nowhere` in the code is about it, wherever it stands. Docs of tests are not
    the tool's, unless agents read them.
    """
    folders = tuple(f"{scenario.template}/" for scenario in scenarios if scenario.template)
    lines = [line for line in lines if line.path.startswith(folders) or not _is_test(line.path)]
    lines.sort(key=lambda line: _rank(line, folders))
    about = [line for line in lines if _is_about(line.text, calls) or _lists(line.text, nowhere)]
    programs = _programs(scenarios)
    if not about:
        return [line for line in lines if any(program in line.text for program in programs)][:1]
    # A text that shows the tool's call may list or describe the option elsewhere. It may be another subcommand's.
    paths = {line.path for line in about} if programs.intersection(calls) else ()
    return [line for line in lines if line in about or (line.path in paths and _lists(line.text, gone))]


def _checks(
    lines: list[FileLine], calls: Sequence[str], gone: Sequence[str], scenarios: Sequence[Scenario]
) -> Iterator[Place]:
    """Yield the lines of scenario files about these calls; of the cause's own scenarios, lists of options as well."""
    own = {scenario.file for scenario in scenarios}
    for line in sorted(lines):
        if _is_about(line.text, calls) or (line.path in own and _lists(line.text, gone)):
            yield _place(line)


def _is_about(text: str, calls: Sequence[str]) -> bool:
    return any(named_in(text, call) for call in calls)


def _programs(scenarios: Sequence[Scenario]) -> set[str]:
    return {scenario.target.binary.rpartition("/")[2] for scenario in scenarios}


def _lists(text: str, gone: Sequence[str]) -> bool:
    """Return True if the text has one of the options, a short one only in a list or quoted: not in `grep -r`."""
    return any(
        named_in(text, name)
        if name.startswith("--")
        else re.search(rf"(?:^(?:\.[A-Z]+ )?|[,:`'\"\[])\s*{re.escape(name)}(?:[,`'\"\]]|\s[\"\s]|$)", text)
        for name in gone
        if name.startswith("-")
    )


def _place(line: FileLine) -> Place:
    return Place(side="head", path=line.path, line=line.number, text=line.text.strip()[:MOST])


def _rank(line: FileLine, folders: tuple[str, ...]) -> tuple[int, int, str, int]:
    """Return a sort key: first what the rows' own agents read, then files near the root, by name and line."""
    depth = line.path.count("/")
    nearest = 0 if line.path.startswith(folders) else 1 if depth == 0 else 2
    return nearest, depth, line.path, line.number
