"""The connection to GitHub: who we are there, how long we wait, and everything that can go wrong as one error."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tidegate import __version__
from tidegate.gh.port import Kind, Permission, PublishError
from tidegate.model.value import Value

if TYPE_CHECKING:
    from github import Github, GithubException

SECONDARY_WAIT = 60.0  # seconds; what GitHub asks for where a secondary limit names no time
_KINDS: dict[int, Kind] = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    410: "not_found",
    429: "rate_limited",
}


class Pace(Value):
    """How long to wait for GitHub and between writes, in seconds; `retries` are those of a single GET.

    GitHub asks for a second between writes, and for nothing but one at a time between reads.
    """

    timeout: int = 10
    retries: int = 3
    backoff: float = 1.0
    longest_wait: int = 30
    between_writes: float = 1.0


def open_connection(api_url: str, token: SecretStr, pace: Pace) -> Github:
    """PyGithub with our patience; nothing is sent yet. It is imported here: that takes a third of a second.

    Only GET and HEAD are repeated by the library: with its defaults, one 502 makes four comments. A certificate that is
    not trusted will not be a moment later (`other`).
    """
    from github import Auth, Github, GithubRetry, set_log_level

    set_log_level(logging.WARNING)  # below that it prints every 403, one of which each job expects
    retry = GithubRetry(
        total=pace.retries,
        other=0,
        backoff_factor=pace.backoff,
        allowed_methods=frozenset({"GET", "HEAD"}),
        max_rate_limit_wait=pace.longest_wait,
        retry_after_max=pace.longest_wait,
    )
    return Github(
        auth=Auth.Token(token.get_secret_value()),
        base_url=api_url,
        timeout=pace.timeout,
        user_agent=f"tidegate/{__version__}",
        per_page=100,
        retry=retry,
        seconds_between_requests=0,
        seconds_between_writes=pace.between_writes,
        lazy=True,
    )


@contextmanager
def asking(permission: Permission = "pull-requests: write") -> Iterator[None]:
    """Everything that PyGithub and what is under it can raise, as PublishError."""
    from github import GithubException, RateLimitExceededException
    from requests import RequestException
    from requests.exceptions import SSLError

    try:
        yield
    except GithubException as error:
        kind = "rate_limited" if isinstance(error, RateLimitExceededException) else _kind(error.status)
        wait = _wait(error) if kind == "rate_limited" else 0.0
        raise PublishError(kind, f"GitHub answered {error.status}: {_said(error)}", wait, permission) from error
    except SSLError as error:
        raise PublishError("certificate", "GitHub's certificate is not trusted") from error
    except RequestException as error:
        raise PublishError("outage", f"GitHub could not be reached: {type(error).__name__}") from error
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as error:
        # What PyGithub raises on an answer that is not GitHub's: a proxy's HTML page, half of a JSON text.
        raise PublishError("outage", f"GitHub's answer could not be read: {type(error).__name__}") from error


def _kind(status: int) -> Kind:
    return _KINDS.get(status, "invalid" if 400 <= status < 500 else "outage")


def _said(error: GithubException) -> str:
    message = error.data.get("message") if isinstance(error.data, dict) else None
    return str(message or error.message or "nothing that says why")


def _wait(error: GithubException) -> float:
    """Seconds, as GitHub's own rules say: Retry-After, else the primary limit's reset, else a minute."""
    headers: Mapping[str, object] = {name.lower(): value for name, value in (error.headers or {}).items()}
    if (after := str(headers.get("retry-after", ""))).isdecimal():
        return float(after)
    reset = str(headers.get("x-ratelimit-reset", ""))
    if str(headers.get("x-ratelimit-remaining", "")) == "0" and reset.isdecimal():
        return max(0.0, float(reset) - time.time())
    return SECONDARY_WAIT
