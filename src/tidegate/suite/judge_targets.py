"""`judge_target` of AgentV's targets → the suite's judge, where tidegate.yaml names none."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.agents.anthropic import AnthropicAgent
from tidegate.judges.anthropic import AnthropicJudge
from tidegate.suite.targets import Targets

JUDGE_VARIABLE = "LLM_TOOL_TEST_JUDGE"  # llm-tool-test's own: the judge's model


@dataclass
class JudgeTargets:
    """Collects what the targets of cases name as their judge. `wanted`: no other judge is set up.

    A suite has one judge: the first that there is one for here. `unread` has a sentence for each of the others.
    """

    wanted: bool
    judge: AnthropicJudge | None = None
    unread: list[str] = field(default_factory=list)

    def add(self, targets: Targets, name: str, folder: str) -> None:
        """The judge of the target `name`; what is wrong with the one that it names goes to the targets' problems."""
        named = targets.entry(name).judge_target
        if named is None:
            return
        why = self._read(targets, named, folder)
        if why is not None:
            self.unread.append(f"judge_target: `{named}` of the target `{name}` is not read: {why}")

    def _read(self, targets: Targets, named: str, folder: str) -> str | None:
        """Take it, or say why not."""
        if not self.wanted:
            return "another judge is set up, by `judge` of tidegate.yaml or by LLM_TOOL_TEST_JUDGE"
        if named not in targets.names:
            return f"{targets.document.file} has no such target; name a judge in tidegate.yaml"
        provider = targets.entry(named).provider
        if provider != "anthropic":
            return f"no judge here has the provider {provider}; name a judge in tidegate.yaml"
        agent = targets.agent(named, folder)
        if not isinstance(agent, AnthropicAgent):
            return None  # it is wrong, which is among the problems
        judge = AnthropicJudge(type="anthropic", model=agent.model or "")
        self.judge = self.judge or judge
        return None if judge == self.judge else f"one judge is asked for the whole suite, {self.judge.model}"
