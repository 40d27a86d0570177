"""The observed trials of each row, reduced to what the procedure needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Self

from tidegate.decide.procedure.rules import CLEARS, LEAST_HISTORY, Enough, Flip, Tally, enough_for, flip, repeats_needed
from tidegate.decide.statistics.e_process import e_of_fall
from tidegate.model.measurement import FilesOfPasses, TrialResult, files_of_passes
from tidegate.model.run_row import Counts, RunRow
from tidegate.model.trial import LINK, MANY, name_of
from tidegate.model.trial_spec import SETUP_KINDS, NotMeasured, Phase, Side, is_inside
from tidegate.model.value import Value
from tidegate.text.noise import without_digits, without_noise
from tidegate.text.shorten import few

LUCK = 0.01  # the probability that a side seems to have fallen below base's history, and has not
STEADY = 10  # trials of base without a failure that show a deterministic row to be one


class Past(NamedTuple):
    """Base's history of a row: whether each trial passed, oldest first.

    `unsteady`: trials of one commit disagree. `apart`, `newest`: passes and number of all trials, and the newest ones,
    without those that were measured beside a pull request's head, which can make base fail.
    """

    outcomes: Sequence[bool] = ()
    unsteady: bool = False
    apart: Counts = (0, 0)
    newest: Sequence[bool] = ()
    files: FilesOfPasses = FilesOfPasses()
    faults: frozenset[str] = frozenset()  # see TrialResult
    ends: frozenset[str] = frozenset()  # of the agents of passing trials

    @property
    def counts(self) -> Counts:
        """Passes and trials."""
        return sum(self.outcomes), len(self.outcomes)


def usual_rate(apart: Counts, newest: Sequence[bool]) -> float | None:
    """Return the success rate of base's history, or that of the newest trials if it is lower; None without trials."""
    passes, trials = apart
    return min((passes + 0.5) / (trials + 1), sum(newest) / len(newest)) if trials and newest else None


CUT_OFF = ("crashed", "killed", "timeout", "watchdog", "limit")  # ends that a tool can cause before it would fail
_CHOSEN = re.compile(  # by `mktemp`, by Python's `tempfile`, and in base32
    r"\btmp[._]?\w{6,}|(?:^|(?<=[./_-]))(?:(?=\w*[A-Z])(?=\w*[a-z])\w{3,12}|[A-Z]{6,})(?=[/.]|$)"
)
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:-?[a-z]\w*)?")
_NO_PASS = "it passes, but its agent was cut off in a way in which no passing trial of base was"


def setup_failed(trial: TrialResult) -> bool:
    """Return True if the setup, the health check or the build failed, so that the agent was not started."""
    return trial.decides is None and trial.not_measured in SETUP_KINDS


def is_lost(trial: TrialResult) -> bool:
    """Return True if it has no outcome, for an inside cause that counts as a failure, other than its setup."""
    other = (*SETUP_KINDS, "rewritten")  # such a pass proves nothing, and fails nothing
    return trial.decides is None and trial.not_measured not in other and is_inside(trial.not_measured)


def in_outage(trial: TrialResult) -> bool:
    """Return True if it has no outcome, since the provider or the judge did not answer."""
    return trial.decides is None and trial.not_measured in ("outage", "judge")


def _cut_off(trial: TrialResult) -> bool:
    """Return True if it passes, although its agent did not end as it would have."""
    return trial.decides == "pass" and kind_of_end(trial.end) in CUT_OFF


def kind_of_end(end: str | None) -> str:
    """Return how the agent ended, without the limit that it met."""
    return (end or "").partition(":")[0]


def _without(trial: TrialResult, cause: NotMeasured, reason: str) -> TrialResult:
    lost = {"outcome": None, "decides": None, "not_measured": cause, "reason": reason}
    return trial.model_copy(update=lost)


def _usable(trial: TrialResult, by_base: Collection[str]) -> TrialResult:
    """Return a pass as a failure if it has faults that no trial of base has: its checks cannot be trusted."""
    new = [f"{why} ({tool})" if tool else why for why, tool in trial.faults.items() if why not in by_base]
    if not new or trial.decides != "pass":
        return trial
    return trial.model_copy(update={"outcome": "fail", "decides": "fail", "reason": f"only on head: {few(new)}"})


def _proved(trial: TrialResult, by_base: FilesOfPasses) -> TrialResult:
    """Return a pass without its outcome if it changed files of its start that base's passes do not change at that step,
    unless only head's setup made them; or if a link of head's setup is not one of base's, and base's setup makes
    something of its name: what is written there then lies where it is not watched.
    """
    if not (trial.rewritten or trial.made) or (trial.decides != "pass" and trial.not_measured != "rewritten"):
        return trial
    links, own = _links_apart(trial.made)
    links_of_base, of_base = _links_apart(trial.made if by_base.made is None else by_base.made)
    made, led = {*map(_steady, of_base)}, {*map(_steady, links_of_base)}
    new = set() if MANY in of_base else {name for name in own - of_base if _steady(name) not in made}
    strange = {link.partition(LINK)[0] for link in links - links_of_base if _steady(link) not in led}
    if strange - new:
        why = f"its setup makes links where base's makes something else: {few(sorted(strange - new))}"
        return _without(trial, "rewritten", why)
    alike = {*map(_steady, by_base.rewritten)}
    others = {
        name
        for name in {*trial.rewritten} - by_base.rewritten
        if (file := name_of(name)) not in new and (file in of_base or file not in own or _steady(name) not in alike)
    }
    if others:
        why = f"it changes files that no passing trial of base changes: {few(sorted(others))}"
        return _without(trial, "rewritten", why)
    if trial.not_measured is None:
        return trial
    return trial.model_copy(update={"outcome": "pass", "decides": "pass", "not_measured": None, "reason": ""})


def _links_apart(made: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the links, with where they lead, and the names of all."""
    links = {name for name in made if LINK in name}
    return links, {*made} - links


@lru_cache(maxsize=4096)
def _steady(name: str) -> str:
    """Return a file's name without what differs between trials: numbers, times, ids, what `mktemp` chooses."""
    file = name_of(name)
    return without_digits(_CHOSEN.sub("tmp.", _VERSION.sub("", without_noise(file)))) + name[len(file) :]


class RowSeen(Value):
    """A row, its limits, and its observed trials in order of side and index."""

    row: RunRow
    k0: int = 1  # screening trials per side, where chance has a part
    most: int | None = None  # limit of head trials over all phases
    past: Past = Past()
    results: tuple[TrialResult, ...] = ()  # as they were measured
    trials: tuple[TrialResult, ...] = ()  # as they count
    doubted: bool = False  # a spot check looked worse, so that replays decide for no row

    def with_trials(self, results: Sequence[TrialResult]) -> Self:
        """Return the row with these trials added; a trial that is already known is not replaced.

        A pass of head has no outcome if its agent was cut off as it was in no passing trial of base.
        """
        known = {(one.side, one.index, one.phase): one for one in (*results, *self.results)}
        ordered = tuple(known[place] for place in sorted(known))
        passes = [one for one in ordered if one.side == "base" and one.decides == "pass"]
        ends = {*self.past.ends, *(kind_of_end(one.end) for one in passes)}
        by_base = files_of_passes([*passes, *([self.past.files] if any(self.past.outcomes) else [])])

        of_base = [one for one in ordered if one.side == "base" and one.decides is not None]
        faults = {*self.past.faults, *(why for one in of_base for why in one.faults)}
        is_compared = self.row.presence == "both" and bool(of_base or self.past.outcomes)

        def counted(one: TrialResult) -> TrialResult:
            if one.side == "base":
                return one
            if ends and _cut_off(one) and kind_of_end(one.end) not in ends:
                return _without(one, "agent_error", _NO_PASS)
            one = _usable(one, faults) if is_compared else one
            return _proved(one, by_base) if self.row.presence == "both" else one

        return self.model_copy(update={"results": ordered, "trials": tuple(map(counted, ordered))})

    def of(self, side: Side, phase: Phase | None = None) -> tuple[TrialResult, ...]:
        """Return the trials of one side, optionally of one phase only."""
        return tuple(t for t in self.trials if t.side == side and phase in (None, t.phase))

    def tally(self, side: Side) -> Tally:
        """Count the trials of one side."""
        trials = [t for t in self.trials if t.side == side]
        decides = [t.decides for t in trials]
        passes, fails = decides.count("pass"), decides.count("fail")
        if passes + fails == len(trials):  # of nearly all rows
            return Tally(passes, fails)
        return Tally(passes, fails, *(sum(map(kind, trials)) for kind in (setup_failed, is_lost, in_outage)))

    @property
    def screening(self) -> int:
        """Screening trials of head: one in a spot check that passes, and of a deterministic row without a history."""
        if not self.by_chance:
            return 2 if self.steady and self.row.presence == "both" else 1
        return 1 if self.spot_checked and not self.tally("head").fails else self.k0

    @property
    def trials_per_side(self) -> dict[Side, int]:
        """Screening trials of each side: within `most`, and none of base if there is a history."""
        head = min(self.screening, self.most or self.screening)
        return {"base": 0 if self.history[1] else head if self.by_chance else 1, "head": head}

    @property
    def steady(self) -> bool:
        """True if base never failed in a long history: a second head trial then shows a tool that fails at random."""
        return self.past.counts[1] >= STEADY and all(self.past.outcomes) and not self.tally("base").fails

    @property
    def before(self) -> float | None:
        """Base's success rate without a pull request, of which a fall is looked for; None without a history."""
        return usual_rate(self.past.apart, self.past.newest)

    @property
    def by_chance(self) -> bool:
        """True if chance has a part in the outcomes: as declared, or as the row's own trials show."""
        return not self.row.deterministic or self.demoted

    @property
    def history(self) -> Counts:
        """Passes and trials of the history; (0, 0) if it is too short to be used, or the row is deterministic."""
        return self.past.counts if self.by_chance and self.past.counts[1] >= LEAST_HISTORY else (0, 0)

    @property
    def skipped(self) -> bool:
        """True if no agent is run for the row: base's recorded sessions replay alike on both sides."""
        return self.row.replay is not None and self.row.replay.skipped and not (self.trials or self.doubted)

    @property
    def spot_checked(self) -> bool:
        """True if the row has a trial only to check what replays show."""
        return self.row.replay is not None and self.row.replay.spot and not self.doubted

    @property
    def sequential(self) -> bool:
        """True if the row goes through screen, confirm and verify."""
        return self.row.presence == "both" and self.by_chance and not self.skipped and self.row.no_agent is None

    @property
    def cut_short(self) -> bool:
        """True if the run ended before the row's screening did: out of budget, or another row decided the verdict."""
        return self.sequential and self.heads_run < self.trials_per_side["head"]

    @property
    def heads_run(self) -> int:
        """Number of head trials that the budget did not end."""
        return sum(trial.not_measured != "budget" for trial in self.of("head"))

    @property
    def out_of_budget(self) -> bool:
        """True if the budget ended a trial of the row."""
        return any(trial.not_measured == "budget" for trial in self.trials)

    @property
    def confirmable(self) -> bool:
        """True if `trials.max` allows the head trials that a confirmation by repeats needs."""
        return self.most is None or self.most >= self.enough.head

    @property
    def flip(self) -> Flip | None:
        """The difference between the sides that repeats can confirm; None if there is none."""
        return flip(self.tally("base"), self.tally("head"), not self.by_chance)

    @property
    def enough(self) -> Enough:
        """The trials of each side that confirm the row's flip."""
        return enough_for(self.flip, by_chance=self.by_chance)

    @property
    def flip_is_confirmed(self) -> bool:
        """True if the sides differ in enough trials."""
        return self.flip is not None and not any(self.repeats_needed)

    @property
    def build_failed(self) -> bool:
        """True if head's build failed, so that none of its trials began."""
        return any(trial.not_measured == "build" for trial in self.of("head"))

    @property
    def passes_to_clear(self) -> int:
        """Passes that head needs, without a failure, where it failed in an earlier run; 0 where repeats do not decide.

        A tool that fails by chance is then not cleared by one lucky trial.
        """
        earlier = self.row.earlier
        if self.by_chance or self.row.presence != "both" or not (earlier.failed or earlier.state != "ok"):
            return 0
        return min(CLEARS, self.most or CLEARS)

    @property
    def cleared(self) -> bool:
        """True if head's failure of an earlier run no longer counts: enough trials pass, or base fails, too."""
        if self.by_chance or not self.tally("head").measured or not self.tally("base").measured:
            return False
        base_is_known_to_fail = not self.tally("base").passes and not self.base_fails
        return self.flip != "worse" and (self.tally("head").passes >= self.passes_to_clear or base_is_known_to_fail)

    @property
    def passes_missing(self) -> int:
        """Number of head trials to run until a failure of an earlier run is cleared; 0 if they cannot clear it."""
        if self.flip is not None or not self.tally("head").passes:
            return 0
        return max(0, self.passes_to_clear - len(self.of("head")))

    @property
    def repeats_needed(self) -> Enough:
        """How many more trials of each side the flip needs; zeros if there is none."""
        kind = self.flip
        if kind is None:
            return Enough(0, 0)
        return repeats_needed(kind, self.tally("base"), self.tally("head"), self.enough)

    @property
    def base_unchecked(self) -> bool:
        """True if a side was never measured, and base was not tried often enough to show if head is the cause."""
        base, head = self.tally("base"), self.tally("head")
        if self.row.presence != "both" or base.measured:
            return False
        if head.measured:
            return base.inside > 0 and not self.sequential
        return head.inside + head.outages > 0 and not self.of("base")

    @property
    def base_fails(self) -> bool:
        """True if both sides fail although base's history passes: what head leaves behind can be why."""
        return self.row.presence == "both" and self.dropped("base") and self.dropped("head")

    def dropped(self, side: Side) -> bool:
        """Return True if the side passes much less often than base's history, beyond chance."""
        seen, before = self.tally(side), self.before
        if before is None or not seen.measured or (self.row.deterministic and not self.past.newest[-1]):
            return False
        if not self.by_chance:
            return not seen.passes
        return e_of_fall(seen.passes, seen.measured + seen.inside, before) * LUCK >= 1

    def cause(self, sides: Sequence[Side]) -> NotMeasured:
        """Return why these sides were not measured: what head may have caused, unless base was kept from outside.

        A budget that is used up does not count as outside here: head can use it up.
        """
        causes = {side: Counter(t.not_measured or "unfinished" for t in self.of(side)) for side in sides}
        base, head = causes.get("base", Counter()), causes.get("head", Counter())
        if base and not any(is_inside(cause) or cause == "budget" for cause in base):
            return base.most_common(1)[0][0]
        inside = Counter({cause: count for cause, count in head.items() if is_inside(cause)})
        found = (inside or head + base).most_common(1)
        return found[0][0] if found else "unfinished"

    @property
    def demoted(self) -> bool:
        """True if the row is declared deterministic but its repeats disagree."""
        if not self.row.deterministic:
            return False
        return self.past.unsteady or self.tally("base").mixed or self.tally("head").mixed
