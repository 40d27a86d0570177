"""The provider `anthropic`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, Literal

from tidegate.agents.providers.access import Token, identity_token, not_exchanged
from tidegate.agents.providers.keyed import KeyedProvider
from tidegate.model.field_types import Text, VariableName
from tidegate.model.model_apis import ANTHROPIC
from tidegate.model.provider import SecureAddress

AUDIENCE = "https://api.anthropic.com"
_ADVICE = "Compare the federation rule with the job's OIDC token: issuer, subject, audience."


class AnthropicProvider(KeyedProvider):
    """The Claude API. With `federation_rule` and `organization`, without a key: GitHub's OIDC token is exchanged.

    `service_account` and `workspace` narrow the exchange down. Without a federation rule, `key` names the variable with
    the key.
    """

    identity: ClassVar[tuple[str, ...]] = ("federation_rule", "organization")
    token_headers: ClassVar[Mapping[str, str]] = {"anthropic-beta": "oauth-2025-04-20"}

    type: Literal["anthropic"]
    base_url: SecureAddress | None = None
    federation_rule: Text | None = None
    organization: Text | None = None
    service_account: Text | None = None
    workspace: Text | None = None
    key: VariableName = ANTHROPIC.key

    def exchanged(self, environ: Mapping[str, str], address: str) -> Token:
        """Return a token for the job's OIDC token, by Anthropic's library. Raises AccessError."""
        from anthropic.lib.credentials import WorkloadIdentityCredentials, WorkloadIdentityError  # 1.1 s

        token = identity_token(environ, AUDIENCE)
        try:
            with WorkloadIdentityCredentials(
                identity_token_provider=lambda: token,
                federation_rule_id=str(self.federation_rule),
                organization_id=str(self.organization),
                service_account_id=self.service_account,
                workspace_id=self.workspace,
            ) as exchange:
                exchange.bind_base_url(address)
                told = exchange()
        except WorkloadIdentityError as error:
            raise not_exchanged("Anthropic", error.status_code, _ADVICE) from None
        return Token(told.token, (told.expires_at or 0) - time.time())
