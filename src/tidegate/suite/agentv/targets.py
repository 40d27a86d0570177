"""Turns a target of AgentV's targets.yaml into the agent that runs its cases."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.agents.agentv_cli import AgentVBatch, AgentVCli, CommandCheck, unknown_placeholder
from tidegate.agents.anthropic import AnthropicAgent
from tidegate.agents.codex import CodexAgent
from tidegate.agents.command import CommandAgent
from tidegate.agents.gemini import GeminiAgent
from tidegate.agents.providers.keyed import CompatibleProvider, GeminiProvider
from tidegate.checks.judges.provider import AnthropicJudge, GoogleJudge, OpenAIJudge
from tidegate.model.agent import ALONE, Agent
from tidegate.model.judge import Judge
from tidegate.model.provider import ANTHROPIC, GOOGLE
from tidegate.suite.agentv.eval_file import (
    AnthropicFile,
    AzureFile,
    CliFile,
    CodexFile,
    GeminiFile,
    MockFile,
    TargetEntry,
    TargetsFile,
)
from tidegate.suite.assemble import variable
from tidegate.suite.document import Document, KeyPath, Problem
from tidegate.suite.files import explain
from tidegate.suite.folders import find_named
from tidegate.suite.plan import did_you_mean

PLACES = (".agentv/targets.yaml", "targets.yaml")
_COMMON = ("name", "provider", "judge_target", "workers", "provider_batching")
_ALIASES = {"codex-cli": "codex", "azure-openai": "azure", "google": "gemini", "google-gemini": "gemini"}
_KNOWN = ("cli", "codex", "anthropic", "azure", "gemini", "mock")
_OF_THE_TRIAL = ("cwd", "log_dir", "log_format")  # keys of `codex` without effect: a trial has its own folders
_VARIABLE = re.compile(r"\$\{\{\s*([^}\s]*)\s*\}\}")

M = TypeVar("M", bound=BaseModel)


@dataclass
class Targets:
    """The targets of one file. `problems` collects what is wrong with the targets that are used."""

    document: Document
    file: TargetsFile
    pass_env: tuple[str, ...]
    environ: Mapping[str, str]
    root: Path
    problems: list[Problem]

    @property
    def names(self) -> list[str]:
        """The names of all targets in the file."""
        return [target.name for target in self.file.targets]

    def entry(self, name: str) -> TargetEntry:
        """Return a target as written. `name` must be one of `names`."""
        return self.file.targets[self.names.index(name)]

    def agent(self, name: str, folder: str) -> Agent | None:
        """Return the agent of a target, or None if the target has problems.

        The agent's command runs in `folder`, unless the target has a `cwd`.
        """
        index = self.names.index(name)
        path: KeyPath = ("targets", index)
        entry = self.file.targets[index]
        provider = _ALIASES.get(entry.provider, entry.provider)
        if entry.provider_batching and provider != "cli":
            self._complain((*path, "provider_batching"), "is only for the provider `cli`")
            return None
        match provider:
            case "cli":
                agent = self._cli(path, folder, AgentVBatch if entry.provider_batching else AgentVCli)
                return agent and agent.model_copy(update={"weight": ALONE if entry.workers == 1 else 1.0})
            case "codex":
                return self._codex(path)
            case "anthropic":
                return self._anthropic(path)
            case "azure":
                return self._azure(path)
            case "gemini":
                return self._gemini(path)
            case "mock":
                return self._mock(path)
            case _:
                hint = did_you_mean(provider, _KNOWN) or f" (one of {', '.join(_KNOWN)}, or an agent of tidegate.yaml)"
                self._complain((*path, "provider"), f"unknown provider `{provider}`{hint}")
                return None

    def _cli(self, path: KeyPath, folder: str, kind: type[AgentVCli]) -> Agent | None:
        cli = self._read(CliFile, path)
        if cli is None:
            return None
        if unknown := unknown_placeholder(cli.command_template):
            hint = did_you_mean(unknown, ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE"))
            self._complain((*path, "command_template"), f"unknown placeholder {{{unknown}}}{hint}")
            return None
        where = folder if cli.cwd is None else self._folder(cli.cwd, folder, (*path, "cwd"))
        health = cli.healthcheck
        if isinstance(health, CommandCheck) and health.cwd is not None:
            cwd = self._folder(health.cwd, folder, (*path, "healthcheck", "cwd"))
            health = health.model_copy(update={"cwd": cwd})
        return kind(
            command_template=cli.command_template,
            files_format=cli.files_format,
            folder=where,
            health=health,
            timeout_secs=cli.timeout_seconds,
        )

    def _mock(self, path: KeyPath) -> Agent | None:
        mock = self._read(MockFile, path)
        if mock is None:
            return None
        said = shlex.quote(mock.response).replace("{", "{{").replace("}", "}}")
        return CommandAgent(type="command", command=f"printf %s {said}", output="agentv", deterministic=True)

    def _codex(self, path: KeyPath) -> Agent | None:
        codex = self._read(CodexFile, path, *_OF_THE_TRIAL)
        if codex is None:
            return None
        return CodexAgent(type="codex", model=codex.model, args=codex.args, timeout_secs=codex.timeout_seconds)

    def _anthropic(self, path: KeyPath) -> Agent | None:
        """Return the Anthropic agent. It reads its key from the environment itself: no suite contains the key."""
        key, file = self._key(path), self._read(AnthropicFile, path, "api_key")
        if key not in (None, ANTHROPIC.key):
            self._complain((*path, "api_key"), f"must be ${{{{ {ANTHROPIC.key} }}}}: the key is read from there only")
            return None
        if file is None:
            return None
        return AnthropicAgent(
            type="anthropic",
            model=file.model,
            max_tokens=file.max_output_tokens or 8192,
            thinking_budget=file.thinking_budget,
        )

    def _azure(self, path: KeyPath) -> Agent | None:
        """Return Codex with the deployment, by the Responses API of the resource."""
        file, key = self._read(AzureFile, path, "api_key", "version"), self._key(path)
        if file is None:
            return None
        named = file.endpoint.rstrip("/")
        address = named if named.startswith("http") else f"https://{named}.openai.azure.com"
        provider = CompatibleProvider(
            type="compatible", base_url=f"{address}/openai/v1", key=key or "AZURE_OPENAI_API_KEY"
        )
        return CodexAgent(type="codex", model=file.model, provider=provider)

    def _gemini(self, path: KeyPath) -> Agent | None:
        file, key = self._read(GeminiFile, path, "api_key"), self._key(path)
        if file is None:
            return None
        return GeminiAgent(
            type="gemini", model=file.model, provider=GeminiProvider(type="gemini", key=key or GOOGLE.key)
        )

    def is_model(self, name: str) -> bool:
        """Return True if the target is a model, which can be a judge."""
        provider = self.entry(name).provider
        return _ALIASES.get(provider, provider) in ("anthropic", "azure", "gemini")

    def judge(self, name: str) -> Judge | None:
        """Return the judge that asks the target's model; None if the target has problems."""
        match agent := self.agent(name, ""):
            case AnthropicAgent():
                return AnthropicJudge(type="anthropic", model=agent.model or "")
            case CodexAgent(provider=CompatibleProvider() as place):
                return OpenAIJudge(type="openai", api="chat", model=agent.model or "", provider=place)
            case GeminiAgent(provider=GeminiProvider() as place):
                return GoogleJudge(type="google", model=agent.model or "", provider=place)
            case _:
                return None

    def _key(self, path: KeyPath) -> str | None:
        """Return the variable that `api_key` names. Its value is read when the model is asked."""
        key = self.document.node((*path, "api_key"))
        if key is None:
            return None
        named = _VARIABLE.fullmatch(str(key.value))
        if named is None:
            self._complain((*path, "api_key"), "must name a variable, such as `${{ API_KEY }}`: a suite holds no key")
        return named and named[1]

    def _folder(self, cwd: str, folder: str, path: KeyPath) -> str:
        """Return the folder relative to the root. An absolute one may be in any checkout; each side uses its own."""
        if Path(cwd).is_absolute():
            above = (place for place in Path(cwd).parents if place == self.root or (place / ".git").exists())
            folder, cwd = "", str(Path(cwd).relative_to(next(above, "/")))
        try:
            return find_named(self.root, (folder, ""), cwd, folder=True)
        except ValueError as error:
            self._complain(path, str(error))
            return folder

    def _read(self, model: type[M], path: KeyPath, *without: str) -> M | None:
        """Return the keys of the target's provider as a model, with variables replaced; None if they have problems."""
        node = self.document.node(path)
        data = node.data() if node else None
        before = len(self.problems)
        own = {
            key: self._expanded(value, (*path, key))
            for key, value in (data.items() if isinstance(data, dict) else ())
            if key not in (*_COMMON, *without)
        }
        if len(self.problems) > before or node is None:
            return None
        try:
            return model.model_validate_json(json.dumps(own), strict=True)
        except ValidationError as error:
            found = explain(error, Document(self.document.file, node), "targets")
            prefix = f"targets[{path[1]}]"
            self.problems += [p._replace(key=f"{prefix}.{p.key}" if p.key else prefix) for p in found]
            return None

    def _expanded(self, value: JsonValue, path: KeyPath) -> JsonValue:
        if isinstance(value, dict):
            return {key: self._expanded(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self._expanded(item, (*path, index)) for index, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        try:
            return _VARIABLE.sub(lambda found: variable(found[1], self.pass_env, self.environ), value)
        except ValueError as error:
            name = self.file.targets[int(path[1])].name
            self._complain(path, f"{error} (target `{name}`)")
            return value

    def _complain(self, path: KeyPath, what: str) -> None:
        self.problems.append(self.document.problem(path, what))
