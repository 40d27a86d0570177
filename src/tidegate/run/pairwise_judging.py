"""Lets the judge compare base's and head's trials of a row in pairs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from tidegate.evaluators.assess import use_of
from tidegate.evaluators.rubric_judge import RubricJudge
from tidegate.model.judge_result import PairJudgement
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import PlanRow, by_row
from tidegate.rubrics.pairwise import Pair, compare_pair
from tidegate.rubrics.work import Work
from tidegate.run.grade import asking_about, to_its_end
from tidegate.trial.ask_evaluators import Carry

Read = Callable[[TrialResult], Work]


async def judge_pairs(
    rows: Iterable[PlanRow], results: Sequence[TrialResult], read: Read, carry: Carry, commits: Sequence[str] = ()
) -> tuple[PairJudgement, ...]:
    """Have the judge compare the screening trials of both sides that have the same number and were judged.

    `read` returns the work of a trial. Each pair is asked about by itself, even if others read the same; `commits`
    tells other comparisons apart.
    """
    of_row = by_row(results)
    pairs = [
        _judged(row, base, head, read, asking_about(f"{'..'.join(commits)} {base.id} {head.id}", carry))
        for row in rows
        if isinstance(row.scenario.judge, RubricJudge)
        for base, head in _pairs(of_row[row.key])
    ]
    return tuple(await asyncio.gather(*pairs))


def _pairs(results: Sequence[TrialResult]) -> list[tuple[TrialResult, TrialResult]]:
    """Pair trials with equal numbers. A side that uses its history instead of new trials has no pairs."""
    sides = {
        side: {one.index: one for one in results if one.side == side and one.phase == "screen" and one.judge}
        for side in ("base", "head")
    }
    return [(sides["base"][index], head) for index, head in sorted(sides["head"].items()) if index in sides["base"]]


async def _judged(row: PlanRow, base: TrialResult, head: TrialResult, read: Read, carry: Carry) -> PairJudgement:
    judge = row.scenario.judge
    assert isinstance(judge, RubricJudge)
    asking = compare_pair(judge.criteria, row.scenario.prompt, read(base).text, read(head).text)
    found, answers = await to_its_end(asking, carry)
    found = found or Pair({}, "the judge was not asked")
    return PairJudgement(
        scenario=row.key.scenario,
        agent=row.key.agent,
        base=base.index,
        head=head.index,
        said=found.said,
        problem=found.problem,
        use=use_of(answers),
    )
