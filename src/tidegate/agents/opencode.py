"""The agent `opencode`."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import field_validator

from tidegate.agents.coding import AgentLaunch, CodingAgent
from tidegate.agents.providers.clouds import BedrockProvider
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.agents.streams.opencode import OpenCode
from tidegate.model.agent import Session
from tidegate.model.provider import ANTHROPIC, BEDROCK, GOOGLE, OPENAI, ModelApi


class _Client(NamedTuple):
    """A client that comes with opencode. `version` is appended to the provider's address."""

    package: str
    api: ModelApi
    version: str


CLIENTS = {
    "anthropic": _Client("@ai-sdk/anthropic", ANTHROPIC, "/v1"),
    "openai": _Client("@ai-sdk/openai", OPENAI, ""),
    "google": _Client("@ai-sdk/google", GOOGLE, "/v1beta"),
    "amazon-bedrock": _Client("@ai-sdk/amazon-bedrock", BEDROCK, ""),
}
_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


class OpenCodeAgent(CodingAgent):
    """opencode, the program `opencode`. `model` is `PROVIDER/MODEL`; needs the provider's API key.

    Providers are `anthropic` (`ANTHROPIC_API_KEY`), `openai` (`OPENAI_API_KEY`), `google` (`GEMINI_API_KEY`), and
    `amazon-bedrock` with a `provider` of type `bedrock`.
    `max_turns` is enforced by the model proxy.
    """

    type: Literal["opencode"]
    model: str

    limits_turns: ClassVar[bool] = False
    program: ClassVar[str] = "opencode"
    package: ClassVar[str] = "opencode-ai"
    image_package: ClassVar[str] = "opencode-linux-x64"
    oldest: ClassVar[tuple[int, int, int]] = (1, 18, 33)
    tested: ClassVar[str] = "1.18.33"

    @field_validator("model")
    @classmethod
    def _names_a_provider(cls, model: str) -> str:
        provider, _, name = model.partition("/")
        if provider not in CLIENTS or not name:
            raise ValueError(f"must be PROVIDER/MODEL, with one of {', '.join(CLIENTS)}")
        return model

    @classmethod
    def apis(cls, model: str | None) -> tuple[ModelApi, ...]:
        """What it can use depends on the client that the model's name begins with."""
        return (CLIENTS.get((model or "").partition("/")[0], CLIENTS["anthropic"]).api,)

    def launch(self, session: Session) -> AgentLaunch:
        """Configure one provider and one model, allow everything, and fetch nothing at the start."""
        file = session.home_file("opencode.json", json.dumps(self._configuration(session)))
        return AgentLaunch(
            argv=(self.program, "run", "--format", "json", *self.args, "--", session.prompt),
            env={
                "OPENCODE_CONFIG": str(file),
                **{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF},
                "npm_config_offline": "true",
                **self.own_environment(session),
            },
        )

    def _configuration(self, session: Session) -> dict[str, Any]:
        provider, _, name = self.model.partition("/")
        client = CLIENTS[provider]
        address = {**session.credentials, **self.env}.get(client.api.endpoint) or client.api.address
        options = {"apiKey": f"{{env:{client.api.key}}}", "baseURL": address.rstrip("/") + client.version}
        if isinstance(self.provider, BedrockProvider):
            options |= {"region": self.provider.region}
        server = session.server
        servers: dict[str, Any] = {}
        if server is not None:
            local = {"type": "local", "command": [str(server.program)]}
            servers[server.name] = {"type": "remote", "url": server.url} if server.url else local
        return {
            "provider": {provider: {"npm": client.package, "options": options, "models": {name: {}}}},
            "enabled_providers": [provider],
            "model": self.model,
            "small_model": self.model,
            "permission": {"*": "allow"},
            "mcp": servers,
        }

    def stream(self, session: Session) -> JsonLines:
        """Its output has everything."""
        return OpenCode()
