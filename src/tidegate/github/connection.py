"""Opens the connection to GitHub, and turns everything that can go wrong into PublishError."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tidegate import __version__
from tidegate.github.port import Kind, Permission, PublishError
from tidegate.model.value import Value

if TYPE_CHECKING:
    from github import Github, GithubException
    from github.Requester import Requester

SECONDARY_WAIT = 60.0  # seconds; GitHub's rule for a secondary rate limit without Retry-After
_KINDS: dict[int, Kind] = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    410: "not_found",
    429: "rate_limited",
}


class Pace(Value):
    """Timeouts and pauses in seconds. `retries` is the number of retries of one GET.

    GitHub asks for a second between writes, and for no pause between reads.
    """

    timeout: int = 10
    retries: int = 3
    backoff: float = 1.0
    longest_wait: int = 30
    between_writes: float = 1.0


def open_connection(api_url: str, token: SecretStr, pace: Pace) -> Github:
    """Return a PyGithub client with our timeouts. Nothing is sent yet. The import takes a third of a second.

    Only GET and HEAD are retried: with the library's defaults, one 502 can create four comments. An untrusted
    certificate is not retried (`other=0`), since a retry would fail too.
    """
    from github import Auth, Github, GithubRetry, set_log_level

    set_log_level(logging.WARNING)  # INFO prints every 403, and each job expects one
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
    """Turn every exception of PyGithub and the libraries below it into PublishError.

    PyGithub raises RuntimeError for redirects, AssertionError for an API address that it cannot use, and others for
    an answer that is not GitHub's, such as a proxy's HTML page or truncated JSON.
    """
    from github import GithubException, RateLimitExceededException
    from requests import RequestException
    from requests.exceptions import SSLError

    try:
        yield
    except PublishError:
        raise
    except GithubException as error:
        kind = "rate_limited" if isinstance(error, RateLimitExceededException) else _kind(error.status)
        wait = _wait(error) if kind == "rate_limited" else 0.0
        raise PublishError(kind, f"GitHub answered {error.status}: {_said(error)}", wait, permission) from error
    except SSLError as error:
        raise PublishError("certificate", "GitHub's certificate is not trusted") from error
    except RequestException as error:
        raise PublishError("outage", f"GitHub could not be reached: {type(error).__name__}") from error
    except Exception as error:
        said = f": {error}" if isinstance(error, RuntimeError) and str(error) else ""
        raise PublishError("outage", f"GitHub's answer could not be read: {type(error).__name__}{said}") from error


def got(requester: Requester, address: str) -> Any:
    """Return the JSON answer to a GET."""
    return requester.requestJsonAndCheck("GET", address)[1]


def sent(requester: Requester, method: str, address: str, said: Any = None) -> Any:
    """Send what changes something, and return the JSON answer. After any other, nothing counts as done."""
    answer = requester.requestJsonAndCheck(method, address, input=said)[1]
    if not isinstance(answer, list) and (not isinstance(answer, dict) or "data" in answer):  # `data`: was no JSON
        raise TypeError("not JSON")
    return answer


def _kind(status: int) -> Kind:
    return _KINDS.get(status, "invalid" if 400 <= status < 500 else "outage")


def _said(error: GithubException) -> str:
    message = error.data.get("message") if isinstance(error.data, dict) else None
    return str(message or error.message or "nothing that says why")


def _wait(error: GithubException) -> float:
    """Return the seconds to wait by GitHub's rules: Retry-After, else the primary limit's reset, else a minute."""
    headers: Mapping[str, object] = {name.lower(): value for name, value in (error.headers or {}).items()}
    if (after := str(headers.get("retry-after", ""))).isdecimal():
        return float(after)
    reset = str(headers.get("x-ratelimit-reset", ""))
    if str(headers.get("x-ratelimit-remaining", "")) == "0" and reset.isdecimal():
        return max(0.0, float(reset) - time.time())
    return SECONDARY_WAIT
