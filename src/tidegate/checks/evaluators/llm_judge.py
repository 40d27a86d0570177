"""The evaluator `llm_judge`."""

from __future__ import annotations

import json
from typing import ClassVar, Literal

from tidegate.checks.evaluators.code_judge import judge_document
from tidegate.checks.evaluators.rubric_judge import judged_score
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.rubrics.asking import Criterion, ask_until_read
from tidegate.checks.rubrics.prompts import VARIABLES, filled, question, wording
from tidegate.checks.rubrics.reading import read_score, score_form
from tidegate.checks.rubrics.work import candidate_answer, work_of
from tidegate.model.evaluator import PASS, Evaluation, Evaluator, EvaluatorRecord
from tidegate.model.judge import AskModel

_SCORE = (Criterion(id="score", description="the whole"),)


class LlmJudge(Evaluator):
    """Asks the judge for one score of the agent's answer: `{score, hits, misses, reasoning}`.

    `prompt` is a file next to the scenario with your own prompt. Its variables are `{{question}}`,
    `{{expected_outcome}}`, `{{reference_answer}}`, `{{candidate_answer}}`, `{{input_messages}}`,
    `{{expected_messages}}`, `{{output_messages}}`, `{{transcript}}`, `{{calls}}` (the recorded calls of the tool) and
    `{{changes}}` (the diff of the workspace). Without `prompt`, the default prompt shows all of these but the
    messages. The judge is the one in `tidegate.yaml`, else the one that a target's `judge_target` names.
    """

    judged: ClassVar[bool] = True

    type: Literal["llm_judge"] = "llm_judge"
    prompt: NonEmpty | None = None

    @property
    def wordings(self) -> dict[str, str]:
        """The hash of the whole prompt."""
        return one_wording("answer", self.prompt)

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Ask the judge once."""
        if self.prompt is not None:
            return (yield from one_score(filled(self.prompt, variables(record), score_form())))
        ask = question(
            "answer",
            score_form(),
            task=record.prompt,
            expected=record.case.expected_outcome,
            reference=record.case.reference_answer,
            work=work_of(record.events, record.invocations, record.diff),
            answer=candidate_answer(record.events),
        )
        return (yield from one_score(ask))


def one_score(ask: AskModel) -> Evaluation:
    """Ask for a single score, and use the judge's reasoning as the reason."""
    score = judged_score(_SCORE, (yield from ask_until_read(ask, read_score)), met=PASS)
    if score.judgement is None:
        return score
    (criterion,) = score.judgement.criteria
    return score.model_copy(update={"reason": criterion.reason, "details": {}})


def one_wording(ours: str, own: str | None) -> dict[str, str]:
    """Return the hash of a single score's prompt: template `ours`, or the project's `own` prompt."""
    (score,) = _SCORE
    return {score.id: wording(ours, "") if own is None else wording("own", own)}


def variables(record: EvaluatorRecord) -> dict[str, str]:
    """Return the value of each prompt variable. Lists are JSON."""
    work = work_of(record.events, record.invocations, record.diff)
    told = json.loads(judge_document(record))
    told |= {"transcript": work.transcript, "calls": work.calls, "changes": work.changes}
    return {
        name: told[name] if isinstance(told[name], str) else json.dumps(told[name], ensure_ascii=False, indent=1)
        for name in VARIABLES
    }
