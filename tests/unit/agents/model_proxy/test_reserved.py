"""Requests at the same time, of which together no more are passed on than the limits of their trial allow."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.model_server import Fault, Step, serving
from tests.unit.agents.model_proxy.test_proxy import KEY, ask
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.model_proxy.traffic import TrafficLimits
from tidegate.agents.providers.access import KeyAccess
from tidegate.model.provider import ANTHROPIC
from tidegate.model.suite import Budget
from tidegate.trial.cost_meter import Spending


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
