"""The providers `gemini` and `compatible`, and what all providers share that can be reached with a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from tidegate.agents.providers.access import KeyAccess, OpenAccess, Token, TokenAccess
from tidegate.model.field_types import VariableName
from tidegate.model.model_apis import GOOGLE
from tidegate.model.provider import Access, Address, ModelApi, ModelProvider, SecureAddress


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

    type: Literal["gemini"]
    base_url: SecureAddress | None = None
    key: VariableName = GOOGLE.key


class CompatibleProvider(KeyedProvider):
    """A server with the API that the agent or judge uses: Ollama, vLLM, LiteLLM and others.

    `base_url` is what the agent's own provider has as its address, so with `/v1` for `codex` and without it for
    `claude-code`. It may begin with `http://`. `key` names the variable with a key; without it, no key is sent.
    """

    type: Literal["compatible"]
    base_url: Address
