"""Requests that wait for a provider or that a trial's limits do not allow, with real servers on loopback."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from email.message import Message

import pytest

from tests.model_server import Fault, Step, serving
from tests.unit.agents.model_proxy.test_proxy import KEY, ask
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.model_proxy.traffic import FIRST_SECS, ROUNDS, RateLimit, TrafficLimits
from tidegate.agents.providers.access import KeyAccess
from tidegate.model.provider import ANTHROPIC
from tidegate.model.suite import Budget
from tidegate.trial.cost_meter import Spending

SOON = {"retry-after-ms": "300"}


def headers(**given: str) -> Message:
    made = Message()
    for name, value in given.items():
        made[name.replace("_", "-")] = value
    return made


def test_a_pause_holds_the_requests_of_all_trials_and_no_agent_notices() -> None:
    """The first trial's request gets 429. It is sent again after the pause, and the other trial's waits, too."""
    with (
        serving([Step("Well.")], [Fault(429, headers=SOON)]) as server,
        ModelProxy() as proxy,
        proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as one,
        proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as other,
        ThreadPoolExecutor() as both,
    ):
        began = time.monotonic()
        first = both.submit(ask, one)
        while not server.requests:
            time.sleep(0.005)
        time.sleep(0.05)
        assert ask(other)[0] == 200
        took = time.monotonic() - began
        assert first.result()[0] == 200
        told = one.traffic.told(), other.traffic.told()

    assert took >= 0.3
    assert len(server.requests) == 3
    assert [end.end for end in told if end] == ["killed", "killed"]
    assert [0.1 < end.waited_s < 5 for end in told if end] == [True, True]


def test_another_key_does_not_wait_and_the_end_of_a_trial_ends_its_wait() -> None:
    with (
        serving([Step("Well.")], [Fault(429, headers={"retry-after": "50"})]) as server,
        ModelProxy() as proxy,
        proxy.lent(ANTHROPIC, KeyAccess("another"), server.url) as other,
        ThreadPoolExecutor() as both,
    ):
        began = time.monotonic()
        with proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as one:
            waiting = both.submit(ask, one)
            while not server.requests:
                time.sleep(0.005)
            assert ask(other)[0] == 200
            while (told := one.traffic.told()) is None:
                time.sleep(0.005)
        with pytest.raises(ConnectionError):
            waiting.result()
        assert told.end == "outage", "a trial that is stopped while it waits has no answer"
        assert time.monotonic() - began < 20


def test_a_provider_that_answers_nothing_else_is_given_up_until_it_answers() -> None:
    with (
        serving([Step("Well.")], [Fault(429, headers={"retry-after-ms": "1"})] * (ROUNDS + 3)) as server,
        ModelProxy() as proxy,
        proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as lease,
    ):
        statuses = [ask(lease)[0] for _ in range(4)]
        asked = len(server.requests)
        server.faults.append(Fault(529, headers={"retry-after-ms": "1"}))
        assert ask(lease)[0] == 200, "it is waited for again"

    assert statuses == [429, 429, 429, 200]
    assert asked == ROUNDS + 4


@pytest.mark.parametrize(
    ("given", "again"),
    [({}, True), ({"retry_after": "60"}, True), ({"retry_after": "61"}, False), ({"retry_after": "soon"}, True)],
)
def test_only_short_pauses_are_waited_for(given: dict[str, str], again: bool) -> None:
    assert RateLimit().saw(429, headers(**given), time.monotonic()) is again


def test_unnamed_pauses_double_and_answers_to_requests_of_before_a_pause_begin_no_other() -> None:
    limit, now = RateLimit(), time.monotonic()
    for _ in range(20):
        assert limit.saw(529, headers(), now)
    assert 0 < next(limit.pause(now)) <= FIRST_SECS
    assert [limit.saw(500, headers(), now), limit.saw(200, headers(), now)] == [False, False]
    assert not limit.saw(429, headers(), now - 1000), "no request waits for ever"
    assert list(limit.pause(now - 1000)) == []


# --- requests at the same time, of which no more are passed on than the limits of their trial allow


def asked_at_once(limits: TrafficLimits, times: int, faults: tuple[Fault, ...] = ()) -> tuple[list[int], int]:
    """The statuses that so many requests get, and how many the provider got."""
    with (
        serving([Step("Well.")] * times, list(faults)) as server,
        ModelProxy() as proxy,
        proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url, limits) as lease,
        ThreadPoolExecutor(times) as pool,
    ):
        statuses = sorted(pool.map(lambda _: ask(lease)[0], range(times)))
        return statuses, len(server.requests)


def test_no_more_turns_than_the_limit_pass_at_once() -> None:
    assert asked_at_once(TrafficLimits(turns=3), 40) == ([200] * 3 + [400] * 37, 3)


def test_a_request_that_failed_gives_its_turn_back() -> None:
    statuses, _ = asked_at_once(TrafficLimits(turns=3), 12, (Fault(status=500),))
    assert statuses.count(200) == 3


@pytest.mark.parametrize(("tokens", "passed"), [(40, 1), (1_000_000, 30)])
def test_requests_at_once_spend_no_more_than_one_beyond_the_budget(tokens: int, passed: int) -> None:
    spending = Spending(Budget(tokens=tokens))
    meter = spending.meter(None, None)

    def spent(told: object) -> str | None:
        meter.tell(told)  # type: ignore[arg-type]
        over = meter.over()
        return over[0] if over else None

    statuses, asked = asked_at_once(TrafficLimits(None, spent, meter.leaves_room), 30)

    assert statuses.count(200) == asked == passed
