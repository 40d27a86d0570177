"""The agent `scripted`: runs given commands, or calls given tools of an MCP server, with given probabilities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Any, ClassVar, Literal
from uuid import uuid4

from tidegate.model.agent import LIST, Agent, NoAnswerError, ScriptedStep, Session, Tool, taken_from
from tidegate.model.event import End, Message, ToolCall, ToolResult, Warning
from tidegate.text.patterns import PatternTooSlowError, search
from tidegate.text.shorten import both_ends

CALL_SECS = 120.0
LIST_CHARACTERS = 40_000
NOT_SENT = "not sent"  # how the answer of a call begins that an earlier answer leaves without input


class Scripted(Agent):
    """Runs given commands, or calls given tools of an MCP server: a check without a model.

    `steps` are the steps of each scenario; one not listed here uses those in its own file (`task: {steps: […]}`).
    A command is a string, or `{run: COMMAND, probability: P}`; without a `probability` it always runs. If the tool
    under test is an MCP server, `{call: TOOL, input: {…}}` calls one of its tools, `{read: URI}` reads a resource,
    `{prompt: NAME, input: {…}}` gets a prompt, and `{list_tools: true}` records what it offers as a call of
    `tools/list`: one line per tool, with its parameters by name, optional ones in brackets. A call of a tool that the
    server does not list fails, and is not sent. In an `input`, `{answer_of: TOOL, match: PATTERN}` is the pattern's
    first group, such as an id, in the last answer of that tool which has it; with `back: 1`, in the one before. The
    random choices depend on a seed, which is drawn for each run and recorded in it, so that no pull request can know
    them. With a `seed` of its own they depend on that, scenario, side and the trial's index alone.
    """

    type: Literal["scripted"]
    seed: int | None = None
    steps: dict[str, tuple[str | ScriptedStep, ...]] = {}

    calls_servers: ClassVar[bool] = True

    @cached_property
    def is_deterministic(self) -> bool:
        """True if no step has a probability below 1, unless `deterministic` is set."""
        if self.deterministic is not None:
            return self.deterministic
        steps = (step for steps in self.steps.values() for step in steps)
        return all(isinstance(step, str) or step.probability == 1 for step in steps)

    @property
    def named_scenarios(self) -> tuple[str, ...]:
        """The scenarios that it has steps for."""
        return tuple(self.steps)

    def with_steps(self, scenario: str, steps: tuple[str | ScriptedStep, ...]) -> Scripted:
        """Return the agent with these steps for the scenario, unless it has some for it."""
        if not steps or scenario in self.steps:
            return self
        return Scripted.model_validate({**self.model_dump(), "steps": {**self.steps, scenario: steps}})

    def with_seed(self, seed: int) -> Scripted:
        """Return the agent with this seed, unless it has one."""
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    async def run(self, session: Session) -> End:
        """Run the steps of the session's scenario in order, regardless of their outcome. Always completes."""
        if session.scenario not in self.steps:
            session.emit(Warning(text=f"this agent has no steps for the scenario {session.scenario}"))
        draw = _draws(self.seed, session)
        steps = self._steps(session.scenario)
        tools = await _server_tools(session, steps)
        ran, answers = 0, dict[str, list[str]]()
        for step in steps:
            # One sample per step, so that a step's sample does not depend on the other steps' probabilities.
            if draw.random() < step.probability:
                ran += 1
                await _take(session, step, tools, answers)
            else:
                session.emit(Message(role="system", text=f"skipped by its probability {step.probability:g}: {step}"))
        return End(end="completed", message=f"ran {ran} of {len(steps)} steps")

    def _steps(self, scenario: str) -> tuple[ScriptedStep, ...]:
        return tuple(ScriptedStep(run=step) if isinstance(step, str) else step for step in self.steps.get(scenario, ()))


async def _server_tools(session: Session, steps: Iterable[ScriptedStep]) -> tuple[Tool, ...]:
    """Start the MCP server if a step needs it, and return its tools."""
    of_server = [step for step in steps if step.run is None]
    if of_server and session.server is None:
        raise NoAnswerError(f"the step {of_server[0]} needs an MCP server as the tool under test")
    return (await session.server_tools()).tools if of_server else ()


async def _take(session: Session, step: ScriptedStep, tools: Iterable[Tool], answers: dict[str, list[str]]) -> None:
    """Take the step. `answers` of the server's tools, by name, get the new one."""
    if step.run is not None:
        await session.shell(step.run)
    elif step.asks is not None:
        what, name = step.asks
        try:
            given = _filled(step.input, answers)
        except (LookupError, PatternTooSlowError) as error:
            _not_sent(session, name, step.input, str(error))
            return
        answer = await session.ask_server(what, name, given, timeout_secs=CALL_SECS)
        answers.setdefault(name, []).append(answer.text)
    else:
        session.step(LIST)
        session.emit(ToolCall(id=LIST, tool=LIST))
        listed = "\n".join(sorted(map(signature, tools)))
        session.emit(ToolResult(id=LIST, status="ok", output=both_ends(listed, LIST_CHARACTERS)))


def _not_sent(session: Session, name: str, given: dict[str, Any], why: str) -> None:
    """Record a call that failed, since an answer that it depends on lacks something."""
    session.step(name)
    id_ = f"not-sent-{uuid4().hex[:8]}"
    session.emit(ToolCall(id=id_, tool=f"mcp__{session.server.name if session.server else ''}__{name}", input=given))
    session.emit(ToolResult(id=id_, status="error", output=f"{NOT_SENT}: {why}"))


def _filled(value: Any, answers: Mapping[str, Sequence[str]]) -> Any:
    """Return the input with what it takes from answers. Raises LookupError if no answer has it."""
    if (taken := taken_from(value)) is not None:
        found = (search(taken.match, text) for text in reversed(answers.get(taken.answer_of, ())))
        known = (one[1] for one in found if one is not None and one[1] is not None)
        if (given := next(islice(known, taken.back, None), None)) is None:
            raise LookupError(f"no answer of `{taken.answer_of}` has {taken.match}")
        return given
    if isinstance(value, dict):
        return {key: _filled(one, answers) for key, one in value.items()}
    return [_filled(one, answers) for one in value] if isinstance(value, list) else value


def signature(tool: Tool) -> str:
    """Return the tool's name and its parameters in one line, sorted, optional ones in brackets."""
    properties, required = parameters(tool)
    return " ".join([tool.name, *(name if name in required else f"[{name}]" for name in sorted(properties))])


def parameters(tool: Tool) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the schemas of the tool's parameters by name, and the names of those that are required."""
    schema = tool.schema if isinstance(tool.schema, dict) else {}
    properties, required = schema.get("properties"), schema.get("required")
    names = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    found = properties if isinstance(properties, dict) else {}
    return {**{name: {} for name in names}, **found}, names


def _draws(seed: int | None, session: Session) -> Random:
    """Return the trial's random generator, the same on every machine (SHA-256, Mersenne Twister)."""
    side, *_, index = session.trial_id.split("/")
    key = json.dumps([seed, session.scenario, side, index])
    return Random(int.from_bytes(sha256(key.encode()).digest()))
