"""The OIDC token by which GitHub confirms to a provider which workflow asks."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tidegate.model.provider import AccessError

TRIES = 3
SECS = 20.0
_URL, _TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
ADVICE = (
    "Add `id-token: write` to the `permissions` of the workflow's job. Pull requests from forks get no such permission."
)


def in_github(environ: Mapping[str, str]) -> bool:
    """Return True if this is a job of GitHub Actions."""
    return environ.get("GITHUB_ACTIONS") == "true"


def missing_identity(environ: Mapping[str, str]) -> str | None:
    """Return what a job of GitHub Actions lacks for an OIDC token; None if nothing, or elsewhere."""
    if not in_github(environ) or (environ.get(_URL) and environ.get(_TOKEN)):
        return None
    return "the permission `id-token: write`"


def identity_token(environ: Mapping[str, str], audience: str) -> str:
    """Return a new OIDC token of this job for the audience. Raises AccessError."""
    url, token = environ.get(_URL), environ.get(_TOKEN)
    if not url or not token:
        raise AccessError("GitHub gives this job no OIDC token", ADVICE, denied=True)
    import httpx2

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
            raise AccessError(f"GitHub refused an OIDC token: {why}", ADVICE, denied=True)
    raise AccessError(f"GitHub's OIDC service does not answer: {why}", "Run the job again.", denied=False)


def _value(body: object) -> str:
    value = body.get("value") if isinstance(body, dict) else None
    if not isinstance(value, str):
        raise AccessError("GitHub's answer has no OIDC token", "Run the job again.", denied=False)
    return value
