"""How an agent's step ended, and why it is not measured: what Tidegate saw itself decides, not what a program reports.

Every program of a trial can end, hang, or write into the agent's log. So an outage of the model's provider counts only
where the model proxy, or an agent that is a part of Tidegate, got no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tidegate.model.event import End
from tidegate.model.trial_spec import NotMeasured
from tidegate.trial.step_context import AgentStopped

_OF_PROVIDER: dict[str, NotMeasured] = {"auth": "auth", "outage": "outage"}
_WITHOUT_ANSWER = ("crashed", "auth", "outage", "refused_request")
SHARE_OF_WAITS = 0.1  # of the agent's time: with less, it would not have ended in time without them either
_TOKENS = ("tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write", "tokens_guessed")


class Ending(NamedTuple):
    """The end of an agent's step; `cause` says why nothing can be measured, None if it can."""

    end: End
    cause: NotMeasured | None = None


@dataclass(frozen=True)
class Observed:
    """What Tidegate knows besides the agent's own log.

    `proxied`: what the model proxy got, as an End; None if it was not asked. `hung`: the call of the target that ran
    when the agent was stopped. `took_s`: how long the agent ran.
    """

    has_proxy: bool = False
    asks_itself: bool = False  # the agent is a part of Tidegate, and so its report is Tidegate's own
    proxied: End | None = None
    hung: str | None = None
    took_s: float = 0.0

    @property
    def slowed_down(self) -> bool:
        """Return True if the provider's rate limits took a good part of the agent's time."""
        return self.proxied is not None and self.proxied.waited_s > SHARE_OF_WAITS * self.took_s


def ending_of(end: End, observed: Observed) -> Ending:
    """Return how a step ended that the agent ended by itself, by its own report `end`."""
    proxied = observed.proxied
    if end.end in _WITHOUT_ANSWER and proxied is not None:
        if proxied.end in _OF_PROVIDER:
            end = _explained(end, proxied).model_copy(update={"end": proxied.end})
            return Ending(end, _OF_PROVIDER[proxied.end])
        if proxied.end == "refused_request":
            end = _with_tokens(end, proxied)
            return Ending(end.model_copy(update={"end": proxied.end, "message": proxied.message}), "refused_request")
    if end.end == "refused_request":  # without the proxy the log alone says so, and gains nothing by it
        return Ending(_with_tokens(end, proxied), "refused_request")
    if end.end in _OF_PROVIDER:
        trusted = observed.asks_itself or (end.end == "auth" and not observed.has_proxy)
        return Ending(_with_tokens(end, proxied), _OF_PROVIDER[end.end] if trusted else "reported_outage")
    return Ending(_with_tokens(end, proxied), "resources" if end.end == "budget" else None)


def ending_of_stop(stopped: AgentStopped, told: End | None, observed: Observed) -> Ending:
    """Return how a step ended that Tidegate stopped; `told` has what the agent's log tells of turns, tokens and cost.

    An agent that waits for its model may look like a tool that hangs: if the provider gave no answers, it is the cause.
    """
    if stopped.end in _OF_PROVIDER:
        return ending_of(End(end=stopped.end, message=stopped.message), observed)
    for_time = stopped.end in ("timeout", "watchdog")
    if for_time and observed.hung is None:
        reported = observed.proxied if observed.has_proxy else told
        if reported is not None and reported.end in _OF_PROVIDER:
            return ending_of(reported, observed)
        if observed.proxied is not None and observed.slowed_down:
            waited = f"{stopped.message}, of which requests waited {observed.proxied.waited_s:.0f} s for the provider"
            return Ending(observed.proxied.model_copy(update={"end": "outage", "message": waited}), "outage")
    message = stopped.message if observed.hung is None or not for_time else f"{stopped.message} in `{observed.hung}`"
    end = (told or End(end="killed")).model_copy(update={"end": stopped.end, "message": message})
    return Ending(_with_tokens(end, observed.proxied), stopped.not_measured)


def _explained(end: End, proxied: End) -> End:
    said = "; ".join(dict.fromkeys(filter(None, (proxied.message, end.message))))
    return _with_tokens(end, proxied).model_copy(update={"message": said})


def _with_tokens(end: End, proxied: End | None) -> End:
    """Return the end with the proxy's count of tokens, if the agent reports fewer.

    An agent may leave out what it asked for again, and streams that broke off.
    """
    if proxied is None or _all_tokens(end) >= _all_tokens(proxied):
        return end
    return end.model_copy(update={name: getattr(proxied, name) for name in _TOKENS})


def _all_tokens(end: End) -> int:
    return (end.tokens_in or 0) + (end.tokens_out or 0)
