"""Access to providers: with a key, with a token that is renewed, or without anything; and GitHub's OIDC token."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from tidegate.errors import CannotRunError, MissingKeyError
from tidegate.model.provider import (
    KEY_HEADERS,
    TOKEN_KEY,
    TOKEN_URL,
    Access,
    AccessError,
    ModelApi,
    ModelProvider,
    ModelRequest,
)

EARLY = 120.0  # seconds before its end at which a token is renewed
TRIES = 3  # to get an OIDC token of GitHub
SECS = 20.0
_ADVICE = (
    "Add `id-token: write` to the `permissions` of the workflow's job. Pull requests from forks get no such permission."
)


class KeyAccess(NamedTuple):
    """Puts the key where the request has one."""

    key: str

    def authorized(self, request: ModelRequest) -> ModelRequest:
        """Return the request with the key."""
        keyed = {
            name: f"Bearer {self.key}" if request.headers[name].lower().startswith("bearer ") else self.key
            for name in KEY_HEADERS
            if name in request.headers
        }
        return request._replace(headers={**request.headers, **keyed})


class Token(NamedTuple):
    """A token, and how many seconds it is valid from now on."""

    text: str
    secs: float


class TokenAccess:
    """Sends a bearer token, and gets a new one by `fetch` before it expires. `headers` are added."""

    def __init__(self, fetch: Callable[[], Token], headers: Mapping[str, str] = MappingProxyType({})) -> None:
        self._fetch = fetch
        self._headers = headers
        self._lock = Lock()
        self._token = ""
        self._until = 0.0  # on the monotonic clock

    def authorized(self, request: ModelRequest) -> ModelRequest:
        """Return the request with a valid token."""
        sent = request.without_keys(authorization=f"Bearer {self._valid()}")
        more = {name: ",".join(filter(None, (sent.headers.get(name), value))) for name, value in self._headers.items()}
        return sent._replace(headers={**sent.headers, **more})

    def _valid(self) -> str:
        """Return the token. While there is no new one, the old one is used until it expires."""
        with self._lock:
            left = self._until - time.monotonic()
            if left < EARLY:
                try:
                    self._token, secs = self._fetch()
                    self._until = time.monotonic() + secs
                except AccessError as error:
                    if error.denied or left <= 0:
                        raise
            return self._token


class OpenAccess(NamedTuple):
    """For servers that need no key."""

    def authorized(self, request: ModelRequest) -> ModelRequest:
        """Return the request without the token of the model proxy."""
        return request.without_keys()


class Accesses:
    """The access to each provider of a run, which all of its trials share."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._known: dict[tuple[ModelProvider, ModelApi], Access] = {}
        self._lock = Lock()

    def of(self, provider: ModelProvider, api: ModelApi) -> Access:
        """Return the access. Raises AccessError if a library is missing."""
        with self._lock:
            if (provider, api) not in self._known:
                self._known[provider, api] = provider.access(self._environ, api)
            return self._known[provider, api]

    def check(self, who: str, provider: ModelProvider, api: ModelApi) -> None:
        """Get a credential before any trial. Raises CannotRunError, which names `who` needs it, if there is none."""
        if (lacking := provider.missing(self._environ)) is not None:
            advice = (
                "Add it to the workflow's job. Pull requests from forks do not get it."
                if provider.keyless
                else "Set it in the environment; in a workflow, from a secret."
            )
            raise MissingKeyError(f"The {who} ({provider.type}) needs {lacking}.", advice)
        try:
            self.of(provider, api).authorized(ModelRequest("GET", provider.address(api), {}))
        except AccessError as error:
            raise CannotRunError(f"The {who} has no access to {provider.type}: {error}.", error.advice) from None


def library(name: str, extra: str) -> ModuleType:
    """Return the module, which writes no log: it could quote answers. Raises AccessError if it is not installed."""
    for logger in (name.partition(".")[0], "msal"):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    try:
        return importlib.import_module(name)
    except ImportError:
        advice = f"Install it: pip install 'tidegate[{extra}]'"
        raise AccessError(f"the library {name.partition('.')[0]} is not installed", advice, denied=True) from None


def not_exchanged(provider: str, status: int | None, advice: str) -> AccessError:
    """Return the error for an OIDC token that was not exchanged. It is final unless the provider itself has trouble."""
    denied = status is not None and 400 <= status < 500 and status != 429
    answer = "no answer" if status is None else f"HTTP {status}"
    return AccessError(f"{provider} did not exchange the OIDC token: {answer}", advice, denied=denied)


def identity_token(environ: Mapping[str, str], audience: str) -> str:
    """Return a new OIDC token of this job for the audience. Raises AccessError."""
    url, token = environ.get(TOKEN_URL), environ.get(TOKEN_KEY)
    if not url or not token:
        raise AccessError("GitHub gives this job no OIDC token", _ADVICE, denied=True)
    import httpx2  # 50 ms

    why = ""
    for attempt in range(TRIES):
        time.sleep(attempt)
        try:
            answer = httpx2.get(
                url, params={"audience": audience}, headers={"Authorization": f"bearer {token}"}, timeout=SECS
            )
        except httpx2.HTTPError as error:
            why = type(error).__name__
            continue
        if answer.status_code < 400:
            return _value(answer.json())
        why = f"HTTP {answer.status_code}"
        if answer.status_code < 500 and answer.status_code != 429:
            raise AccessError(f"GitHub refused an OIDC token: {why}", _ADVICE, denied=True)
    raise AccessError(f"GitHub's OIDC service does not answer: {why}", "Run the job again.", denied=False)


def _value(body: object) -> str:
    value = body.get("value") if isinstance(body, dict) else None
    if not isinstance(value, str):
        raise AccessError("GitHub's answer has no OIDC token", "Run the job again.", denied=False)
    return value
