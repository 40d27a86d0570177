"""A target of AgentV's targets.yaml → the agent that does its cases."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.agents.agentv_cli import AgentVCli, unknown_placeholder
from tidegate.agents.command import CommandAgent
from tidegate.model.agent import Agent
from tidegate.plan import did_you_mean
from tidegate.suite.document import Document, KeyPath
from tidegate.suite.environment import variable
from tidegate.suite.eval_file import CliFile, MockFile, TargetsFile
from tidegate.suite.explain import explain
from tidegate.suite.problem import Problem

PLACES = (".agentv/targets.yaml", "targets.yaml")
_COMMON = ("name", "provider", "judge_target", "workers", "provider_batching")
_ALIASES = {"codex-cli": "codex", "azure-openai": "azure", "google": "gemini", "google-gemini": "gemini"}
_INSTEAD = dict.fromkeys(("azure", "gemini", "vscode", "vscode-insiders"), "a target with `provider: cli`")
_NOT_YET = ("codex", "anthropic")  # the agents are there, AgentV's own settings of them are not read
_KNOWN = ("cli", "mock", *_NOT_YET, *_INSTEAD)
_VARIABLE = re.compile(r"\$\{\{\s*([^}\s]*)\s*\}\}")

M = TypeVar("M", bound=BaseModel)


@dataclass
class Targets:
    """The targets of one file; `problems` collects what is wrong with those that are asked for."""

    document: Document
    file: TargetsFile
    pass_env: tuple[str, ...]
    environ: Mapping[str, str]
    root: Path
    problems: list[Problem]

    @property
    def names(self) -> list[str]:
        """All that it has."""
        return [target.name for target in self.file.targets]

    def agent(self, name: str, folder: str) -> Agent | None:
        """The agent of a target; `folder` is where its command runs unless it says otherwise. None: it is wrong."""
        index = self.names.index(name)
        path: KeyPath = ("targets", index)
        entry = self.file.targets[index]
        provider = _ALIASES.get(entry.provider, entry.provider)
        match provider:
            case "cli":
                return self._cli(path, folder)
            case "mock":
                return self._mock(path)
            case _:
                self._complain((*path, "provider"), _refusal(provider))
                return None

    def _cli(self, path: KeyPath, folder: str) -> Agent | None:
        cli = self._read(CliFile, path)
        if cli is None:
            return None
        if unknown := unknown_placeholder(cli.command_template):
            hint = did_you_mean(unknown, ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE"))
            self._complain((*path, "command_template"), f"unknown placeholder {{{unknown}}}{hint}")
            return None
        where = folder if cli.cwd is None else self._folder(cli.cwd, folder, path)
        return AgentVCli(
            command_template=cli.command_template,
            files_format=cli.files_format,
            folder=where,
            timeout_secs=cli.timeout_seconds,
        )

    def _mock(self, path: KeyPath) -> Agent | None:
        mock = self._read(MockFile, path)
        if mock is None:
            return None
        said = shlex.quote(mock.response).replace("{", "{{").replace("}", "}}")
        return CommandAgent(type="command", command=f"printf %s {said}", output="agentv", deterministic=True)

    def _folder(self, cwd: str, folder: str, path: KeyPath) -> str:
        for place in (Path(folder, cwd), Path(cwd)):
            inside = (self.root / place).resolve()
            if inside.is_dir() and inside.is_relative_to(self.root.resolve()):
                return inside.relative_to(self.root.resolve()).as_posix()
        self._complain((*path, "cwd"), "no such folder in the repository")
        return folder

    def _read(self, model: type[M], path: KeyPath) -> M | None:
        """The target's own keys, with its variables replaced."""
        node = self.document.node(path)
        data = node.data() if node else None
        before = len(self.problems)
        own = {
            key: self._expanded(value, (*path, key))
            for key, value in (data.items() if isinstance(data, dict) else ())
            if key not in _COMMON
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


def _refusal(provider: str) -> str:
    if provider in _INSTEAD:
        return f"{provider} cannot be tested here; use {_INSTEAD[provider]}, or an agent of tidegate.yaml"
    if provider in _NOT_YET:
        return f"{provider} is not supported yet; use cli or mock"
    return f"unknown provider `{provider}`" + (did_you_mean(provider, _KNOWN) or f" (one of {', '.join(_KNOWN)})")
