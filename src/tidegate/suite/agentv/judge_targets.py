"""Takes the suite's judge from `judge_target` in AgentV's targets.yaml, if tidegate.yaml defines no judge."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.model.judge import Judge
from tidegate.suite.agentv.targets import Targets


@dataclass
class JudgeTargets:
    """Collects the judges of the targets that cases use. `wanted` is False if the suite has another judge.

    A suite has one judge: the first supported one. `unread` has one sentence for each judge that is ignored.
    """

    wanted: bool
    judge: Judge | None = None
    unread: list[str] = field(default_factory=list)

    def add(self, targets: Targets, name: str) -> None:
        """Add the judge of the target `name`. Problems of the judge's own target are added to `targets.problems`."""
        named = targets.entry(name).judge_target
        if named is None:
            return
        why = self._read(targets, named)
        if why is not None:
            self.unread.append(f"judge_target: `{named}` of the target `{name}` is not read: {why}")

    def _read(self, targets: Targets, named: str) -> str | None:
        """Use the named judge, or return why it is ignored."""
        if not self.wanted:
            return "another judge is set up, by `judge` of tidegate.yaml or by LLM_TOOL_TEST_JUDGE"
        if named not in targets.names:
            return f"{targets.document.file} has no such target; name a judge in tidegate.yaml"
        if not targets.is_model(named):
            return f"its provider, {targets.entry(named).provider}, is not a model; name a judge in tidegate.yaml"
        judge = targets.judge(named)
        self.judge = self.judge or judge
        other = judge is not None and self.judge is not None and judge != self.judge
        return f"one judge is asked for the whole suite, {self.judge.model}" if other and self.judge else None
