"""The provider `anthropic`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from tidegate.agents.providers.access import KeyAccess, Token, TokenAccess, key_missing, not_exchanged
from tidegate.agents.providers.github_identity import identity_token, missing_identity
from tidegate.model.field_types import Text, VariableName, wrong
from tidegate.model.model_apis import ANTHROPIC
from tidegate.model.provider import Access, ModelApi, ModelProvider, SecureAddress

AUDIENCE = "https://api.anthropic.com"
_ADVICE = "Compare the federation rule with the job's OIDC token: issuer, subject, audience."
OAUTH = {"anthropic-beta": "oauth-2025-04-20"}  # requests with a token of the exchange need it


class AnthropicProvider(ModelProvider):
    """The Claude API. With `federation_rule` and `organization`, without a key: GitHub's OIDC token is exchanged.

    `service_account` and `workspace` narrow the exchange down. Without a federation rule, `key` names the variable with
    the key.
    """

    type: Literal["anthropic"]
    base_url: SecureAddress | None = None
    federation_rule: Text | None = None
    organization: Text | None = None
    service_account: Text | None = None
    workspace: Text | None = None
    key: VariableName = ANTHROPIC.key

    @model_validator(mode="after")
    def _whole(self) -> AnthropicProvider:
        if (self.federation_rule is None) != (self.organization is None):
            raise wrong("needs both `federation_rule` and `organization`, or neither")
        return self

    @property
    def keyless(self) -> bool:
        """True if the suite says how the OIDC token is exchanged."""
        return self.federation_rule is not None

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
        if not self.keyless:
            return KeyAccess(environ[self.key])
        return TokenAccess(lambda: _exchanged(self, environ, self.address(api)), OAUTH)


def _exchanged(provider: AnthropicProvider, environ: Mapping[str, str], address: str) -> Token:
    """Return a token for the job's OIDC token, by Anthropic's library. Raises AccessError."""
    from anthropic.lib.credentials import WorkloadIdentityCredentials, WorkloadIdentityError

    token = identity_token(environ, AUDIENCE)
    try:
        with WorkloadIdentityCredentials(
            identity_token_provider=lambda: token,
            federation_rule_id=str(provider.federation_rule),
            organization_id=str(provider.organization),
            service_account_id=provider.service_account,
            workspace_id=provider.workspace,
        ) as exchange:
            exchange.bind_base_url(address)
            told = exchange()
    except WorkloadIdentityError as error:
        raise not_exchanged("Anthropic", error.status_code, _ADVICE) from None
    return Token(told.token, (told.expires_at or 0) - time.time())
