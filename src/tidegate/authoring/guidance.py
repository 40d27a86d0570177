"""Compares two guidance files on the same scenarios, and improves one by edits that a model proposes."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tidegate.checks.rubrics.asking import ask_until_read
from tidegate.checks.rubrics.prompts import question
from tidegate.checks.rubrics.reading import mapping_of
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.history.run_folder import AnswerStore, write_text
from tidegate.model.judge import Judge, JudgeContext
from tidegate.model.measurement import TrialResult
from tidegate.model.result import Result
from tidegate.model.revision import Revision
from tidegate.model.suite import Scenario, Suite
from tidegate.run.checkouts import RevisionPair, commits_of, scratch_folder
from tidegate.run.grade import to_its_end
from tidegate.run.judge_client import JudgeClient, PanelClient
from tidegate.run.pipeline import pull_request
from tidegate.run.run_job import Options
from tidegate.run.single_run import single_run
from tidegate.suite.load import load_suite
from tidegate.text.shorten import shortened
from tidegate.trial.workspace import initial_state, is_guidance
from tidegate.vcs.revisions import commit_with, repository_root, resolve
from tidegate.vcs.worktrees import checkout


class GuidanceTexts(NamedTuple):
    """The two files, the name that both get in the repository, and the commit to run them on."""

    first: Path
    second: Path
    name: str
    rev: str


class Compared(NamedTuple):
    """Two results. `forward` has the second file on head; `backward` has the first file on head, with new trials."""

    forward: Result
    backward: Result


async def compare_guidance(repo: Path, texts: GuidanceTexts, out: Path, options: Options) -> Compared:
    """Compare the two files in both directions, with the procedure that compares pull requests.

    Two directions are needed because the procedure only looks for regressions of head. Raises ConfigurationError if
    a file is missing, both are the same, or no scenario's workspace has a file of that name.
    """
    root = repository_root(repo)
    for file in (texts.first, texts.second):
        if not file.is_file():
            raise ConfigurationError(f"there is no file {file}.", "Name two texts: tidegate guidance A.md B.md")
    if texts.first.read_bytes() == texts.second.read_bytes():
        raise ConfigurationError("both texts are the same.", "Name two different texts.")
    start = resolve(root, texts.rev)
    names = places(root, start, texts.name, options)
    first = commit_with(root, start.sha, names, texts.first)
    second = commit_with(root, first, names, texts.second)
    again = commit_with(root, second, names, texts.first)
    shown = str(texts.first), str(texts.second)
    there = commits_of(root, RevisionPair(first, second, shown))
    forward = await pull_request(root, there, out / "forward", options)
    fresh = replace(options, began=time.monotonic())  # a budget of its own
    back = commits_of(root, RevisionPair(second, again, (shown[1], shown[0])))
    backward = await pull_request(root, back, out / "backward", fresh)
    return Compared(forward, backward)


def places(root: Path, start: Revision, name: str, options: Options) -> list[str]:
    """Return the paths of the files that the scenarios' agents read under that name at a commit.

    Raises ConfigurationError if none reads one.
    """
    with scratch_folder() as scratch, checkout(root, start, scratch / "checkout") as folder:
        suite = load_suite(folder, options.config, environ=options.environ)
        names = sorted({place for scenario in suite.scenarios for place in _places(suite, scenario, name, folder)})
    if not names:
        raise ConfigurationError(
            f"no scenario's agent reads `{name}`: it is not among their guidance files.",
            "Name one that they read with `--as`, or add it to `guidance` in the suite.",
        )
    return names


def _places(suite: Suite, scenario: Scenario, name: str, folder: Path) -> Iterator[str]:
    """Yield the path in the repository of the file that the scenario's agent reads under that name, if it reads one.

    A template's own file comes before the repository's.
    """
    if name in (*scenario.case.guideline_files, *scenario.case.input_files):
        yield name
    elif is_guidance(name, scenario.guidance_or(suite.guidance)):
        start = initial_state(folder, scenario.template) / name if scenario.template is not None else None
        yield name if start is None or not start.is_file() else start.relative_to(folder).as_posix()


MOST_TRIALS, MOST_CALLS = 6, 20  # that the model reads
PATIENCE_SECS = 600.0  # for one proposal
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("why", "old", "new")},
    "required": ["why", "old", "new"],
    "additionalProperties": False,
}


class Proposal(NamedTuple):
    """A new text, and the model's reason for it in one sentence."""

    why: str
    text: str


class Round(NamedTuple):
    """One round: the model's reason, the trials that passed with the old and the new text, and if the new one stays."""

    why: str
    old: tuple[int, int]
    new: tuple[int, int]
    kept: bool


class Improved(NamedTuple):
    """The rounds, the last text that was kept, and its difference from the file as a unified diff."""

    rounds: tuple[Round, ...]
    text: str
    diff: str


async def improve_guidance(
    repo: Path, texts: GuidanceTexts, out: Path, options: Options, judge: Judge, most_rounds: int
) -> Improved:
    """Propose edits of `texts.first` from its failed trials, at most so many, and keep those that are better.

    Better means: the procedure finds the old text worse than the new one, and the new one in no scenario worse than
    the old. Each run has the suite's budget. Ends early if no trial fails. The file itself is not changed.
    """
    root = repository_root(repo)
    start = resolve(root, texts.rev)
    first = commit_with(root, start.sha, places(root, start, texts.name, options), texts.first)
    run = await single_run(root, first, out / "start", options)
    trials, current, rounds = run.trials, texts.first, list[Round]()
    place = JudgeContext(root, options.environ)
    for number in range(1, most_rounds + 1):
        failed = [trial for trial in trials if trial.decides == "fail"]
        if not failed:
            break
        old = current.read_text(encoding="utf-8")
        proposal = await _proposed(old, failed, [one.why for one in rounds if not one.kept], judge, place)
        if proposal.text.strip() == old.strip():
            break
        file = out / f"{number}.md"
        write_text(file, proposal.text)
        again = replace(options, began=time.monotonic())
        compared = await compare_guidance(root, texts._replace(first=current, second=file), out / str(number), again)
        kept = _is_better(compared)
        passed = [_passed(compared.forward.trials, side) for side in ("base", "head")]
        rounds.append(Round(proposal.why, passed[0], passed[1], kept))
        side = "head" if kept else "base"
        trials = tuple(trial for trial in compared.forward.trials if trial.side == side) or trials
        current = file if kept else current
    return Improved(tuple(rounds), current.read_text(encoding="utf-8"), _diff(texts, current))


def _is_better(compared: Compared) -> bool:
    worse = [row for row in compared.forward.rows if row.state in ("regressed", "unconfirmed")]
    return not worse and any(row.state == "regressed" for row in compared.backward.rows)


def _passed(trials: Sequence[TrialResult], side: str) -> tuple[int, int]:
    found = [trial.decides for trial in trials if trial.side == side and trial.decides]
    return found.count("pass"), len(found)


def _diff(texts: GuidanceTexts, current: Path) -> str:
    before, after = (file.read_text(encoding="utf-8").splitlines(keepends=True) for file in (texts.first, current))
    return "".join(difflib.unified_diff(before, after, f"a/{texts.name}", f"b/{texts.name}"))


async def _proposed(
    text: str, failed: Sequence[TrialResult], rejected: Sequence[str], judge: Judge, place: JudgeContext
) -> Proposal:
    """Return the model's next text. Raises CannotRunError if it gives none."""
    ask = question("improve", _FORM, text=text, trials="\n\n".join(_told(failed)), rejected="\n".join(rejected))
    ask = ask.model_copy(update={"samples": (1,)})
    deadline = time.monotonic() + PATIENCE_SECS
    async with JudgeClient(judge, place, AnswerStore(None), price=None, deadline=deadline) as client:
        found, _ = await to_its_end(ask_until_read(ask, partial(_read, text)), PanelClient((client,)).carry)
    if found is None or not found.read:
        raise CannotRunError(
            f"the model proposed nothing: {found.problem if found else 'no answer'}.", "Look at the judge and its key."
        )
    return found.read[0]


def _told(failed: Sequence[TrialResult]) -> Iterator[str]:
    for trial in failed[:MOST_TRIALS]:
        calls = (f"$ {call.command} → {call.ended} {shortened(call.message, 200)}" for call in trial.calls[:MOST_CALLS])
        yield "\n".join([f"{trial.scenario} failed: {trial.reason}", *calls])


def _read(text: str, answer: str) -> Proposal:
    """Return the text with the edit of the answer. The model saw it with secrets and the names of agents masked."""
    said = mapping_of(answer)
    why, old, new = (said.get(name) for name in ("why", "old", "new"))
    if not (isinstance(why, str) and isinstance(old, str) and isinstance(new, str)):
        raise ValueError("it lacks `why`, `old` or `new`")
    if old and text.count(old) != 1:
        raise ValueError("its `old` does not occur once in the text")
    return Proposal(" ".join(why.split()), text.replace(old, new) if old else f"{text.rstrip()}\n\n{new}\n")


def judge_for(judge: Judge | None) -> Judge:
    """Return the judge. Raises ConfigurationError if there is none."""
    if judge is None:
        raise ConfigurationError(
            "no judge is configured.", "Name one with `--judge MODEL`, or set `judge` in tidegate.yaml."
        )
    return judge
