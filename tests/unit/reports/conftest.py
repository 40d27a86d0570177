"""Makers of realistic results, and one story for every way that a comparison can end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests import make
from tests.unit.reports import situations
from tests.unit.reports.situations import BASE_SHA, HEAD_SHA
from tidegate.github.workflow_run import NOTICE
from tidegate.model.cause import Cause, ChangedLine, Place
from tidegate.model.comparison import (
    BaseCounts,
    Comparison,
    DefinitionChange,
    Divergence,
    Effect,
    Evidence,
    FailedCall,
    GateCounts,
    HeadCounts,
    MetricChange,
    Row,
    SuiteEffect,
)
from tidegate.model.marker import Fixed
from tidegate.model.measurement import AgentInfo, Call, GateResult, Metrics, SubcommandCounts, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.result import BaseSide, Cost, HeadSide, Result, Sides, TrialTotals, Verdict
from tidegate.model.revision import Links
from tidegate.model.suite import Policy, RowState
from tidegate.model.surface import Interface, InterfaceChange
from tidegate.reports.comment import comment_body
from tidegate.reports.next_steps import render_cancelled, render_could_not_run, render_not_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DETECTION = {"-0.3": 0.31, "-0.5": 0.73, "-1.0": 1.0}
HOSTILE = (
    "--> </details><img src=x onerror=alert(1)> <!-- tidegate instance=default head=0 --> @octocat #12 GH-7 a/b#3 "
    "`x` ``y`` | a | b | ![p](http://evil.example/p.png) [ok](http://evil.example) www.evil.example "
    "4f1c2a9be07d5a33 \x1b[31mred\x1b[0m \u202egnp.exe \u200b\u3164\r\n# ✅ passed\n```\n~~~\n"
    "::error::forged\n- [x] done $x$ :tada:"
)


def row(scenario: str, state: RowState, base: str, head: str, agent: str = "docs", **more: Any) -> Row:
    """A row from `passes/trials` on both sides; '' is a side without measured trials."""
    (bp, bn), (hp, hn) = _counts(base), _counts(head)
    return make.row(
        state,
        **{
            "scenario": scenario,
            "agent": agent,
            "base": BaseCounts(passes=bp, trials=bn, fresh=(bp, bn)),
            "head": HeadCounts(passes=hp, trials=hn, screen=(hp, hn)),
            **more,
        },
    )


def _counts(text: str) -> tuple[int, int]:
    passes, _, trials = text.partition("/")
    return (int(passes), int(trials)) if text else (0, 0)


def metrics(**changes: tuple[float | None, float | None]) -> dict[str, MetricChange]:
    """Metrics as `error_rate=(base, head)`."""
    return {
        name: MetricChange(base=b, head=h, effect=None if b is None or h is None else h - b)
        for name, (b, h) in changes.items()
    }


def calm_metrics() -> dict[str, MetricChange]:
    return metrics(
        error_rate=(0.0, 0.0), first_try_success_rate=(1.0, 1.0), command_count=(3, 3), duration_s=(0.21, 0.22)
    )


def trial(scenario: str, side: Literal["base", "head"], index: int, outcome: Literal["pass", "fail"]) -> TrialResult:
    failed = outcome == "fail"
    return make.trial_result(
        side=side,
        scenario=scenario,
        agent="docs",
        index=index,
        phase="screen" if index == 1 else "confirm",
        outcome=outcome,
        reason="command_succeeds: taskmgr list --json: no task of high priority" if failed else "all gates passed",
        end="completed",
        metrics=Metrics(command_count=3, error_count=2 if failed else 0, error_rate=2 / 3 if failed else 0.0),
        subcommands={"add": SubcommandCounts(count=2, errors=2 if failed else 0, retries=1 if failed else 0)},
        gates=(
            GateResult(
                type="command_output_contains",
                label="the task has high priority",
                passed=not failed,
                message="'high' is in the output" if not failed else "'high' is not in the output of `taskmgr list`",
            ),
        ),
        calls=(
            Call(command="taskmgr --help", exit_code=0, status="ok"),
            Call(
                command="taskmgr add --prio high x",
                exit_code=2 if failed else 0,
                status="error" if failed else "ok",
                message="taskmgr: error: unrecognized arguments: --prio" if failed else "",
            ),
        ),
    )


def result(*rows: Row, policy: Policy | None = None, **more: Any) -> Result:
    """The verdict is the product's own."""
    return make.result(
        *rows,
        policy=policy,
        **{
            "sides": situations.SIDES,
            "agents": {"docs": AgentInfo(type="doc-follower")},
            "cost": Cost(trials=TrialTotals(base=4, head=4), seconds=12.3, budget_used=0.01),
            **more,
        },
    )


def calm_row(name: str) -> Row:
    said = "no regression detected: passes 1 of 1 trials on head, 1 of 1 on base"
    return row(name, "ok", "1/1", "1/1", reason=said, deterministic=True, metrics=calm_metrics())


def all_fine() -> Result:
    names = ("add_task", "list_tasks", "finish_task", "export_json")
    return result(
        *(calm_row(name) for name in names),
        suite=SuiteEffect(base_rate=1.0, head_rate=1.0, difference=0.0, interval=(-0.09, 0.09)),
    )


def all_fine_stochastic() -> Result:
    rows = [
        row(
            name,
            "ok",
            base,
            head,
            agent="claude",
            metrics=metrics(
                error_rate=(0.08, 0.06),
                first_try_success_rate=(0.91, 0.93),
                command_count=(4.2, 4.4),
                duration_s=(31.0, 29.4),
            ),
        )
        for name, base, head in (
            ("add_task", "39/40", "3/3"),
            ("search_text", "33/40", "2/3"),
            ("sync", "40/40", "3/3"),
        )
    ]
    return result(
        *rows,
        suite=SuiteEffect(
            base_rate=0.93, head_rate=0.89, difference=-0.04, interval=(-0.16, 0.08), detection=DETECTION
        ),
        agents={"claude": AgentInfo(type="claude-code", model="claude-haiku-4-5", version="2.0.1")},
        sides=Sides(
            base=BaseSide(sha=BASE_SHA, ref="main", origin="history", history_trials=120),
            head=HeadSide(sha=HEAD_SHA, ref="faster-sync"),
        ),
        cost=Cost(
            usd=0.4312,
            tokens_in=412_000,
            tokens_out=9_120,
            trials=TrialTotals(base=0, head=9),
            seconds=185.2,
            budget_used=0.086,
        ),
    )


def _with_rows(fine: Result, *rows: Row) -> Result:
    """Those rows first, with the verdict that they make."""
    both = (*rows, *fine.rows)
    return fine.model_copy(update={"rows": both, "verdict": make.verdict(Comparison(rows=both))})


def refused_option() -> Cause:
    removed = Place(side="base", path="taskmgr/cli.py", line=31, text='add.add_argument("--prio", default="normal")')
    added = Place(side="head", path="taskmgr/cli.py", line=31, text='add.add_argument("--urgency", default="normal")')
    return Cause(
        kind="option",
        about=("taskmgr add",),
        rows=(RowKey(scenario="add_high_priority", agent="docs"),),
        names=("--prio",),
        new=("--urgency",),
        edits=(ChangedLine(removed=removed, added=added),),
        still_named=(
            Place(side="head", path="AGENTS.md", line=12, text="$ taskmgr add --prio high x"),
            Place(side="head", path="AGENTS.md", line=14, text="$ taskmgr add --prio high y"),
        ),
        checked_in=(Place(side="head", path="scenarios/add.yaml", line=9, text="command: taskmgr add --prio high x"),),
    )


def regressed_row() -> Row:
    return row(
        "add_high_priority",
        "regressed",
        "2/2",
        "0/3",
        task="Add the task x with high priority, as AGENTS.md says.",
        deterministic=True,
        reason="passes 0 of 3 trials on head, 2 of 2 on base",
        effect=Effect(difference=-1.0, interval=(-1.0, -0.3)),
        metrics=metrics(
            error_rate=(0.0, 0.667),
            first_try_success_rate=(1.0, 0.33),
            help_count=(0, 0),
            command_count=(3, 3),
            retry_rate=(0.0, 0.33),
            duration_s=(0.21, 0.25),
        ),
        gates=(GateCounts(gate="the task has high priority", base=(2, 2), head=(0, 3)),),
        evidence=Evidence(
            trial="head/add_high_priority/docs/1",
            gate="the task has high priority",
            message="'high' is not in the output of `taskmgr list`:\nno tasks",
            calls=(
                FailedCall(
                    command="taskmgr add --prio high x",
                    exit_code=2,
                    message="usage: taskmgr [-h] {add,list,done} ...\ntaskmgr: error: unrecognized arguments: --prio",
                ),
            ),
            divergence=Divergence(
                step=2,
                base="taskmgr add --prio high x (exit 0)",
                head="taskmgr add --prio high x (exit 2: unrecognized arguments: --prio)",
                before="taskmgr --help",
                base_steps=(
                    Call(command="taskmgr add --prio high x", exit_code=0, status="ok", message="added task 1"),
                    Call(command="taskmgr list", exit_code=0, status="ok", message="[ ] 1 x (high)"),
                ),
                head_steps=(
                    Call(
                        command="taskmgr add --prio high x",
                        exit_code=2,
                        status="error",
                        message="usage: taskmgr [-h] {add,list} ... taskmgr: error: unrecognized arguments: --prio",
                    ),
                    Call(command="taskmgr list", exit_code=0, status="ok", message="no tasks"),
                ),
            ),
            reproduce=f"tidegate run --rev {HEAD_SHA} --scenario add_high_priority --agent docs",
        ),
    )


def one_regression() -> Result:
    names = ("add_task", "list_tasks", "finish_task")
    trials = (
        trial("add_high_priority", "base", 1, "pass"),
        *(trial("add_high_priority", "head", index, "fail") for index in (1, 2, 3)),
    )
    return result(
        *(calm_row(name) for name in names),
        regressed_row(),
        suite=SuiteEffect(base_rate=1.0, head_rate=0.75, difference=-0.25, interval=(-0.55, 0.0)),
        trials=trials,
        causes=(refused_option(),),
        links=Links(repository="https://github.com/octo/taskmgr", pull_request=7),
        changes=situations.CHANGES,
        cost=Cost(trials=TrialTotals(base=5, head=6), seconds=14.9, budget_used=0.01),
    )


def stochastic_regression() -> Result:
    link = row(
        "create_and_link",
        "regressed",
        "50/50",
        "0/8",
        agent="claude",
        reason="passes 0 of 5 fresh trials on head, 50 of 50 on base (p = 2e-7, limit 0.01)",
        effect=Effect(difference=-1.0, interval=(-1.0, -0.55), p=2e-7, level=0.01),
        metrics={
            **metrics(
                error_rate=(0.05, 0.41),
                first_try_success_rate=(0.94, 0.52),
                help_count=(0.2, 3.1),
                command_count=(4.1, 7.9),
                duration_s=(28.0, 61.0),
            ),
            "tokens_in": MetricChange(
                base=41_000,
                head=88_000,
                effect=2.1,
                interval=(1.7, 2.6),
                q=0.001,
                warns=True,
                scale="ratio",
            ),
        },
        gates=(GateCounts(gate="file_exists: out.json", base=(50, 50), head=(0, 8)),),
        evidence=Evidence(
            trial="head/create_and_link/claude/1",
            gate="file_exists: out.json",
            message="out.json does not exist",
            calls=(
                FailedCall(
                    command="notes link a b --type blocks", exit_code=1, message="error: no such relation: blocks"
                ),
                FailedCall(
                    command="notes link a b --type=blocks", exit_code=1, message="error: no such relation: blocks"
                ),
            ),
            divergence=Divergence(step=4, base="notes export --out out.json", head=""),
            reproduce=f"tidegate run --rev {HEAD_SHA} --scenario create_and_link --agent claude",
            clears_when="at least 8 of 8 fresh head trials pass",
        ),
    )
    search = row(
        "search_flow",
        "unconfirmed",
        "41/43",
        "7/10",
        agent="claude",
        reason="passes 7 of 10 fresh trials on head, 41 of 43 on base (p = 0.05, limit 0.0033): this may be noise",
        effect=Effect(difference=-0.25, interval=(-0.56, -0.03), p=0.05, level=0.0033),
        evidence=Evidence(
            trial="head/search_flow/claude/4",
            gate="the answer names three notes",
            message="2 of 3 notes are named",
            divergence=Divergence(step=3, base="notes search --all tide", head="notes search tide"),
            reproduce=f"tidegate run --rev {HEAD_SHA} --scenario search_flow --agent claude",
            clears_when="at least 9 of 10 fresh head trials pass; at these rates about 31 of them are needed",
        ),
    )
    return _with_rows(all_fine_stochastic(), link, search)


def setup_regression() -> Result:
    log = "\n".join(
        (
            "Processing /repo",
            *(f"  Collecting dependency-{n}" for n in range(30)),
            "  error: subprocess-exited-with-error",
            "  ModuleNotFoundError: No module named 'taskmgr.compat'",
        )
    )
    evidence = Evidence(
        trial="head/add_task/docs/1",
        message=f"the build failed: `pip install .` ended with exit 1:\n{log}",
        reproduce=f"tidegate run --rev {HEAD_SHA} --scenario add_task --agent docs",
        clears_when="the build succeeds on head",
    )
    said = "the build fails in 3 of 3 trials on head, in 0 of 1 on base"
    rows = [
        row(name, "regressed", "1/1", "", kind="setup", deterministic=True, evidence=evidence, reason=said)
        for name in ("add_task", "list_tasks", "finish_task", "export_json")
    ]
    return result(
        *rows,
        cost=Cost(trials=TrialTotals(base=4, head=0), seconds=31.0),
    )


def improvement() -> Result:
    better = row(
        "export_json",
        "improved",
        "0/2",
        "3/3",
        deterministic=True,
        effect=Effect(difference=1.0, interval=(0.3, 1.0)),
        evidence=Evidence(trial="head/export_json/docs/1", gate="file_exists: out.json", message="out.json is missing"),
        metrics=metrics(
            error_rate=(0.5, 0.0),
            first_try_success_rate=(0.5, 1.0),
            help_count=(1, 0),
            command_count=(6, 3),
            duration_s=(0.42, 0.22),
        ),
    )
    return result(
        *(calm_row(name) for name in ("add_task", "list_tasks", "finish_task")),
        better,
    )


def unconfirmed() -> Result:
    return _with_rows(all_fine_stochastic(), stochastic_regression().rows[1])


def partly_not_measured() -> Result:
    reason = "no trial was measured on head (outage: the provider answered 529, overloaded)"
    missing = [
        row(name, "not_measured", "40/40", "", agent="claude", reason=reason, not_measured="outage")
        for name in ("sync", "import_csv")
    ]
    partly = calm_row("list_tasks").model_copy(update={"head": HeadCounts(passes=1, trials=1, not_measured=2)})
    return result(
        *missing,
        row(
            "retry_upload",
            "not_measured",
            "",
            "",
            agent="claude",
            reason="no trial was measured on base or head (secret: needs ${API_URL}, which is not set here)",
            not_measured="secret",
        ),
        calm_row("add_task"),
        partly,
    )


def not_run() -> Result:
    """The provider is down, and nothing could be measured."""
    reason = "no trial was measured on base or head (outage: the provider answered 529, overloaded)"
    names = ("add_task", "sync", "import_csv")
    rows = (row(name, "not_measured", "", "", agent="claude", reason=reason, not_measured="outage") for name in names)
    return result(*rows)


def advisory() -> Result:
    found = one_regression()
    changed = found.verdict.model_copy(update={"mode": "advisory", "exit_code": 0, "would_block": True})
    return found.model_copy(update={"verdict": changed, "instance": "cli / v2"})


def accepted() -> Result:
    found = one_regression()
    return found.model_copy(update={"verdict": found.verdict.accepted("octocat")})


def checks_less() -> Result:
    return result(
        *all_fine().rows,
        row("old_export", "removed", "1/1", "", reason="is no longer in the suite"),
        row("flaky_sync", "flaky", "6/12", "1/3", agent="claude", reason="base passes 6 of 12 by itself"),
        suite=all_fine().suite,
        definitions=(
            DefinitionChange(scenario="add_task", effect="less", detail="gates: file_exists: tasks.json"),
            DefinitionChange(scenario="export_json", effect="more", detail="new scenario"),
            DefinitionChange(scenario=None, effect="other", detail="policy.alpha: 0.02 → 0.05"),
        ),
    )


def many_rows() -> Result:
    long = "a line of evidence that is rather long, as build logs and tracebacks are\n" * 12
    bad = [
        row(
            f"scenario_{n:03d}",
            "regressed",
            "40/40",
            "0/8",
            agent="claude",
            effect=Effect(difference=-1.0, interval=(-1.0, -0.55), p=2e-7, level=0.01),
            evidence=Evidence(trial=f"head/scenario_{n:03d}/claude/1", gate="tests pass", message=long),
        )
        for n in range(60)
    ]
    return result(
        *bad,
        *(calm_row(f"scenario_{n:03d}") for n in range(60, 200)),
        trials=tuple(trial(f"scenario_{n:03d}", "head", index, "fail") for n in range(60) for index in range(1, 9)),
    )


def hostile() -> Result:
    call = Call(command=f"{HOSTILE}.", exit_code=2, status="error", message=HOSTILE)
    evil = regressed_row().model_copy(
        update={
            "scenario": HOSTILE,
            "agent": HOSTILE,
            "reason": HOSTILE,
            "gates": (GateCounts(gate=HOSTILE, base=(2, 2), head=(0, 3)),),
            "evidence": Evidence(
                trial=HOSTILE,
                gate=HOSTILE,
                message=HOSTILE,
                base_message=f"`{HOSTILE}",
                calls=(FailedCall(command=HOSTILE, exit_code=2, message=HOSTILE),),
                divergence=Divergence(
                    step=2, base=HOSTILE, head=HOSTILE, before=HOSTILE, base_steps=(call,), head_steps=(call, call)
                ),
                reproduce=HOSTILE,
                clears_when=HOSTILE,
            ),
        }
    )
    assert evil.evidence is not None
    alone = evil.evidence.model_copy(update={"base_message": ""})
    others = [
        evil.model_copy(update={"state": state, "scenario": f"{n}. {HOSTILE}", "evidence": alone})
        for n, state in enumerate(("unconfirmed", "not_measured", "improved", "flaky", "ok"))
    ]
    return result(
        evil,
        *others,
        verdict=Verdict(
            state="failed",
            reason="metric",
            exit_code=1,
            summary=HOSTILE,
            own_reasons=(HOSTILE.replace("octo", "cato"), f"# {HOSTILE}".replace("octo", "cato")),
            accepted_by=HOSTILE,
        ),
        instance=HOSTILE,
        warnings=(HOSTILE,),
        definitions=(DefinitionChange(scenario=HOSTILE, effect="less", detail=HOSTILE),),
        interfaces=(
            Interface(tool=HOSTILE, changes=(InterfaceChange(impact="breaking", part=HOSTILE, detail=HOSTILE),)),
        ),
        sides=Sides(base=BaseSide(sha=HOSTILE, ref=HOSTILE), head=HeadSide(sha=HOSTILE, ref=HOSTILE)),
        trials=(
            trial("x", "head", 1, "fail").model_copy(update={"scenario": HOSTILE, "agent": HOSTILE, "reason": HOSTILE}),
        ),
    )


STORIES: dict[str, Callable[[], Result]] = {
    story.__name__: story
    for story in (
        all_fine,
        all_fine_stochastic,
        one_regression,
        stochastic_regression,
        setup_regression,
        improvement,
        unconfirmed,
        partly_not_measured,
        not_run,
        advisory,
        accepted,
        checks_less,
        many_rows,
        hostile,
        situations.added_and_removed,
        situations.baseline_changed,
        situations.judged,
        situations.budget_used_up,
        situations.first_run,
        situations.monorepo_instance,
        situations.not_comparable,
        situations.nothing_changed,
        situations.nothing_passes,
        situations.metric,
        situations.interface,
        situations.suite_regressed,
        situations.infrastructure,
        situations.setup_not_measured,
        situations.no_scenarios,
        situations.stopped,
    )
}


COMMENTS: dict[str, Callable[[], str]] = {
    **{name: partial(lambda make: comment_body(make()), make) for name, make in STORIES.items()},
    "fixed": lambda: comment_body(all_fine(), fixed=Fixed(since=HEAD_SHA[::-1], rows=(regressed_row().key,))),
    "from_a_fork": lambda: comment_body(one_regression(), notice=NOTICE),
    "fork_without_key": lambda: render_not_run(
        "fork_without_key", "No secret reaches this pull request: agent claude needs ANTHROPIC_API_KEY."
    ),
    "draft": lambda: render_not_run(
        "draft", "The pull request is a draft, and the input `drafts` is set to skip drafts."
    ),
    "missing_key": lambda: render_could_not_run(
        "the agent `claude` needs a key: ANTHROPIC_API_KEY is not set.",
        "Set it in the environment; in a workflow, pass the secret on: `env: {ANTHROPIC_API_KEY: ${{ secrets.X }}}`.",
    ),
    "cancelled": render_cancelled,
}


@pytest.fixture(params=COMMENTS)
def comment(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Every comment in turn, and what stands in its place, with its name."""
    return request.param, COMMENTS[request.param]()


@pytest.fixture(params=STORIES)
def story(request: pytest.FixtureRequest) -> tuple[str, Result]:
    """Every story in turn, with its name."""
    return request.param, STORIES[request.param]()


@pytest.fixture
def stories() -> dict[str, Callable[[], Result]]:
    """The stories by name."""
    return STORIES


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    from tests.in_browser import chromium

    with chromium() as found:
        yield found
