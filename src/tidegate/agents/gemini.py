"""The agent `gemini`."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from tidegate.agents.coding import AgentLaunch, CodingAgent
from tidegate.agents.providers.clouds import VertexProvider
from tidegate.agents.streams.gemini import Gemini, told_in
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.model.agent import Session
from tidegate.model.provider import GOOGLE, VERTEX_GEMINI, ModelApi


class GeminiAgent(CodingAgent):
    """Gemini CLI, the program `gemini`. Needs `GEMINI_API_KEY`, or a `provider`.

    It does not report costs. It reads the guidance file `GEMINI.md`, not `AGENTS.md`, unless settings in the workspace
    (`.gemini/settings.json`) say otherwise. Without `model`, it first asks a small model which one to use.
    """

    type: Literal["gemini"]

    helpers: ClassVar[str] = r"gemini-.*flash.*"
    program: ClassVar[str] = "gemini"
    package: ClassVar[str] = "@google/gemini-cli"
    image_package: ClassVar[str] = "@google/gemini-cli"
    oldest: ClassVar[tuple[int, int, int]] = (0, 61, 0)
    tested: ClassVar[str] = "0.61.0"
    own_apis: ClassVar[tuple[ModelApi, ...]] = (GOOGLE, VERTEX_GEMINI)

    def launch(self, session: Session) -> AgentLaunch:
        """Trust the folder, since Gemini CLI offers no shell tool in an untrusted one.

        Tidegate isolates trials, and nested sandboxes fail: the variable overrides a project's `tools.sandbox`.
        """
        at_vertex = isinstance(self.provider, VertexProvider)
        settings: dict[str, Any] = {
            "security": {
                "auth": {"selectedType": "vertex-ai" if at_vertex else "gemini-api-key"},
                "environmentVariableRedaction": {"enabled": True},
            },
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            **({"model": {"maxSessionTurns": session.max_turns}} if session.max_turns else {}),
        }
        if session.server is not None:
            server = session.server
            key = "url" if server.is_sse else "httpUrl" if server.url else "command"
            settings["mcpServers"] = {server.name: {key: server.url or str(server.program), "trust": True}}
        session.home_file(".gemini/settings.json", json.dumps(settings))
        model = ("-m", self.model) if self.model else ()
        return AgentLaunch(
            argv=(
                *(self.program, *model, "--output-format", "stream-json", "--approval-mode", "yolo"),
                *(*self.args, f"--prompt={session.prompt}"),
            ),
            env={
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                **({"GOOGLE_GENAI_USE_VERTEXAI": "true"} if at_vertex else {}),
                "GEMINI_SANDBOX": "false",
                **self.own_environment(session),
            },
        )

    def stream(self, session: Session) -> JsonLines:
        """Exit codes are only in its session file."""
        chats = sorted((session.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"))
        return Gemini(told_in("\n".join(map(session.side_file, chats))))
