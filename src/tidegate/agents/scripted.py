"""The agent `scripted`: runs given commands with given probabilities."""

from __future__ import annotations

import json
from hashlib import sha256
from random import Random
from typing import Literal

from pydantic import Field

from tidegate.model.agent import Agent, Session
from tidegate.model.event import End, Message, Warning
from tidegate.model.value import Value


class ScriptedStep(Value):
    """One command, which runs with the given probability."""

    run: str
    probability: float = Field(default=1.0, ge=0, le=1)


class Scripted(Agent):
    """Runs given commands with seeded probabilities: for tests, for demos and for trying a policy.

    `steps` are the commands of each scenario: a string, or `{run: COMMAND, probability: P}`. The random choices depend
    only on `seed`, scenario, side and the trial's index, so a run can be repeated.
    """

    type: Literal["scripted"]
    seed: int = 0
    steps: dict[str, tuple[str | ScriptedStep, ...]]

    @property
    def is_deterministic(self) -> bool:
        """True if no step has a probability below 1, unless `deterministic` is set."""
        if self.deterministic is not None:
            return self.deterministic
        steps = (step for steps in self.steps.values() for step in steps)
        return all(isinstance(step, str) or step.probability == 1 for step in steps)

    async def run(self, session: Session) -> End:
        """Run the steps of the session's scenario in order, regardless of their outcome. Always completes."""
        if session.scenario not in self.steps:
            session.emit(Warning(text=f"this agent has no steps for the scenario {session.scenario}"))
        draw = _draws(self.seed, session)
        steps = self._steps(session.scenario)
        ran = 0
        for step in steps:
            # One sample per step, so that a step's sample does not depend on the other steps' probabilities.
            if draw.random() < step.probability:
                ran += 1
                await session.shell(step.run)
            else:
                session.emit(
                    Message(role="system", text=f"skipped by its probability {step.probability:g}: {step.run}")
                )
        return End(end="completed", message=f"ran {ran} of {len(steps)} steps")

    def _steps(self, scenario: str) -> tuple[ScriptedStep, ...]:
        return tuple(ScriptedStep(run=step) if isinstance(step, str) else step for step in self.steps.get(scenario, ()))


def _draws(seed: int, session: Session) -> Random:
    """Return the trial's random generator, the same on every machine (SHA-256, Mersenne Twister)."""
    side, *_, index = session.trial_id.split("/")
    key = json.dumps([seed, session.scenario, side, index])
    return Random(int.from_bytes(sha256(key.encode()).digest()))
