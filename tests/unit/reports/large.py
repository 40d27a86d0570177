"""A large run that does not exist: 50 scenarios × 20 trials, with transcripts as long as real agents' are."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.make import result, row, trial_result
from tidegate.model.comparison import Effect, GateCounts, MetricChange, Row, SuiteEffect
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult
from tidegate.model.measurement import Call, GateResult, Metrics, SubcommandCounts, TrialResult
from tidegate.model.result import Cost, Result, TrialTotals
from tidegate.model.suite import RowState
from tidegate.model.trial import Record
from tidegate.model.trial_spec import Side

SCENARIOS, TRIALS = 50, 10  # trials: on each side
_WORDS = (
    "the",
    "task",
    "list",
    "is",
    "not",
    "what",
    "I",
    "expected",
    "let",
    "me",
    "look",
    "at",
    "its",
    "help",
    "again",
)
_STATES: tuple[RowState, ...] = ("regressed", "regressed", "unconfirmed", "flaky", "improved", *("ok",) * 45)
_RATES = {
    "regressed": (1.0, 0.2),
    "unconfirmed": (0.9, 0.6),
    "flaky": (0.5, 0.5),
    "improved": (0.3, 1.0),
    "ok": (1.0, 1.0),
}


def large_result() -> Result:
    """Its chance is seeded: it is the same every time."""
    chance = random.Random(9)
    trials = [
        _trial(chance, scenario, state, side, index)
        for scenario, state in enumerate(_STATES)
        for side in ("base", "head")
        for index in range(1, TRIALS + 1)
    ]
    return result(
        *(_row(f"scenario_{number:02d}", state, trials) for number, state in enumerate(_STATES)),
        suite=SuiteEffect(
            base_rate=0.96, head_rate=0.93, difference=-0.03, interval=(-0.06, 0.0), detection={"-0.5": 0.9}
        ),
        cost=Cost(usd=41.5, tokens_in=9_000_000, tokens_out=400_000, trials=TrialTotals(base=500, head=500)),
        trials=tuple(trials),
    )


def large_record(trial: TrialResult) -> Record:
    """What its agent said and did."""
    return Record(events=tuple(_events(random.Random(trial.id), trial)), diff=_diff(random.Random(trial.id)))


def _trial(chance: random.Random, number: int, state: RowState, side: Side, index: int) -> TrialResult:
    passed = chance.random() < _RATES[state][side == "head"]
    scenario, errors, commands = f"scenario_{number:02d}", 0 if passed else chance.randint(2, 5), chance.randint(3, 9)
    return trial_result(
        side=side,
        scenario=scenario,
        agent="claude",
        index=index,
        outcome="pass" if passed else "fail",
        reason="all 3 required gates passed" if passed else "the list is exported: out.json does not exist",
        end="completed",
        metrics=Metrics(
            command_count=commands + errors,
            error_count=errors,
            error_rate=errors / (commands + errors),
            first_try_success_rate=chance.random(),
            completed=True,
            turns=chance.randint(5, 15),
            tokens_in=chance.randint(9_000, 30_000),
            tokens_out=chance.randint(300, 900),
            cost_usd=chance.random() / 10,
            duration_s=chance.gammavariate(20, 2),
        ),
        subcommands={"add": SubcommandCounts(count=commands, errors=errors), "list": SubcommandCounts(count=1)},
        gates=tuple(
            GateResult(type="file_exists", label=f"gate {n}", passed=passed or n > 1, message="out.json does not exist")
            for n in (1, 2, 3)
        ),
        calls=tuple(Call(command=f"taskmgr add 'task {n}'", exit_code=0, status="ok") for n in range(commands)),
    )


def _row(scenario: str, state: RowState, trials: list[TrialResult]) -> Row:
    base, head = (
        [trial for trial in trials if trial.scenario == scenario and trial.side == side] for side in ("base", "head")
    )
    before, after = (sum(trial.decides == "pass" for trial in side) for side in (base, head))
    difference = (after - before) / TRIALS
    return row(
        state,
        (before, TRIALS),
        (after, TRIALS),
        scenario=scenario,
        agent="claude",
        reason=f"passes {after} of {TRIALS} trials on head, {before} of {TRIALS} on base",
        effect=Effect(difference=difference, interval=(max(-1, difference - 0.2), min(1, difference + 0.2))),
        metrics={
            name: MetricChange(base=_mean(name, base), head=_mean(name, head))
            for name in ("error_rate", "first_try_success_rate", "command_count", "cost_usd", "duration_s")
        },
        gates=tuple(GateCounts(gate=f"gate {n}", base=(before, TRIALS), head=(after, TRIALS)) for n in (1, 2, 3)),
    )


def _mean(name: str, trials: list[TrialResult]) -> float:
    return float(sum(getattr(trial.metrics, name) for trial in trials)) / len(trials)


def _events(chance: random.Random, trial: TrialResult) -> Iterator[Event]:
    for number in range(chance.randint(8, 16)):
        at = number * 2.5
        yield Message(at=at, text=_text(chance, 60))
        yield ToolCall(
            id=str(number), at=at, tool="Bash", command=f"taskmgr add --number {number} '{_text(chance, 3)}'"
        )
        yield ToolResult(id=str(number), at=at + 1, status="ok", exit_code=0, output=_text(chance, 150, "\n"))
    yield End(end="completed", at=40, message=trial.reason)


def _diff(chance: random.Random) -> str:
    return "diff --git a/out.json b/out.json\n" + "".join(f"+{_text(chance, 6)}\n" for _ in range(30))


def _text(chance: random.Random, words: int, between: str = " ") -> str:
    return between.join(f"{chance.choice(_WORDS)} {chance.randint(0, 999)}" for _ in range(words // 2 or 1))
