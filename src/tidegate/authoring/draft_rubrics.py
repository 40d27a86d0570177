"""Drafts rubrics for the cases of an eval file with a model, for people to review."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tidegate.authoring.rubric_writer import with_rubrics
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.model.judge import Judge, JudgeContext
from tidegate.model.suite import Scenario
from tidegate.rubrics.asking import Answers, ask_until_read
from tidegate.rubrics.drafting import Drafted, draft_question, read_draft
from tidegate.run.grade import to_its_end
from tidegate.run.judge_client import JudgeClient
from tidegate.run.panel_client import PanelClient
from tidegate.store.judge_answers import AnswerStore
from tidegate.store.run_folder import write_text

PATIENCE_SECS = 3600.0  # for all drafts together


class Draft(NamedTuple):
    """The rubrics drafted for one case, or the reason why there are none."""

    case: str
    rubrics: tuple[Drafted, ...]
    problem: str = ""


async def draft_rubrics(path: Path, cases: Mapping[int, Scenario], judge: Judge, place: JudgeContext) -> list[Draft]:
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
        Draft(cases[number].name, answer.read[0] if answer.read else (), answer.problem)
        for number, answer in drafts.items()
    ]


async def _drafted(scenario: Scenario, judge_client: JudgeClient) -> Answers[tuple[Drafted, ...]]:
    case = scenario.case
    asking = ask_until_read(draft_question(scenario.prompt, case.expected_outcome, case.reference_answer), read_draft)
    found, _ = await to_its_end(asking, PanelClient((judge_client,)).carry)
    assert found is not None  # it asks only the model, and the judge's client answers every such request
    return found
