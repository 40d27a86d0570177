"""How time and memory grow with the number of trials: `python benchmarks/bench_growth.py [stored|history|trials]…`.

stored: `tidegate compare --out` of 10,000 stored trials with their records: 1,000 rows of 5 trials per side.
history: base's history of 1,000 rows with 40 trials each is read.
trials: `tidegate run` of 1,000 scenarios, once and ten times each, and of 10,000; the tool takes 50 ms. Five minutes.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench_trials import GATES, make_repository, measured, run_trials
from pydantic import TypeAdapter

from tidegate.history.run_folder import RunFolder
from tidegate.history.store import History
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult
from tidegate.model.measurement import AgentInfo, Call, GateResult, Metrics, PastTrial, Run
from tidegate.model.measurement import TrialResult as Measured
from tidegate.model.plan import RowKey
from tidegate.model.revision import Revision
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy, Store
from tidegate.model.trial_spec import Side, TrialSpec

ROWS, TRIALS, PAST = 1_000, 5, 40
RATES = {0: (1.0, 0.0), 1: (0.6, 0.6), 2: (0.9, 0.5)}  # of base and head, by the row's number modulo 50; else 1, 1
SIDES: tuple[Side, Side] = ("base", "head")
FEW, MANY = 1_000, 10_000
JOBS = 8
_event: TypeAdapter[Event] = TypeAdapter(Event)


def main() -> None:
    """Measure what the arguments name, or all."""
    parts = {"stored": stored, "history": history, "trials": trials}
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


def stored(folder: Path) -> None:
    """Compare two stored runs, and write all reports."""
    for side in SIDES:
        write_run(RunFolder(folder / side), side)
    command = [sys.executable, "-m", "tidegate", "compare", "base", "head", "--out", "out"]
    used = measured(command, folder, codes=(0, 1, 5))
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.2f} MB" for path in sorted((folder / "out").iterdir()))
    print(f"compare and render {2 * ROWS * TRIALS} trials: CPU {used.cpu:.2f} s, wall {used.wall:.2f} s, "
          f"{used.peak_mb:.0f} MB; {sizes}")  # fmt: skip


def history(folder: Path) -> None:
    """Write a history, read it, add one trial to each row, and delete what is old."""
    kept = History(folder, Store(max_trials=PAST), time.time())
    rows = {RowKey(scenario=f"scenario {number}", agent="a"): f"{number:064x}" for number in range(ROWS)}
    before = [past(key, number) for key in rows for number in range(PAST)]
    steps = {
        "add": lambda: kept.add(rows, before),
        "read": lambda: kept.read(rows),
        "add one per row": lambda: kept.add(rows, [past(key, PAST) for key in rows]),
        "prune": kept.prune,
    }
    for name, step in steps.items():
        began = time.process_time()
        step()
        print(f"history of {ROWS} rows with {PAST} trials, {name}: CPU {time.process_time() - began:.2f} s")
    assert len(kept.read(rows).trials) == ROWS * PAST


def trials(folder: Path) -> None:
    """Run few and many trials, and print the memory of the largest process, which is Tidegate's own."""
    peaks = []
    for count, each in ((FEW, 1), (FEW, MANY // FEW), (MANY, 1)):
        repo = folder / str(count)
        if not repo.exists():
            make_repository(repo, count, GATES["file"])
        used = run_trials(repo, count, JOBS, folder / f"out{count}x{each}", each)
        peaks.append(used.peak_mb)
        print(
            f"{count} scenarios, {each} trials each: CPU {1000 * used.cpu / count / each:.1f} ms a trial, "
            f"{used.peak_mb:.0f} MB, {used.peak_mb / peaks[0]:.2f} times the first"
        )


def write_run(store: RunFolder, side: Side) -> None:
    """Store a run of one side, with the events of all trials."""
    chance = random.Random(side)
    results = [a_trial(chance, side, number, index) for number in range(ROWS) for index in range(1, TRIALS + 1)]
    for result in results:
        record = store.trial_folder(result.spec)
        record.mkdir(parents=True)
        lines = "".join(f"{_event.dump_json(event).decode()}\n" for event in events(chance))
        (record / "events.jsonl").write_text(lines, encoding="utf-8")
    store.finish_run(a_run(side, results))


def a_run(side: Side, results: Sequence[Measured]) -> Run:
    """Return the run of these trials."""
    return Run(
        tidegate_version="0",
        side=side,
        revision=Revision(sha=side[0].replace("h", "d") * 40, ref=side),
        suite_file="tidegate.yaml",
        suite_hash="0",
        policy=Policy(),
        rows=tuple(RunRow(scenario=f"scenario {n}", agent="a", deterministic=False) for n in range(ROWS)),
        agents={"a": AgentInfo(type="command")},
        started_at=1_800_000_000.0,
        seconds=1,
        trials=tuple(results),
    )


def a_trial(chance: random.Random, side: Side, number: int, index: int) -> Measured:
    """Return a trial of that row, which passes by the row's rate."""
    passed = chance.random() < RATES.get(number % 50, (1.0, 1.0))[side == "head"]
    spec = TrialSpec(side=side, scenario=f"scenario {number}", agent="a", index=index)
    commands = chance.randint(3, 9)
    return Measured(
        **spec.model_dump(),
        id=spec.id,
        outcome="pass" if passed else "fail",
        decides="pass" if passed else "fail",
        reason="all 3 required gates passed" if passed else "out.json does not exist",
        end="completed",
        metrics=Metrics(command_count=commands, turns=chance.randint(5, 15), cost_usd=0.01, duration_s=chance.random()),
        gates=tuple(
            GateResult(type="file_exists", label=f"gate {n}", passed=passed or n > 1, message="out.json does not exist")
            for n in (1, 2, 3)
        ),
        calls=tuple(Call(command=f"tool add 'task {n}'", exit_code=0, status="ok") for n in range(commands)),
    )


def events(chance: random.Random) -> Sequence[Event]:
    """Return the events of a short session: three calls with their output."""
    made: list[Event] = []
    for n in range(3):
        text = " ".join(str(chance.randint(0, 9999)) for _ in range(60))
        made.append(Message(at=n, text=text))
        made.append(ToolCall(id=str(n), at=n, tool="Bash", command=f"tool add {n}"))
        made.append(ToolResult(id=str(n), at=n, status="ok", exit_code=0, output=text * 3))
    return (*made, End(end="completed", at=9, message="done"))


def past(key: RowKey, number: int) -> PastTrial:
    """Return an earlier trial of the row, a minute after the last."""
    at = time.time() - 60 * (PAST + 1 - number)
    metrics = Metrics(command_count=5, turns=7, cost_usd=0.01, duration_s=9.5)
    return PastTrial(scenario=key.scenario, agent=key.agent, decides="pass", at=at, sha="b" * 40, metrics=metrics)


if __name__ == "__main__":
    main()
