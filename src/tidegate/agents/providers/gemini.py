"""The provider `gemini`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidegate.agents.providers.access import KeyAccess, key_missing
from tidegate.model.field_types import VariableName
from tidegate.model.model_apis import GOOGLE
from tidegate.model.provider import Access, ModelApi, ModelProvider, SecureAddress


class GeminiProvider(ModelProvider):
    """Google's Gemini API, with a key. It offers no access without one; use `vertex` for that.

    `key` names the variable with the key.
    """

    type: Literal["gemini"]
    base_url: SecureAddress | None = None
    key: VariableName = GOOGLE.key

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable with the key."""
        return (self.key,)

    def address(self, api: ModelApi) -> str:
        """Return the address of the API."""
        return self.base_url or api.address

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return that the key is missing, if it is."""
        return key_missing(self.key, environ)

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access with the key."""
        return KeyAccess(environ[self.key])
