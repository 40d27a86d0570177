"""CONFIRM and VERIFY: test on fresh trials whether a row that looked worse in screening is worse (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import comb
from typing import Literal, NamedTuple

from tidegate.model.trial_spec import Phase, Side
from tidegate.procedure.rules import DELTA, DROP, LEAST_HISTORY, Ask, Counts, Facts, Rules, concurrent_limit
from tidegate.statistics.beta import as_few
from tidegate.statistics.exact import fisher_less, fisher_midp_less
from tidegate.statistics.pair import Pair
from tidegate.statistics.sequential import TIES, Look, p_seq
from tidegate.statistics.stratified import stratified_less

Asking = Generator[Sequence[Ask], Sequence[bool | None], "Confirmed"]
Finding = Literal["regressed", "unconfirmed", "ok"]


class Confirmed(NamedTuple):
    """The result of a confirmation, with the counts that it is based on.

    `head`: fresh head trials; `fresh`: fresh base trials; `base`: the base trials that head is compared with.
    `moved`: fresh base trials contradict the history, which was therefore dropped. `carried`: the row regressed at an
    earlier push, and these trials do not show that it is fixed. `alone`: there was no history to compare with, or it
    was dropped, so that base was run along with head. `beside`: Fisher's p against fresh base trials alone, and its
    limit; None without a verification.
    """

    found: Finding
    head: Counts
    fresh: Counts
    base: Counts
    p: float | None
    level: float
    moved: bool
    carried: bool = False
    alone: bool = False
    beside: tuple[float, float] | None = None


class Confirmation:
    """The confirmation of one row, as a generator of trial requests.

    `beside` lists all confirmations of the run. If together they contradict the history, base has changed (for
    example after a provider's update), even if no single row shows it.
    """

    def __init__(
        self, row: int, facts: Facts, screened_base: Counts, level: float, rules: Rules, beside: list[Confirmation]
    ) -> None:
        self._row = row
        self._rules = rules
        self._level = level
        self._doubt = rules.doubt * level / rules.alpha
        self._beside = beside
        self._earlier = facts.earlier
        self.history = facts.history if facts.history[1] >= LEAST_HISTORY else (0, 0)
        self._use_history = self.history[1] > 0
        self._screened = (0, 0) if self._use_history else screened_base
        self._most = facts.most - facts.screening if facts.most else rules.most_heads
        self._passes = {"head": 0, "base": 0}
        self._seen = {"head": 0, "base": 0}
        self._asked = {"head": 0, "base": 0}
        self._smallest = 1.0
        self._phase: Phase = "confirm"
        self._confirmed: Counts = (0, 0)  # head's trials before the verification
        beside.append(self)

    def run(self) -> Asking:
        """Yield trial requests until the row is decided, and return the result.

        Outcomes are sent in the order of the requests. None means not measured; such a trial counts as used.
        """
        rules = self._rules
        if self._most < rules.first_heads:
            return self._end("regressed" if self._earlier.state == "regressed" else "unconfirmed")
        first = self._first_batch()
        yield from self._ask(head=first)
        if self._recovered():
            return self._end("ok")
        yield from self._ask(head=max(0, rules.first_heads - first), base=rules.guard_bases)
        while True:
            if self._use_history and self._contradicted():
                self._use_history, self._smallest = False, 1.0
                yield from self._ask(base=self._pairs_missing())
            if (found := self._look()) is not None:
                return self._end(found)
            if self._phase == "confirm" and self._p() <= self._level * TIES:
                yield from self._verify()
            else:
                yield from self._ask(head=1, base=0 if self._use_history else self._pairs_missing(1))

    def _look(self) -> Finding | None:
        """Return the decision after the trials so far; None if more are needed."""
        head, base = self._head, self._base
        if head[1] >= self._rules.first_heads and base[1]:
            self._smallest = min(self._smallest, fisher_less(*head, *base))
        if self._p() <= self._level * TIES:
            if self._phase == "verify" and self._shown_again():
                return "regressed"
            if self._left:
                return None
        elif self._earlier.state == "regressed":
            if self._recovered():
                return "ok"
        elif self._left and self._recovered():
            return "ok"
        elif self._left and (self._earlier.state == "unconfirmed" or self._can_reach()):
            return None
        if self._earlier.state == "regressed":
            return None if self._left else "regressed"
        return "unconfirmed"

    def _verify(self) -> Generator[Sequence[Ask], Sequence[bool | None], None]:
        self._phase, self._confirmed, self._smallest = "verify", self._head, 1.0
        heads = min(self._rules.verify_heads, self._left)
        bases = verify_bases(self._rules, self._most)
        more = bases - self._asked["base"] if self._use_history else self._pairs_missing(heads)
        yield from self._ask(head=heads, base=max(0, more))

    # --- observed trials

    @property
    def fresh(self) -> Counts:
        """Passes and number of the fresh base trials."""
        return self._passes["base"], self._seen["base"]

    @property
    def _head(self) -> Counts:
        return self._passes["head"], self._seen["head"]

    @property
    def _base(self) -> Counts:
        """Passes and number of all base trials that head is compared with now."""
        past = self.history if self._use_history else self._screened
        return past[0] + self._passes["base"], past[1] + self._seen["base"]

    @property
    def _left(self) -> int:
        return self._most - self._asked["head"]

    def _pairs_missing(self, more: int = 0) -> int:
        """Return how many base trials are needed to match head's number after `more` further head trials."""
        return max(0, self._asked["head"] + more - self._asked["base"])

    def _first_batch(self) -> int:
        """Return how many head trials, if all of them pass, rule out that head's rate is DROP below base's."""
        passes, trials = self._base
        rate = max(0.0, passes / trials - DROP) if trials else 1 - DROP
        counts = range(1, self._most + 1)
        return next((count for count in counts if rate**count <= self._rules.missed), self._most)

    def _recovered(self) -> bool:
        """Return True if head's rate is near base's, and so many passes are unlikely after a drop by DROP."""
        (passes, trials), base = self._head, self._base
        if base[1] and not base[0]:
            return True  # base always fails, so head cannot be worse
        moved = self.history[1] > 0 and not self._use_history
        if self._earlier.state == "regressed" and not (moved or self._contradicts_earlier()):
            return False
        if self._earlier.state == "unconfirmed" and self._left:
            return False
        if not (trials and base[1]) or passes / trials < base[0] / base[1] - DELTA - 1e-12:
            return False
        limit = self._rules.clears_missed if self._earlier.state == "regressed" else self._rules.missed
        return _at_least(passes, trials, max(0.0, base[0] / base[1] - DROP)) <= limit

    def _contradicts_earlier(self) -> bool:
        """Return True if head passes more often than in the earlier pushes in which it regressed, beyond chance."""
        passes, trials = self._head
        if trials < min(self._rules.clear_heads, self._most):
            return False
        return fisher_midp_less(*self._earlier.head, passes, trials) <= self._rules.clears

    def _shown_again(self) -> bool:
        """Return True if neither an outage before the verification nor an outdated history explains the drop.

        Head's trials of the verification are below base's rate, and fresh base trials alone show the drop too
        (unless none was measured, where base cannot be run).
        """
        passes, trials = (now - before for now, before in zip(self._head, self._confirmed, strict=True))
        base = self._base
        lower = passes * base[1] < base[0] * trials
        p, limit = self._beside_fresh()
        return lower and p <= limit

    def _beside_fresh(self) -> tuple[float, float]:
        """Return Fisher's p against fresh base trials alone, and its limit; a p of 0 if none was measured."""
        limit = concurrent_limit(self._rules, self.history[1] if self._use_history else 0)
        return (fisher_less(*self._head, *self.fresh) if self.fresh[1] else 0.0), limit

    def _contradicted(self) -> bool:
        """Return True if fresh base trials pass less often than the history predicts, in this row or over all rows."""
        if as_few(*self.fresh, *self.history) <= self._rules.guard:
            return True
        tables = [Pair(*one.fresh, *one.history) for one in self._beside if one.fresh[1] and one.history[1]]
        return bool(tables) and stratified_less(tables).midp <= self._rules.drift_p

    # --- the test

    def _p(self) -> float:
        return 1.0 if self._smallest >= 1 else p_seq(self._smallest, self._looks(*self._base))

    def _looks(self, _: int, base_n: int) -> tuple[Look, ...]:
        """Return each (head trials, base trials) at which the procedure may look.

        With history, base's number is fixed; without, base is run along with head.
        """
        rules = self._rules
        past = base_n if self._use_history else self._screened[1]
        return tuple(
            (m, past if self._use_history else max(base_n, past + m))
            for m in range(rules.first_heads, max(self._most, rules.most_heads) + 1)
        )

    def _can_reach(self) -> bool:
        """Return True if the limit can still be reached: in the best case all remaining head trials fail.

        Without history, each of them has a base trial beside it, which passes.
        """
        head, base = self._head, self._base
        partners = 0 if self._use_history else self._left
        best = fisher_less(head[0], head[1] + self._left, base[0] + partners, base[1] + partners)
        return p_seq(best, self._looks(*base)) <= self._level * TIES

    # --- requests

    def _ask(self, head: int = 0, base: int = 0) -> Generator[Sequence[Ask], Sequence[bool | None], None]:
        """Request these trials in one batch, with the sides evenly interleaved, and count the outcomes."""
        sides = _interleaved(head, base, self._row + self._asked["head"])
        if not sides:
            return
        outcomes = yield [Ask(self._row, side, self._phase) for side in sides]
        for side, passed in zip(sides, outcomes, strict=True):
            self._asked[side] += 1
            if passed is not None:
                self._seen[side] += 1
                self._passes[side] += passed

    def _end(self, found: Finding) -> Confirmed:
        p = self._p() if self._smallest < 1 else None
        if found == "unconfirmed" and self._head[1] >= self._rules.first_heads and self._p() > self._doubt * TIES:
            found = "ok"  # among so many rows, chance alone shows as much
        moved = self.history[1] > 0 and not self._use_history
        carried = found == "regressed" and (p is None or p > self._level * TIES)
        beside = self._beside_fresh() if self._phase == "verify" else None
        return Confirmed(
            found, self._head, self.fresh, self._base, p, self._level, moved, carried, not self._use_history, beside
        )


def verify_bases(rules: Rules, most: int) -> int:
    """Return the fresh base trials of a verification, more where `trials.max` raises the limit of head trials."""
    return max(rules.verify_bases, rules.verify_bases + most - rules.most_heads)


def _at_least(passes: int, trials: int, rate: float) -> float:
    """Return the probability of at least so many passes."""
    return sum(comb(trials, x) * rate**x * (1 - rate) ** (trials - x) for x in range(passes, trials + 1))


def _interleaved(head: int, base: int, turn: int) -> list[Side]:
    """Spread the smaller side evenly among the other; `turn` decides which side starts where both could."""
    starts: Side = "head" if turn % 2 else "base"
    counts: tuple[tuple[Side, int], ...] = (("head", head), ("base", base))
    places = [((n + 0.5) / count, side != starts, side) for side, count in counts for n in range(count)]
    return [side for _, _, side in sorted(places)]
