"""opencode as an agent."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from tidegate.agents.coding import CodingAgent, Launch, without_turn_limit
from tidegate.model.agent import Session
from tidegate.streams.json_lines import JsonLines
from tidegate.streams.opencode import OpenCode

# Providers whose client comes with opencode: the package of the client, and the variable of the key.
_PROVIDERS = {
    "anthropic": ("@ai-sdk/anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": ("@ai-sdk/openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "google": ("@ai-sdk/google", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


class OpenCodeAgent(CodingAgent):
    """opencode, the program `opencode`. `model` is `PROVIDER/MODEL`; needs the provider's key. Its shell sees the key.

    Providers are `anthropic` (`ANTHROPIC_API_KEY`), `openai` (`OPENAI_API_KEY`) and `google` (`GEMINI_API_KEY`). It
    has no limit of turns that it keeps.
    """

    type: Literal["opencode"]
    model: str

    program: ClassVar[str] = "opencode"
    package: ClassVar[str] = "opencode-ai"
    oldest: ClassVar[tuple[int, int, int]] = (1, 18, 33)
    tested: ClassVar[str] = "1.18.33"

    @field_validator("model")
    @classmethod
    def _names_a_provider(cls, model: str) -> str:
        provider, _, name = model.partition("/")
        if provider not in _PROVIDERS or not name:
            raise ValueError(f"must be PROVIDER/MODEL, with one of {', '.join(_PROVIDERS)}")
        return model

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the model's provider."""
        return (self._provider[1],)

    @property
    def variables(self) -> tuple[str, ...]:
        """The key, and where the model is."""
        return self._provider[1:]

    @property
    def _provider(self) -> tuple[str, str, str]:
        return _PROVIDERS[self.model.partition("/")[0]]

    def launch(self, session: Session) -> Launch:
        """One provider, one model, everything allowed, and nothing fetched at the start."""
        without_turn_limit(self.type, session)
        file = session.home_file("opencode.json", json.dumps(self._configuration(session)))
        return Launch(
            argv=(self.program, "run", "--format", "json", *self.args, "--", session.prompt),
            env={
                "OPENCODE_CONFIG": str(file),
                **{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF},
                "npm_config_offline": "true",
                **self.own_environment(session),
            },
        )

    def _configuration(self, session: Session) -> dict[str, Any]:
        client, key, endpoint = self._provider
        provider, _, name = self.model.partition("/")
        base_url = {**session.credentials, **self.env}.get(endpoint)
        options = {"apiKey": f"{{env:{key}}}", **({"baseURL": base_url} if base_url else {})}
        server = session.server
        servers = {server.name: {"type": "local", "command": [str(server.program)]}} if server else {}
        return {
            "provider": {provider: {"npm": client, "options": options, "models": {name: {}}}},
            "enabled_providers": [provider],
            "model": self.model,
            "small_model": self.model,
            "permission": {"*": "allow"},
            "mcp": servers,
        }

    def stream(self, session: Session) -> JsonLines:
        """Everything is in what it prints."""
        return OpenCode()
