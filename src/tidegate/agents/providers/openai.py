"""The provider `openai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from tidegate.agents.providers.access import Token, identity_token, not_exchanged
from tidegate.agents.providers.keyed import KeyedProvider
from tidegate.model.field_types import Text, VariableName
from tidegate.model.model_apis import OPENAI
from tidegate.model.provider import SecureAddress

TOKEN_URL = "https://auth.openai.com/oauth/token"
SECS = 30.0
_ADVICE = "Compare the workload identity provider's mapping with the job's token: issuer, subject, audience."


class OpenAIProvider(KeyedProvider):
    """The OpenAI API. With `identity_provider` and `service_account`, without a key: GitHub's OIDC token is exchanged.

    `audience` is the one that OpenAI's workload identity provider expects. Otherwise `key` names the variable with the
    key.
    """

    identity: ClassVar[tuple[str, ...]] = ("identity_provider", "service_account")

    type: Literal["openai"]
    base_url: SecureAddress | None = None
    identity_provider: Text | None = None
    service_account: Text | None = None
    audience: Text = "https://api.openai.com/v1"
    key: VariableName = OPENAI.key

    def exchanged(self, environ: Mapping[str, str], address: str) -> Token:
        """Return a token for the job's OIDC token. Raises AccessError."""
        import httpx2  # 50 ms

        asked = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "subject_token": identity_token(environ, self.audience),
            "identity_provider_id": self.identity_provider,
            "service_account_id": self.service_account,
        }
        try:
            answer = httpx2.post(TOKEN_URL, json=asked, timeout=SECS)
            told = answer.json() if answer.status_code < 400 else {}
        except (httpx2.HTTPError, ValueError):
            raise not_exchanged("OpenAI", None, _ADVICE) from None
        if not isinstance(told, dict) or "access_token" not in told:
            raise not_exchanged("OpenAI", answer.status_code, _ADVICE)
        return Token(str(told["access_token"]), float(told.get("expires_in") or 0))
