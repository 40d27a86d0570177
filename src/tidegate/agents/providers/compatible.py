"""The provider `compatible`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidegate.agents.providers.access import KeyAccess, OpenAccess, key_missing
from tidegate.model.field_types import VariableName
from tidegate.model.provider import Access, Address, ModelApi, ModelProvider


class CompatibleProvider(ModelProvider):
    """A server with the API that the agent uses: Ollama, vLLM, LiteLLM and others.

    `base_url` is what the agent's own provider has as its address, so with `/v1` for `codex` and without it for
    `claude-code`. It may begin with `http://`. `key` names the variable with a key; without it, no key is sent.
    """

    type: Literal["compatible"]
    base_url: Address
    key: VariableName | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable with the key, if the server needs one."""
        return (self.key,) if self.key else ()

    def address(self, api: ModelApi) -> str:
        """Return the server's address."""
        return self.base_url

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return that the key is missing, if there should be one."""
        return key_missing(self.key, environ) if self.key else None

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access with the key or without one."""
        return KeyAccess(environ[self.key]) if self.key else OpenAccess()
