"""The provider `openai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from tidegate.agents.providers.access import KeyAccess, Token, TokenAccess, key_missing, not_exchanged
from tidegate.agents.providers.github_identity import identity_token, missing_identity
from tidegate.model.field_types import Text, VariableName, wrong
from tidegate.model.model_apis import OPENAI
from tidegate.model.provider import Access, ModelApi, ModelProvider, SecureAddress

TOKEN_URL = "https://auth.openai.com/oauth/token"
SECS = 30.0
_ADVICE = "Compare the workload identity provider's mapping with the job's token: issuer, subject, audience."


class OpenAIProvider(ModelProvider):
    """The OpenAI API. With `identity_provider` and `service_account`, without a key: GitHub's OIDC token is exchanged.

    `audience` is the one that OpenAI's workload identity provider expects. Otherwise `key` names the variable with the
    key.
    """

    type: Literal["openai"]
    base_url: SecureAddress | None = None
    identity_provider: Text | None = None
    service_account: Text | None = None
    audience: Text = "https://api.openai.com/v1"
    key: VariableName = OPENAI.key

    @model_validator(mode="after")
    def _whole(self) -> OpenAIProvider:
        if (self.identity_provider is None) != (self.service_account is None):
            raise wrong("needs both `identity_provider` and `service_account`, or neither")
        return self

    @property
    def keyless(self) -> bool:
        """True if the suite says how the OIDC token is exchanged."""
        return self.identity_provider is not None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable with the key, if there is one."""
        return () if self.keyless else (self.key,)

    def address(self, api: ModelApi) -> str:
        """Return the address of the API."""
        return self.base_url or api.address

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return what the exchange or the key lacks."""
        return missing_identity(environ) if self.keyless else key_missing(self.key, environ)

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access with a token that is exchanged, or with the key."""
        return TokenAccess(lambda: _exchanged(self, environ)) if self.keyless else KeyAccess(environ[self.key])


def _exchanged(provider: OpenAIProvider, environ: Mapping[str, str]) -> Token:
    """Return a token for the job's OIDC token. Raises AccessError."""
    import httpx2

    asked = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "subject_token": identity_token(environ, provider.audience),
        "identity_provider_id": provider.identity_provider,
        "service_account_id": provider.service_account,
    }
    try:
        answer = httpx2.post(TOKEN_URL, json=asked, timeout=SECS)
        told = answer.json() if answer.status_code < 400 else {}
    except (httpx2.HTTPError, ValueError):
        raise not_exchanged("OpenAI", None, _ADVICE) from None
    if not isinstance(told, dict) or "access_token" not in told:
        raise not_exchanged("OpenAI", answer.status_code, _ADVICE)
    return Token(str(told["access_token"]), float(told.get("expires_in") or 0))
