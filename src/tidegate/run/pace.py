"""Time limits for head's trials: a generous multiple of what base needed for the same scenario and agent.

Without them, a tool that hangs would use up the run's budget before its failures are confirmed.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidegate.model.bundle import KnownPace
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.plan import RowKey, key_of
from tidegate.model.probe import CommandAnswer
from tidegate.model.progress import Progress
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.trial.directories import TimeLimits


class Multiple(NamedTuple):
    """So many times what base needed, and never less than so many seconds."""

    times: float
    least_secs: float

    def of(self, secs: float | None) -> float:
        """Return the limit in seconds for head where base needed so long; none if that is unknown."""
        return math.inf if secs is None else max(self.least_secs, self.times * secs)


FIRST = Multiple(times=10, least_secs=60)
OVERTIME = 2  # so many times what base needed: then a trial that the budget cuts off is not the budget's doing
AFTER_A_HANG = Multiple(times=3, least_secs=5)  # once a head trial of the row was stopped for its time
EVERYWHERE = 3  # rows that hung on head: then it is the tool that hangs, and all rows have the shorter limits


class Pace:
    """Knows how long base's trials took, and which rows hung on head."""

    def __init__(self) -> None:
        self._rows: dict[RowKey, KnownPace] = {}
        self._first_of_base: dict[RowKey, asyncio.Event] = {}

    def learn(self, trials: Iterable[TrialResult | PastTrial]) -> None:
        """Learn from earlier trials of base."""
        for trial in trials:
            if (not isinstance(trial, TrialResult) or trial.side == "base") and trial.decides is not None:
                around = trial.around_s
                self._raise(trial.key, agent=trial.metrics.duration_s, setup=around, around=around)

    def known(self, keys: Iterable[RowKey]) -> tuple[KnownPace, ...]:
        """Return what is known of these rows, for a worker elsewhere."""
        return tuple(map(self._of, keys))

    def take_over(self, known: Iterable[KnownPace]) -> None:
        """Start with what another machine knows."""
        self._rows |= {row.key: row for row in known}

    def expect(self, specs: Sequence[TrialSpec]) -> None:
        """Prepare for these trials, which start in this order.

        Head waits for base only where base's trial starts first; with a single slot it would wait for ever otherwise.
        """
        self._first_of_base.clear()
        on_head = set[RowKey]()
        for spec in specs:
            if spec.side == "head":
                on_head.add(key_of(spec))
            elif self._of(key_of(spec)).agent is None and key_of(spec) not in on_head:
                self._first_of_base[key_of(spec)] = asyncio.Event()

    def saw(self, trial: Trial) -> None:
        """Learn from an attempt that has just ended."""
        key = key_of(trial.spec)
        if trial.spec.side == "base":
            if trial.not_measured is None:
                self._raise(key, agent=trial.duration_s, around=trial.around_s)
            for step in trial.steps:
                if step.kind in ("setup", "health_check") and step.result.ok:
                    self._raise(key, setup=step.result.duration_s)
        elif _hangs(trial):
            self._rows[key] = self._of(key).model_copy(update={"hung": True})

    def charged(self, trial: Trial) -> Trial:
        """Return the trial; as overtime if the budget cut it off when it had long taken more time than base needed.

        Otherwise a tool that hangs until the budget ends would not count as broken.
        """
        needed = self._of(key_of(trial.spec))
        base, own = needed.agent, trial.duration_s
        if own is None and trial.steps:  # it was cut off before its agent started
            base, own = needed.setup, trial.steps[-1].result.duration_s
        elif trial.end == "completed":  # it was cut off while its gates ran
            base, own = needed.around, trial.around_s
        if base is None or own is None or own <= OVERTIME * base:
            return trial
        if trial.spec.side == "base" or trial.not_measured != "budget":
            return trial
        reason = f"{trial.reason}, after {own:.0f} s of a trial that took base {base:.2g} s at most"
        return trial.model_copy(update={"not_measured": "overtime", "reason": reason})

    def ended(self, spec: TrialSpec) -> None:
        """Let head's trials go on: base's first trial of the row has ended, or will not be run."""
        if spec.side == "base" and (event := self._first_of_base.get(key_of(spec))) is not None:
            event.set()

    async def limits(self, spec: TrialSpec) -> TimeLimits:
        """Return the limits of a trial that is about to start; wait for base's first trial of the row if it runs."""
        if spec.side == "base":
            return TimeLimits()
        if (event := self._first_of_base.get(key_of(spec))) is not None:
            await event.wait()
        needed = self._of(key_of(spec))
        hangs = needed.hung or sum(row.hung for row in self._rows.values()) >= EVERYWHERE
        multiple = AFTER_A_HANG if hangs else FIRST
        after_hang = AFTER_A_HANG.of(needed.around)
        return TimeLimits(
            agent=multiple.of(needed.agent),
            setup=multiple.of(needed.setup),
            check=after_hang if hangs else math.inf,
            after_hang=after_hang,
        )

    def _of(self, key: RowKey) -> KnownPace:
        return self._rows.get(key) or KnownPace(key=key)

    def _raise(self, key: RowKey, **seconds: float | None) -> None:
        known = self._of(key)
        slowest = {name: max(secs, getattr(known, name) or 0.0) for name, secs in seconds.items() if secs is not None}
        self._rows[key] = known.model_copy(update=slowest)


def _hangs(trial: Trial) -> bool:
    """Return True if the agent, a setup command or a check was stopped for time."""
    results = [answer.result for answer in trial.answers if isinstance(answer, CommandAnswer)]
    return trial.end == "timeout" or any(one.end == "timeout" for one in (*(s.result for s in trial.steps), *results))


SHARES = (0.1, 0.3, 0.6)  # of the time that the run may wait: most outages are short


class OutageWaits:
    """The waits that a run has in all. Trials that meet the outage at the same time share one wait."""

    def __init__(self, secs: float, deadline: float, progress: Progress) -> None:
        """`secs` is the longest time to wait in all; `deadline` is the run's end on the monotonic clock."""
        self._left = [share * secs for share in SHARES if secs]
        self._deadline = deadline
        self._progress = progress
        self._current: asyncio.Task[None] | None = None

    async def wait(self) -> bool:
        """Wait for the provider; return False at once if the run's waits are used up or its budget would end first."""
        if self._current is None or self._current.done():
            if not self._left or time.monotonic() + self._left[0] >= self._deadline:
                return False
            secs = self._left.pop(0)
            self._progress.say(f"the model's provider does not answer: trying again in {secs:.0f} s")
            self._current = asyncio.create_task(asyncio.sleep(secs))
        await asyncio.shield(self._current)
        return True
