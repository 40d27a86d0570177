"""What evaluators' scripts and judges are given."""

from __future__ import annotations

import asyncio

import pytest

from tests import make
from tidegate.checks.evaluators.assess import record_of
from tidegate.checks.evaluators.code_judge import CodeJudge
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.model.evaluator import Evaluator
from tidegate.model.event import CommandResult, ToolCall, ToolResult
from tidegate.model.judge import ModelAnswer
from tidegate.model.probe import CommandAnswer, FileAnswer, Request, RunJudge
from tidegate.text.shorten import both_ends
from tidegate.trial.checks import answered

LONG = "kept\n" * 40_000


@pytest.mark.parametrize(("output", "diff", "cut"), [("kept", "", False), (LONG, "", True), ("kept", LONG, True)])
@pytest.mark.parametrize("evaluator", [CodeJudge(script="./judge"), LlmJudge()], ids=lambda one: one.type)
def test_an_answer_says_whether_what_was_given_is_cut(
    evaluator: Evaluator, output: str, diff: str, *, cut: bool
) -> None:
    """A script is not given the diff."""
    shown = both_ends(output, 4000)
    events = (ToolCall(id="1", tool="shell", command="t"), ToolResult(id="1", status="ok", output=shown))
    record = record_of(make.trial(events=events), make.scenario()).model_copy(update={"diff": diff})

    async def carry(request: Request) -> CommandAnswer | ModelAnswer:
        if isinstance(request, RunJudge):
            return CommandAnswer(result=CommandResult(command="./judge", end="exited", exit_code=0, stdout="1"))
        return ModelAnswer(replies=())

    first, *_ = asyncio.run(answered(evaluator, record, carry))
    assert not isinstance(first, FileAnswer)
    assert first.cut is (cut and not (diff and isinstance(evaluator, CodeJudge)))
