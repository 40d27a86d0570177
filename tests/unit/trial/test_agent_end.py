"""How a step ended and why it is not measured: what Tidegate saw decides, not what a program of the trial reports."""

from __future__ import annotations

import pytest

from tidegate.model.event import End, TrialEnd
from tidegate.trial.agent_step import Observed, ending_of, ending_of_stop
from tidegate.trial.session import AgentStopped


def proxied(end: TrialEnd | None) -> End | None:
    return None if end is None else End(end=end, message=f"seen: {end}", tokens_in=7, tokens_out=3)


@pytest.mark.parametrize(
    ("reported", "seen", "cause"),
    [
        ("outage", "outage", "outage"),
        ("crashed", "outage", "outage"),
        ("completed", "outage", None),
        ("outage", "killed", "reported_outage"),
        ("outage", None, "reported_outage"),
        ("outage", "refused_request", "refused_request"),
        ("crashed", "refused_request", "refused_request"),
        ("completed", "refused_request", None),
        ("auth", "auth", "auth"),
        ("auth", "killed", "reported_outage"),
        ("crashed", "killed", None),
        ("budget", "killed", "resources"),
    ],
)
def test_an_agent_with_a_proxy(reported: TrialEnd, seen: TrialEnd | None, cause: str | None) -> None:
    assert ending_of(End(end=reported), Observed(has_proxy=True, proxied=proxied(seen))).cause == cause


@pytest.mark.parametrize(("asks_itself", "cause"), [(True, "outage"), (False, "reported_outage")])
def test_an_outage_without_a_proxy(asks_itself: bool, cause: str) -> None:
    assert ending_of(End(end="outage"), Observed(asks_itself=asks_itself)).cause == cause


@pytest.mark.parametrize(
    ("hung", "seen", "end", "message", "cause"),
    [
        (None, "killed", "timeout", "stopped after 3 s", None),
        ("tk ready", "killed", "timeout", "stopped after 3 s in `tk ready`", None),
        (None, "outage", "outage", "seen: outage", "outage"),
        ("tk ready", "outage", "timeout", "stopped after 3 s in `tk ready`", None),
        (None, "refused_request", "timeout", "stopped after 3 s", None),
    ],
)
def test_an_agent_that_was_stopped_for_time(
    hung: str | None, seen: TrialEnd, end: str, message: str, cause: str | None
) -> None:
    """While a call of the tool hangs, a provider outage is not an excuse."""
    observed = Observed(has_proxy=True, proxied=proxied(seen), hung=hung)
    ended = ending_of_stop(AgentStopped("timeout", "stopped after 3 s"), proxied("crashed"), observed)
    assert (ended.end.end, ended.end.message, ended.cause) == (end, message, cause)


def test_tokens_that_the_agent_does_not_report_are_the_proxys() -> None:
    end = ending_of(End(end="crashed"), Observed(has_proxy=True, proxied=proxied("killed"))).end
    assert (end.tokens_in, end.tokens_out) == (7, 3)


@pytest.mark.parametrize(
    ("waited", "hung", "cause"), [(4.0, None, "outage"), (2.0, None, None), (4.0, "tk ready", None)]
)
def test_time_that_went_by_while_the_provider_asked_for_fewer_requests(
    waited: float, hung: str | None, cause: str | None
) -> None:
    """The last request was answered, but too late: a tenth of the time or more was a pause of the provider."""
    seen = End(end="killed", tokens_in=7, waited_s=waited)
    observed = Observed(has_proxy=True, proxied=seen, hung=hung, took_s=30)
    ended = ending_of_stop(AgentStopped("timeout", "stopped after 30 s"), None, observed)
    assert (ended.cause, ended.end.end) == (cause, cause or "timeout")
