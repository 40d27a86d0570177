"""More stories, whose verdicts the product itself makes: rows and changed definitions go in, `decide` says the rest."""

from __future__ import annotations

from typing import Any

from tests.make import result, row, trial_result
from tidegate.decide.comparison.whole_suite import doubts
from tidegate.decide.verdict import decide, nothing_to_do
from tidegate.model.comparison import (
    BaseCounts,
    Comparison,
    CriterionScores,
    DefinitionChange,
    GateCounts,
    HeadCounts,
    JudgeChange,
    JudgeSide,
    MetricChange,
    Row,
    SuiteEffect,
)
from tidegate.model.evaluator import CriterionScore, Judgement
from tidegate.model.judge_result import JudgeInfo, JudgeReport, JudgeResult
from tidegate.model.measurement import AgentInfo
from tidegate.model.result import BaseSide, Cost, FileChange, HeadSide, Result, Sides, TrialTotals
from tidegate.model.suite import ContextTokens, Policy, RowState
from tidegate.model.surface import Interface, InterfaceChange
from tidegate.model.trial_spec import NotMeasured, Side
from tidegate.reports.notes_text import notes_text
from tidegate.reports.verdict_text import verdict_of

BASE_SHA = "4f1c2a9be07d5a3386f0c1d2e3b4a5968778695a"
HEAD_SHA = "b82d07e4c9f3a1560e7d8c9bab1a2f3e4d5c6b7a"
SIDES = Sides(base=BaseSide(sha=BASE_SHA, ref="main"), head=HeadSide(sha=HEAD_SHA, ref="rename-prio-flag"))


def added_and_removed() -> Result:
    """A scenario of head alone, and one of base alone, by which less is checked from the merge on."""
    return _result(
        _row("export_csv", "added", (0, 0), (1, 1), "new in the suite; passes 1 of 1 trials on head"),
        _row("old_export", "removed", (0, 0), (0, 0), "is no longer in the suite"),
        _fine("add_task"),
        definitions=(
            DefinitionChange(scenario="old_export", effect="less", detail="scenario removed"),
            DefinitionChange(scenario="export_csv", effect="more", detail="new scenario"),
        ),
    )


def budget_used_up() -> Result:
    reason = "no trial was measured on base or head (budget: the run's 5 minutes were used up)"
    return _result(
        _row("sync", "not_measured", (0, 0), (0, 0), reason, "budget"),
        _row("import_csv", "not_measured", (0, 0), (0, 0), reason, "budget"),
        _fine("add_task"),
        cost=Cost(
            usd=5.01,
            tokens_in=900_000,
            tokens_out=40_000,
            trials=TrialTotals(base=1, head=1),
            seconds=301,
            budget_used=1,
        ),
    )


def first_run() -> Result:
    """Base has no suite: there is nothing to compare with, and no rule in force yet."""
    return _result(
        _row("add_task", "added", (0, 0), (1, 1), "new in the suite; passes 1 of 1 trials on head"),
        _row("list_tasks", "added", (0, 0), (0, 1), "new in the suite; passes 0 of 1 trials on head"),
        policy=Policy(mode="advisory"),
        warnings=("main has no tidegate.yaml: nothing can be compared yet, and nothing is blocked.",),
    )


def monorepo_instance() -> Result:
    return _result(_fine("add_task"), _fine("list_tasks")).model_copy(update={"instance": "packages/cli"})


def not_comparable() -> Result:
    why = "the build fails on base alone, so there is nothing to compare with"
    return _result(
        _row("add_task", "not_comparable", (0, 0), (1, 1), f"{why}; passes 1 of 1 trials on head"),
        _fine("list_tasks"),
    )


def baseline_changed() -> Result:
    """History says one thing and fresh base trials another: the provider or the world changed, not the pull request."""
    moved = Row(
        scenario="search_text",
        agent="claude",
        state="baseline_changed",
        reason="base itself passes 1 of 3 trials now, 39 of 40 before: something outside the repository changed"
        ", for example the provider",
        base=BaseCounts(passes=40, trials=43, history=(39, 40), fresh=(1, 3)),
        head=HeadCounts(passes=2, trials=6, screen=(1, 3), confirm=(1, 3)),
    )
    return _result(
        moved,
        _fine("add_task"),
        cost=Cost(
            usd=0.62,
            tokens_in=510_000,
            tokens_out=9_000,
            trials=TrialTotals(base=4, head=7),
            seconds=301,
            budget_used=0.12,
        ),
    )


def judged() -> Result:
    """A model finds head's answers worse; it warns, and the check stays green."""
    criteria = (
        CriterionScore(id="names all three notes", score=0.4, reason="It leaves out the third.", required=True),
        CriterionScore(id="is polite", score=1.0, reason="It says please."),
    )
    opinion = JudgeResult(
        weighted_score=0.6, pass_threshold=0.7, passed=False, judgement=Judgement(criteria=criteria, samples=(0.6,))
    )
    trials = tuple(
        trial_result(side=side, scenario="add_task", agent="docs", reason="all gates passed", judge=opinion)
        for side in SIDES_OF
    )
    change = JudgeChange(
        base=JudgeSide(score=0.92, judged=1),
        head=JudgeSide(score=0.6, judged=1, below=1),
        difference=-0.32,
        interval=(-0.5, -0.14),
        warns=True,
        criteria=(
            CriterionScores(criterion="names all three notes", base=1.0, head=0.4, reason="It leaves out the third."),
            CriterionScores(criterion="is polite", base=1.0, head=1.0, reason="It says please."),
        ),
    )
    fine = _fine("add_task").model_copy(update={"judge": change})
    info = JudgeInfo(type="anthropic", model="claude-sonnet-4-6")
    report = JudgeReport(judge=info, judged=2, calls=2, usd=0.02)
    return _result(fine).model_copy(update={"judge": report, "trials": trials})


def nothing_changed() -> Result:
    return _result(verdict=verdict_of(Comparison(rows=()), nothing_to_do(Policy())), cost=Cost(seconds=0.4))


def nothing_passes() -> Result:
    """No row could have got worse."""
    why = "no regression detected; fails on both sides: passes 0 of 1 trials on head, 0 of 1 on base"
    gates = (
        GateCounts(gate="tasks.json exists", base=(1, 1), head=(1, 1)),
        GateCounts(gate="2 tasks", base=(0, 1), head=(0, 1)),
    )
    rows = [_row(name, "ok", (0, 1), (0, 1), why).model_copy(update={"gates": gates}) for name in ("add_task", "sync")]
    return _result(*rows, warnings=tuple(notes_text(doubts(rows, ()))))


def metric() -> Result:
    """A metric that the policy names got worse by more than it allows."""
    change = MetricChange(base=0.05, head=0.4, effect=0.35, interval=(0.2, 0.5), q=0.001, warns=True)
    policy = Policy(block_metrics={"error_rate": 0.10})
    return _result(*map(_fine, ("add_task", "sync")), policy=policy, suite=SuiteEffect(metrics={"error_rate": change}))


def interface() -> Result:
    """Base's policy blocks what head's server no longer offers; another tool could not be asked."""
    policy = Policy(interface="block", context_tokens=ContextTokens(max_increase=500))
    changes = (
        InterfaceChange(impact="breaking", part="`add_item`", detail="gone", docs=("README.md:12", "AGENTS.md:4")),
        InterfaceChange(impact="breaking", part="`list_items`", detail="destructiveHint true → false"),
        InterfaceChange(impact="additive", part="`limit` of `list_items`", detail="new", scenarios=("sync",)),
        InterfaceChange(impact="text", part="`list_items`", detail="other description", scenarios=("sync", "add_task")),
    )
    tokens = {"add_item": (412, None), "list_items": (648, 10_003)}
    offered = Interface(tool="tasks", changes=changes, tokens=tokens)
    unknown = Interface(tool="notes", why="base: the MCP server `notes --stdio` did not start: exit code 1")
    rows = (_fine("add_task"), _fine("sync"))
    decision = decide(Comparison(rows=rows, interfaces=(offered, unknown)), policy)
    made = _result(*rows, policy=policy, interfaces=(offered, unknown))
    return made.model_copy(update={"interfaces": decision.interfaces})


def suite_regressed() -> Result:
    """Everything a little worse, and no row enough to be named."""
    rows = [_row(name, "ok", (9, 10), (7, 10), f"no regression detected of {name}") for name in ("add", "sync", "list")]
    suite = SuiteEffect(base_rate=0.9, head_rate=0.7, difference=-0.2, interval=(-0.3, -0.1), state="regressed")
    return _result(*(row.model_copy(update={"deterministic": False}) for row in rows), suite=suite)


def infrastructure() -> Result:
    """Every row has an outcome, but too many trials have none."""
    lost = tuple(
        trial_result(
            scenario="sync",
            agent="docs",
            index=index,
            outcome=None,
            reason="the trial could not be run: no space left on device",
            not_measured="infrastructure",
        )
        for index in (2, 3)
    )
    sync = _fine("sync").model_copy(update={"head": HeadCounts(passes=1, trials=1, not_measured=2)})
    return _result(_fine("add_task"), sync, excluded_share=0.33).model_copy(update={"trials": lost})


def setup_not_measured() -> Result:
    """Each of three rows for a reason of its own, and so with an advice of its own."""
    where = "no trial was measured on base or head"
    return _result(
        _row("sync", "not_measured", (0, 0), (0, 0), f"{where} (build: `make` ended with exit 2)", "build"),
        _row("import", "not_measured", (0, 0), (0, 0), f"{where} (auth: the provider answered 401)", "auth"),
        _row("export", "not_measured", (0, 0), (0, 0), f"{where} (judge: the judge gave no answer)", "judge"),
        _fine("add_task"),
    )


def no_scenarios() -> Result:
    return _result()


def stopped() -> Result:
    """Some rows were cancelled before they had an outcome."""
    reason = "no trial was measured on head (cancelled: the run was stopped)"
    return _result(_row("sync", "not_measured", (1, 1), (0, 0), reason, "cancelled"), _fine("add_task"))


SIDES_OF: tuple[Side, ...] = ("base", "head")
CHANGES = (
    FileChange(
        path="scenarios/add_high_priority.yaml",
        role="definition",
        scenarios=("add_high_priority",),
        diff="diff --git a/s.yaml b/s.yaml\n@@ -1 +1 @@\n-description: Add one.\n+description: Add a task.\n",
    ),
    FileChange(path="cli.py", role="watched", diff="diff --git a/cli.py b/cli.py\n@@ -1 +1 @@\n---prio\n+--priority\n"),
)


def _row(
    scenario: str,
    state: RowState,
    base: tuple[int, int],
    head: tuple[int, int],
    reason: str,
    not_measured: NotMeasured | None = None,
) -> Row:
    more = {"scenario": scenario, "agent": "docs", "not_measured": not_measured, "deterministic": True}
    return row(state, base, head, reason=reason, **more)


def _fine(scenario: str) -> Row:
    return _row(scenario, "ok", (1, 1), (1, 1), "no regression detected: passes 1 of 1 trials on head, 1 of 1 on base")


def _result(*rows: Row, **fields: Any) -> Result:
    cost = Cost(trials=TrialTotals(base=len(rows), head=len(rows)), seconds=4.2, budget_used=0.01)
    agents = {"docs": AgentInfo(type="doc-follower")}
    return result(*rows, **{"sides": SIDES, "agents": agents, "cost": cost, **fields})
