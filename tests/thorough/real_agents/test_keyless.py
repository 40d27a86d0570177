"""Real agents reach models in clouds without a key: each speaks the provider's own protocol to the model proxy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clouds import JOB_TOKEN, POOL, ROLE, clouds
from tests.conftest import Repository
from tests.model_server import Step
from tests.thorough.real_agents.agents import example
from tests.thorough.real_agents.conftest import Started
from tidegate.agents.claude_code import ClaudeCodeAgent
from tidegate.agents.codex import CodexAgent
from tidegate.agents.coding import CodingAgent
from tidegate.agents.gemini import GeminiAgent
from tidegate.agents.opencode import OpenCodeAgent
from tidegate.model.event import End, ToolResult
from tidegate.model.trial import Trial

AWS = f'{{type: bedrock, region: us-east-1, role: "{ROLE}"}}'
GOOGLE = f"{{type: vertex, project: octo-ai, region: us-east5, workload_identity_provider: {POOL}}}"
AZURE = "{type: azure, resource: octo, tenant: octo-tenant, client: octo-client}"
STEPS = [Step("I look.", ("taskmgr list; env; cat /proc/[0-9]*/environ 2>/dev/null | tr -d '\\0'",)), Step("Done.")]


@pytest.mark.parametrize(
    ("agent", "written"),
    [
        (ClaudeCodeAgent, f"{{type: claude-code, model: us.anthropic.claude-haiku-4-5-v1, provider: {AWS}}}"),
        (CodexAgent, f"{{type: codex, model: gpt-5.5, provider: {AZURE}}}"),
        (GeminiAgent, f"{{type: gemini, model: gemini-3.8-flash, provider: {GOOGLE}}}"),
        (OpenCodeAgent, f"{{type: opencode, model: anthropic/claude-haiku-4-5, provider: {AZURE}}}"),
        (OpenCodeAgent, f"{{type: opencode, model: openai/gpt-5.5, provider: {AZURE}}}"),
    ],
    ids=["claude-bedrock", "codex-azure", "gemini-vertex", "opencode-azure", "opencode-openai-azure"],
)
def test_a_real_agent_finishes_and_sees_nothing_of_a_credential(
    agent: type[CodingAgent], written: str, open_folder: Path, started: Callable[[type[CodingAgent]], Started]
) -> None:
    command, path = started(agent)
    repository, out = Repository(open_folder / "repository"), open_folder / "run"
    example(repository.root, written)
    repository.commit({})
    with clouds(open_folder, STEPS) as (_, environ):
        done = subprocess.run(
            [*command, "run", "--trials", "1", "--out", str(out)],
            cwd=repository.root,
            env={**os.environ, **environ, "AWS_EC2_METADATA_DISABLED": "true", "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    records = list(out.rglob("trial.json"))
    assert records, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    trial = Trial.model_validate_json(records[0].read_text())
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    assert [call.status for call in trial.invocations] == ["ok"]
    (end,) = (event for event in trial.events if isinstance(event, End))
    assert end.tokens_in
    assert any("PATH=" in event.output for event in trial.events if isinstance(event, ToolResult))
    told = [done.stdout, done.stderr, *(file.read_text(errors="replace") for file in out.rglob("*") if file.is_file())]
    assert not [text for text in told if JOB_TOKEN in text or "cloud-token" in text or "ASIA" in text]
