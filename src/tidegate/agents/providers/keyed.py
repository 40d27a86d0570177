"""The providers that are reached with a key, or with a token for GitHub's OIDC token."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, Literal

from tidegate.agents.providers.access import KeyAccess, OpenAccess, Token, TokenAccess, identity_token, not_exchanged
from tidegate.model.field_types import Text, VariableName
from tidegate.model.provider import ANTHROPIC, GOOGLE, OPENAI, Access, Address, ModelApi, ModelProvider, SecureAddress


class KeyedProvider(ModelProvider):
    """A provider that is reached with a key, unless the suite says how GitHub's OIDC token is exchanged."""

    token_headers: ClassVar[Mapping[str, str]] = {}  # that requests with a token of the exchange need

    base_url: Address | None = None
    key: VariableName | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable with the key, if there is one."""
        return () if self.keyless or self.key is None else (self.key,)

    def address(self, api: ModelApi) -> str:
        """Return the address of the API."""
        return self.base_url or api.address

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access with a token that is exchanged, with the key, or without one."""
        if self.keyless:
            return TokenAccess(lambda: self.exchanged(environ, self.address(api)), self.token_headers)
        return KeyAccess(environ[self.key]) if self.key else OpenAccess()

    def exchanged(self, environ: Mapping[str, str], address: str) -> Token:
        """Return a token for the job's OIDC token. Raises AccessError."""
        raise NotImplementedError


class GeminiProvider(KeyedProvider):
    """Google's Gemini API, with a key. It offers no access without one; use `vertex` for that.

    `key` names the variable with the key.
    """

    serves: ClassVar[tuple[ModelApi, ...]] = (GOOGLE,)

    type: Literal["gemini"]
    base_url: SecureAddress | None = None
    key: VariableName = GOOGLE.key


class CompatibleProvider(KeyedProvider):
    """A server with the API that the agent or judge uses: Ollama, vLLM, LiteLLM and others.

    `base_url` is what the agent's own provider has as its address, so with `/v1` for `codex` and without it for
    `claude-code`. It may begin with `http://`. `key` names the variable with a key; without it, no key is sent.
    """

    serves: ClassVar[tuple[ModelApi, ...]] = (ANTHROPIC, OPENAI, GOOGLE)

    type: Literal["compatible"]
    base_url: Address


TOKEN_URL = "https://auth.openai.com/oauth/token"
SECS = 30.0
_OPENAI_ADVICE = "Compare the workload identity provider's mapping with the job's token: issuer, subject, audience."


class OpenAIProvider(KeyedProvider):
    """The OpenAI API. With `identity_provider` and `service_account`, without a key: GitHub's OIDC token is exchanged.

    `audience` is the one that OpenAI's workload identity provider expects. Otherwise `key` names the variable with the
    key.
    """

    identity: ClassVar[tuple[str, ...]] = ("identity_provider", "service_account")
    serves: ClassVar[tuple[ModelApi, ...]] = (OPENAI,)

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
            raise not_exchanged("OpenAI", None, _OPENAI_ADVICE) from None
        if not isinstance(told, dict) or "access_token" not in told:
            raise not_exchanged("OpenAI", answer.status_code, _OPENAI_ADVICE)
        return Token(str(told["access_token"]), float(told.get("expires_in") or 0))


AUDIENCE = "https://api.anthropic.com"
_ANTHROPIC_ADVICE = "Compare the federation rule with the job's OIDC token: issuer, subject, audience."


class AnthropicProvider(KeyedProvider):
    """The Claude API. With `federation_rule` and `organization`, without a key: GitHub's OIDC token is exchanged.

    `service_account` and `workspace` narrow the exchange down. Without a federation rule, `key` names the variable with
    the key.
    """

    identity: ClassVar[tuple[str, ...]] = ("federation_rule", "organization")
    serves: ClassVar[tuple[ModelApi, ...]] = (ANTHROPIC,)
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
            raise not_exchanged("Anthropic", error.status_code, _ANTHROPIC_ADVICE) from None
        return Token(told.token, (told.expires_at or 0) - time.time())
