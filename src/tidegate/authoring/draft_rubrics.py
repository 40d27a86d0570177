"""Drafts rubrics for the cases of an eval file with a model, for people to review."""

from __future__ import annotations

import asyncio
import io
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml as plain_yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString as Quoted
from ruamel.yaml.tokens import CommentToken
from ruamel.yaml.util import load_yaml_guess_indent

from tidegate.checks.rubrics.asking import Answers, ask_until_read
from tidegate.checks.rubrics.prompts import question
from tidegate.checks.rubrics.reading import draft_form, mapping_of
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.history.run_folder import AnswerStore, write_text
from tidegate.model.judge import AskModel, Judge, JudgeContext
from tidegate.model.suite import Scenario
from tidegate.model.value import Value
from tidegate.run.grade import to_its_end
from tidegate.run.judge_client import JudgeClient, PanelClient
from tidegate.text.shorten import excerpt

FEWEST, MOST = 3, 7
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


class Drafted(Value):
    """One drafted check, as it is written into a case."""

    id: str
    description: str
    weight: float
    required: bool


def draft_question(task: str, expected: str, reference: str) -> AskModel:
    """Return the question for three to seven checks, with a single sample."""
    ask = question("draft", draft_form(), task=task, expected=expected, reference=reference)
    return ask.model_copy(update={"samples": (1,)})


def read_draft(text: str) -> tuple[Drafted, ...]:
    """Return the checks in the answer. Raises ValueError with the reason if it has none."""
    found = mapping_of(text).get("rubrics")
    if not isinstance(found, list) or not FEWEST <= len(found) <= MOST:
        raise ValueError(f"it has no list of {FEWEST} to {MOST} `rubrics`")
    drafted = tuple(_one(entry) for entry in found)
    if len({one.id for one in drafted}) < len(drafted):
        raise ValueError("two of its rubrics have one id")
    return drafted


def _one(entry: Any) -> Drafted:
    if not isinstance(entry, dict):
        raise ValueError("one of its rubrics is not an object")
    name, words, weight, required = (entry.get(key) for key in ("id", "description", "weight", "required"))
    if not isinstance(name, str) or not _ID.match(name):
        raise ValueError(f"an id is not of lower-case words joined by hyphens: {excerpt(str(name), 60)}")
    if not isinstance(words, str) or not excerpt(words):
        raise ValueError(f"`{name}` has no description")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 100:
        raise ValueError(f"the weight of `{name}` is not between 0 and 100")
    if not isinstance(required, bool):
        raise ValueError(f"`required` of `{name}` is neither true nor false")
    return Drafted(id=name, description=excerpt(words, 500), weight=float(weight), required=required)


_OUTCOMES = ("expected_outcome", "outcome")
_NO_FOLDING = 1_000_000
_LOADER: Any = getattr(plain_yaml, "CSafeLoader", plain_yaml.SafeLoader)  # the loader that suites are read with

PATIENCE_SECS = 3600.0  # for all drafts together


class RubricDraft(NamedTuple):
    """The rubrics drafted for one case, or the reason why there are none."""

    case: str
    rubrics: tuple[Drafted, ...]
    problem: str = ""


async def draft_rubrics(
    path: Path, cases: Mapping[int, Scenario], judge: Judge, place: JudgeContext
) -> list[RubricDraft]:
    """Draft rubrics for these cases and write them into the file. The keys of `cases` are indexes in `evalcases`.

    Raises CannotRunError if the judge drafts nothing, ConfigurationError if the file's layout cannot be kept.
    """
    async with JudgeClient(
        judge, place, AnswerStore(None), price=None, deadline=time.monotonic() + PATIENCE_SECS
    ) as judge_client:
        answers = await asyncio.gather(*(_drafted(scenario, judge_client) for scenario in cases.values()))
    drafts = dict(zip(cases, answers, strict=True))
    found = {number: answer.read[0] for number, answer in drafts.items() if answer.read}
    if cases and not found:
        raise CannotRunError(f"the judge drafted nothing: {answers[0].problem}.", "Look at `judge` and its key.")
    try:
        text = with_rubrics(path.read_text(encoding="utf-8"), found)
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}.", "Nothing was written.") from None
    write_text(path, text)
    return [
        RubricDraft(cases[number].name, answer.read[0] if answer.read else (), answer.problem)
        for number, answer in drafts.items()
    ]


async def _drafted(scenario: Scenario, judge_client: JudgeClient) -> Answers[tuple[Drafted, ...]]:
    case = scenario.case
    asking = ask_until_read(draft_question(scenario.prompt, case.expected_outcome, case.reference_answer), read_draft)
    found, _ = await to_its_end(asking, PanelClient((judge_client,)).carry)
    assert found is not None  # it asks only the model, and the judge's client answers every such request
    return found


def with_rubrics(text: str, drafts: Mapping[int, Sequence[Drafted]]) -> str:
    """Return the file's text with `rubrics` added to these cases. The keys of `drafts` are indexes in `evalcases`.

    The rubrics go below the expected outcome. Raises ValueError if YAML cannot hold a draft, or if the result would
    not load as the old content plus the rubrics.
    """
    _, indent, dash = load_yaml_guess_indent(text)
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = _NO_FOLDING
    writer.indent(mapping=2, sequence=indent or 2, offset=dash or 0)
    document = writer.load(text)
    for number, drafted in drafts.items():
        _insert(document["evalcases"][number], drafted)
    written = io.StringIO()
    try:
        writer.dump(document, written)
        before, after = (plain_yaml.load(version, Loader=_LOADER) for version in (text, written.getvalue()))
    except (YAMLError, plain_yaml.YAMLError) as error:
        raise ValueError(f"YAML cannot hold a draft ({error.__class__.__name__})") from None
    for number in drafts:
        after["evalcases"][number].pop("rubrics")
    if before != after:
        raise ValueError("the file's layout is too unusual to be kept")
    return written.getvalue()


def _insert(case: Any, drafted: Sequence[Drafted]) -> None:
    keys = list(case)
    above = next((key for key in _OUTCOMES if key in case), keys[0])
    rubrics = [
        CommentedMap(id=Quoted(one.id), description=Quoted(one.description), weight=one.weight, required=one.required)
        for one in drafted
    ]
    comment = case.ca.items.get(above)
    if comment and comment[2]:  # the comment lines below this value describe the next key, so they move with it
        token = comment[2]
        beside, _, below = token.value.partition("\n")
        token.value = beside + "\n"
        rubrics[-1].ca.items["required"] = [None, None, CommentToken("\n" + below, token.start_mark), None]
    case.insert(keys.index(above) + 1, "rubrics", rubrics)
