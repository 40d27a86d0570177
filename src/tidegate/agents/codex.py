"""The agent `codex`."""

from __future__ import annotations

import json
from typing import ClassVar, Literal

from tidegate.agents.coding import AgentLaunch, CodingAgent, invalid_call
from tidegate.agents.providers.clouds import AzureProvider
from tidegate.agents.streams.codex import Codex, invalid_calls
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.model.agent import Session
from tidegate.model.event import Event
from tidegate.model.provider import OPENAI, ModelApi

_UNUSED = ("plugins", "remote_plugin", "apps")  # features that look up hosts when Codex starts
# Values are JSON strings, which are valid TOML. A login shell would reset PATH and so bypass the recorder.
_CONFIG = """\
model_provider = "tidegate"
approval_policy = "never"
check_for_update_on_startup = false
allow_login_shell = false
[model_providers.tidegate]
name = {name}
base_url = {base_url}
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 3
stream_max_retries = 3
[analytics]
enabled = false
[shell_environment_policy]
ignore_default_excludes = false
"""
_SERVER = """\
[mcp_servers.{name}]
{key} = {value}
required = true
"""


class CodexAgent(CodingAgent):
    """Codex, the program `codex`. Needs `OPENAI_API_KEY`, or a `provider`.

    It does not report costs. `max_turns` is enforced by the model proxy.
    """

    type: Literal["codex"]

    limits_turns: ClassVar[bool] = False
    helpers: ClassVar[str] = r".*-(mini|nano)"
    program: ClassVar[str] = "codex"
    package: ClassVar[str] = "@openai/codex"
    image_package: ClassVar[str] = "@openai/codex-linux-x64"
    oldest: ClassVar[tuple[int, int, int]] = (0, 169, 0)
    tested: ClassVar[str] = "0.169.0"
    own_apis: ClassVar[tuple[ModelApi, ...]] = (OPENAI,)

    def launch(self, session: Session) -> AgentLaunch:
        """Its own sandbox is off: Tidegate isolates trials, and nested sandboxes fail."""
        base_url = {**session.credentials, **self.env}.get(OPENAI.endpoint, OPENAI.address)
        name = "azure" if isinstance(self.provider, AzureProvider) else "tidegate"
        text = _CONFIG.format(name=json.dumps(name), base_url=json.dumps(base_url))
        if session.server is not None:
            server = session.server
            key, value = ("url", server.url) if server.url else ("command", str(server.program))
            text += _SERVER.format(name=server.name, key=key, value=json.dumps(value))
        config = session.home_file(".codex/config.toml", text)
        return AgentLaunch(
            argv=(
                *(self.program, "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"),
                *(word for name in _UNUSED for word in ("--disable", name)),
                *(("-m", self.model) if self.model else ()),
                *(*self.args, "--", session.prompt),
            ),
            env={"CODEX_HOME": str(config.parent), **self.own_environment(session)},
        )

    def stream(self, session: Session) -> JsonLines:
        """Its output has everything but invalid calls."""
        return Codex()

    def after(self, stderr: str) -> tuple[Event, ...]:
        """Return the calls of tools that do not exist."""
        return tuple(
            event for number, tool in enumerate(invalid_calls(stderr), 1) for event in invalid_call(number, tool)
        )
