"""Builds a Scenario from a scenario file and the suite file, and checks what depends on both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tidegate.model.evaluator import Evaluator
from tidegate.model.prices import BUILTIN_PRICES, bare_model, same_model
from tidegate.model.suite import Scenario, ToolMatrixEntry, TrialCounts
from tidegate.model.target import REFERENCE, TRIAL_VARIABLES, McpServer, Target
from tidegate.suite.document import Document, KeyPath, Problem
from tidegate.suite.folders import find_template
from tidegate.suite.plan import agent_with_model, base_name, did_you_mean
from tidegate.suite.scenario_file import ScenarioFile, TargetFile, TaskFile
from tidegate.suite.suite_file import SuiteFile

if TYPE_CHECKING:
    from tidegate.checks.evaluators.rubric_judge import RubricJudge


@dataclass
class Assembly:
    """Builds scenarios from their files and the suite file. `problems` collects everything that is wrong.

    `without_secrets`: the run has no secrets, as for a pull request from a fork. A variable without a value is
    then listed in `target.secrets` instead of being a problem.
    """

    root: Path
    suite_document: Document
    suite: SuiteFile
    environ: Mapping[str, str]
    without_secrets: bool = False
    problems: list[Problem] = field(default_factory=list)

    def scenario(self, document: Document, file: ScenarioFile) -> Scenario | None:
        """Return the scenario that the file defines, or None if it has problems."""
        before = len(self.problems)
        template = self._template(document, file)
        target = self._target(document, file)
        evaluators, judge = self._judged(document, file)
        self._check_scenario(document, file, target)
        if target is None or len(self.problems) > before:
            return None
        task = file.task if isinstance(file.task, TaskFile) else TaskFile(prompt=file.task)
        own_form = {
            "target": target,
            "setup": file.setup.commands,
            "gates": file.gates or file.evaluation.gates or (),
            **dict(file.cost),
        }
        same = {name: getattr(file, name) for name in Scenario.model_fields.keys() & ScenarioFile.model_fields.keys()}
        return Scenario(
            file=document.file,
            template=template,
            prompt=task.prompt,
            steps=task.steps,
            max_turns=task.max_turns or file.run.max_turns,
            timeout_secs=file.run.timeout_secs,
            post=file.scripts.post,
            evaluator_scripts=file.scripts.evaluators,
            evaluators=evaluators,
            judge=judge,
            composite=file.evaluation.composite,
            **{**same, **own_form},
        )

    def check_suite(self, entries: Iterable[ToolMatrixEntry]) -> None:
        """Check the references in the suite file: trial counts, the policy's agents and prices.

        `entries` of the scenarios' tool matrices define further agents, which the policy may name.
        """
        matrix = [f"{entry.tool}:{model}" for entry in entries for model in entry.models]
        self._check_trials(self.suite_document, self.suite.trials, TrialCounts())
        for index, agent in enumerate(self.suite.policy.agents or ()):
            self._check_agent(self.suite_document, ("policy", "agents", index), agent, matrix)
        for name, written in self.suite.agents.items():
            if (model := written.priced_model) and not self._has_price(model):
                path = ("agents", base_name(name), "max_usd")
                self._complain(self.suite_document, path, f"needs `prices` for {model}, to compute its cost")
        self._check_panel()
        agents = self.suite_document.node(("agents",))
        for name in agents.keys if agents else ():
            if ":" in name:
                self._complain(self.suite_document, ("agents", name), "a name must not contain a colon", at_key=True)

    def _check_panel(self) -> None:
        """Report judges of a panel that have one model: its opinion would count twice."""
        judges = self.suite.judge if isinstance(self.suite.judge, tuple) else ()
        for number, judge in enumerate(judges):
            if any(same_model(judge.model, other.model) for other in judges[:number]):
                what = f"{judge.model} is already a judge of this panel: each needs a model of its own"
                self._complain(self.suite_document, ("judge", number, "model"), what)

    def _has_price(self, model: str) -> bool:
        own = () if self.suite.prices == "builtin" else self.suite.prices
        return not {model, bare_model(model)}.isdisjoint((*BUILTIN_PRICES, *own))

    def check_scenario_names(self, names: Sequence[str]) -> None:
        """Check that the scenarios in the agents' `steps` exist."""
        for name, agent in self.suite.agents.items():
            for scenario in agent.named_scenarios:
                if scenario not in names:
                    path = ("agents", base_name(name), "steps", scenario)
                    what = f"the suite has no scenario `{scenario}`{did_you_mean(scenario, names)}"
                    self._complain(self.suite_document, path, what, at_key=True)

    def _check_scenario(self, document: Document, file: ScenarioFile, target: Target | None) -> None:
        """Check the scenario's gates, its agents and its trial counts."""
        if file.gates is not None and file.evaluation.gates is not None:
            self._complain(document, ("gates",), "occur twice: `evaluation.gates` has them, too", at_key=True)
        for index, entry in enumerate(file.tool_matrix):
            self._check_agent(document, ("tool_matrix", index, "tool"), entry.tool)
            self._check_models(document, ("tool_matrix", index, "models"), entry)
        self._check_chosen(document, file, target)
        self._check_trials(document, file.trials, self.suite.trials)

    def _check_models(self, document: Document, path: KeyPath, entry: ToolMatrixEntry) -> None:
        """Check that the entry's agent can run each of its models."""
        for place, model in enumerate(entry.models):
            try:
                agent_with_model(self.suite.agents, entry.tool, model)
            except ValidationError as error:
                why = error.errors()[0]["msg"].removeprefix("Value error, ")
                self._complain(document, (*path, place), f"does not fit the agent `{entry.tool}`: {why}")

    def _check_chosen(self, document: Document, file: ScenarioFile, target: Target | None) -> None:
        """Check that each agent of the scenario can call its MCP server."""
        chosen = {entry.tool for entry in file.tool_matrix}
        advice = "; choose agents by `tool_matrix`"
        for name, agent in self.suite.agents.items():
            if chosen and chosen.isdisjoint((name, base_name(name))):
                continue
            if target is not None and not target.binary and agent.type == "doc-follower":
                what = f"is required: the agent `{name}` (doc-follower) runs the instructions that call a tool"
                self._complain(document, ("target",), what)
            if target is not None and target.mcp is not None and not agent.calls_servers:
                what = f"is an MCP server, and the agent `{name}` ({agent.type}) can call none"
                self._complain(document, ("target",), what + advice, at_key=True)

    def _judged(self, document: Document, file: ScenarioFile) -> tuple[tuple[Evaluator, ...], RubricJudge | None]:
        """Return the scenario's evaluators and its judge, with the files that they name."""
        if not file.evaluation.evaluators and file.evaluation.judge is None:
            return (), None
        from tidegate.suite.named_files import NamedFiles  # 60 ms

        files = NamedFiles(self.root, document)
        evaluators = files.resolved(file.evaluation.evaluators, ("evaluation", "evaluators"))
        judge = files.judge(file.evaluation.judge, ("evaluation", "judge"))
        self.problems += files.problems
        return evaluators, judge

    def _template(self, document: Document, file: ScenarioFile) -> str | None:
        try:
            return find_template(self.root, document.file, file.template_folder)
        except ValueError as error:
            self._complain(document, ("template_folder",), str(error))
            return None

    def shared_target(self) -> Target:
        """Return the target of the suite file for cases of eval files, which define none. It may be empty."""
        binary = self.suite.target.binary if self.suite.target else None
        return self._made(self.suite_document, TargetFile(), binary=binary or "")

    def _target(self, document: Document, file: ScenarioFile) -> Target | None:
        own = file.target if isinstance(file.target, TargetFile) else TargetFile()
        shared = self.suite.target or TargetFile()
        if file.target == "from_config" and self.suite.target is None:
            self._complain(document, ("target",), "`from_config`, but tidegate.yaml has no `target`")
            return None
        if file.target is None and self.suite.target is None:
            return Target(binary="")  # the agent has only tools of its own
        server = own.mcp or (None if own.binary else shared.mcp)
        if own.mcp and own.binary:
            self._complain(
                document, ("target", "mcp"), "cannot be combined with `binary`: a target is one of them", at_key=True
            )
            return None
        binary = server.name if server else own.binary or shared.binary
        if binary is None:
            what = "is required (here, or in tidegate.yaml's `target`)"
            self._complain(document, ("target", "binary"), what, at_key=True)
            return None
        self._check_sent(document, server)
        return self._made(document, own, binary=binary, mcp=server)

    def _made(self, document: Document, own: TargetFile, **found: Any) -> Target:
        shared = self.suite.target or TargetFile()
        return Target(
            command_pattern=own.command_pattern or shared.command_pattern,
            ok_statuses=own.ok_statuses or shared.ok_statuses or (0,),
            health_check=own.health_check or shared.health_check,
            env={**self._env(self.suite_document, shared), **self._env(document, own)},
            secrets=self._secrets(found.get("mcp"), shared, own),
            **found,
        )

    def _check_sent(self, document: Document, server: McpServer | None) -> None:
        """Check that the variables that are sent to a server are set, unless the run has no secrets."""
        for name in sorted(server.references) if server and not self.without_secrets else ():
            if not self.environ.get(name):
                what = f"`mcp` refers to ${{{name}}}, which is not set in the environment"
                self._complain(document, ("target",), what)

    def _env(self, document: Document, target: TargetFile) -> dict[str, str]:
        env = {}
        missing = {*self._secrets(None, target)}  # without which the scenario is not run
        for name, text in target.env.items():
            try:
                for used in sorted({*REFERENCE.findall(text)} - TRIAL_VARIABLES - missing):
                    variable(used, self.suite.pass_env, self.environ)
                env[name] = text
            except ValueError as error:
                self._complain(document, ("target", "env", name), str(error))
        return env

    def _secrets(self, server: McpServer | None, *targets: TargetFile) -> tuple[str, ...]:
        """Return the variables of these that have no value, if the run has no secrets; else an empty tuple.

        GitHub passes secrets as empty strings to workflows of forks, so an empty value counts as missing.
        """
        if not self.without_secrets:
            return ()
        texts = [text for target in targets for text in target.env.values()]
        names = [name for text in texts for name in REFERENCE.findall(text) if name in self.suite.pass_env]
        names += sorted(server.references) if server else []
        return tuple(dict.fromkeys(name for name in names if not self.environ.get(name)))

    def _check_agent(self, document: Document, path: KeyPath, name: str, more: Sequence[str] = ()) -> None:
        known = [*self.suite.agents, *map(base_name, self.suite.agents), *more]
        if name not in known:
            self._complain(document, path, f"the suite has no agent `{name}`{did_you_mean(name, known)}")

    def _check_trials(self, document: Document, own: TrialCounts, shared: TrialCounts) -> None:
        least, most = own.min or shared.min, own.max or shared.max
        if least and most and least > most and (own.min or own.max):
            path = ("trials", "min") if own.min else ("trials", "max")
            self._complain(document, path, f"`min` ({least}) is larger than `max` ({most})")

    def _complain(self, document: Document, path: KeyPath, what: str, *, at_key: bool = False) -> None:
        self.problems.append(document.problem(path, what, at_key=at_key))


def variable(name: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the variable's value. Raises ValueError if it is not in `pass_env` or is not set."""
    if name not in pass_env:
        hint = did_you_mean(name, pass_env)
        raise ValueError(f"${{{name}}} is not in tidegate.yaml's `pass_env`{hint}")
    if name not in environ:
        raise ValueError(f"${{{name}}} is not set in the environment")
    return environ[name]
