"""The agent `anthropic`: an Anthropic model with a shell, driven by Tidegate, so that every call is known exactly."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from tidegate.agents.providers.clouds import AzureProvider
from tidegate.agents.providers.keyed import AnthropicProvider, CompatibleProvider
from tidegate.agents.streams.json_lines import end_of_api
from tidegate.agents.tool_list import schema_fault
from tidegate.errors import MissingKeyError
from tidegate.model.agent import Agent, Machine, Session, Tool
from tidegate.model.event import ApiRetry, CommandResult, End, Message, ToolCall, ToolResult, TrialEnd, Warning
from tidegate.model.provider import ANTHROPIC, ModelApi
from tidegate.text.shorten import both_ends, last_part

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message as Answer
    from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam, ToolUseBlock


MAX_NAME = 64  # characters; newer models accept twice as many
NAMES_SHOWN = 200  # characters of the names of omitted tools in a warning
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
MAX_TURNS = 50
CALL_SECS = 120.0  # seconds for one command or tool call, as in other agents
MAX_OUTPUT = 30_000  # characters of a result that the model gets to read
SYSTEM = (
    "You work in a shell, in the current folder, without a person to ask. Every command runs in a shell of its own, "
    "which starts in this folder. Do the task, and then say in one sentence what you have done."
)
_ENDS: dict[str, TrialEnd] = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refused",
}


class AnthropicAgent(Agent):
    """An Anthropic model with a shell, driven by Tidegate itself. Needs `ANTHROPIC_API_KEY`, or a `provider`.

    Each command is a separate process with its own exit code. The API key never leaves Tidegate. `max_tokens` limits
    the model's output per turn; `thinking_budget` is the part of it for extended thinking (default: none). A trial ends
    after `max_turns` turns (default: 50), or when its cost by the suite's `prices` reaches `max_usd`.

    If the tool under test is an MCP server, its tools are offered in addition to the shell, as `mcp__SERVER__TOOL`.
    Tools that the API rejects are left out with a warning in the trial.
    """

    calls_servers: ClassVar[bool] = True
    asks_model_itself: ClassVar[bool] = True

    type: Literal["anthropic"]
    model: str
    max_tokens: int = Field(default=8192, gt=0, le=20_000)
    thinking_budget: int | None = Field(default=None, ge=1024, lt=20_000)
    max_usd: float | None = Field(default=None, gt=0)
    provider: Annotated[AnthropicProvider | AzureProvider | CompatibleProvider, Field(discriminator="type")] | None = (
        None
    )

    @property
    def api(self) -> ModelApi | None:
        """The Messages API, by the model proxy; None without `provider`: it then asks the model directly."""
        return ANTHROPIC if self.provider else None

    @property
    def priced_model(self) -> str | None:
        """Its model, if `max_usd` is set."""
        return self.model if self.max_usd else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The API key and the address of the model."""
        own = self.provider.variables if self.provider else ()
        return tuple(dict.fromkeys((*own, ANTHROPIC.key, ANTHROPIC.endpoint)))

    async def check(self, machine: Machine) -> str | None:
        """Check that an API key is set, and return the version of Anthropic's SDK."""
        if not self.provider and not machine.credentials.get(ANTHROPIC.key):
            raise MissingKeyError(
                f"The agent anthropic needs a key in {ANTHROPIC.key}.",
                "Set it in the environment; in a workflow, from a secret.",
            )
        from importlib.metadata import version  # 20 ms

        return version("anthropic")  # without the import, which takes over a second

    async def run(self, session: Session) -> End:
        """Send the prompt, run the calls that the model makes and return their results, until it is done."""
        from anthropic import AsyncAnthropic  # 1.2 s

        server = await session.server_tools()
        offer = offered(session.server.name if session.server else "", server.tools)
        if offer.left_out:
            names = both_ends(", ".join(offer.left_out), NAMES_SHOWN)
            session.emit(Warning(text=f"the model is not offered {names}: the API does not take such an `inputSchema`"))
        system = "\n\n".join(filter(None, (SYSTEM, both_ends(server.instructions, MAX_OUTPUT))))
        address = {**session.credentials, **self.env}.get(ANTHROPIC.endpoint)
        async with AsyncAnthropic(api_key=session.credentials[ANTHROPIC.key], base_url=address) as client:
            return await _Conversation(self, session, client, offer, system).run()


@dataclass
class _Conversation:
    """The state of the conversation with the model."""

    agent: AnthropicAgent
    session: Session
    client: AsyncAnthropic
    offer: Offer
    system: str
    messages: list[MessageParam] = field(default_factory=list)
    used: list[Answer] = field(default_factory=list)

    async def run(self) -> End:
        from anthropic import APIError  # 1.1 s

        self.messages.append({"role": "user", "content": self.session.prompt})
        try:
            for _ in range(self.session.max_turns or MAX_TURNS):
                if (end := await self._turn()) is not None:
                    return self._end(end, f"it has cost ${self.agent.max_usd:g} (max_usd)" if end == "budget" else "")
        except APIError as error:
            status = getattr(error, "status_code", None)
            return self._end(end_of_api(status), f"{type(error).__name__}: {last_part(str(error))}")
        return self._end("max_turns", f"{len(self.used)} turns")

    async def _turn(self) -> TrialEnd | None:
        """Get one answer of the model and run its calls. Return how the conversation ended; None if it goes on."""
        answer = await self._ask()
        self.used.append(answer)
        self.session.told = self._end("crashed")  # keeps the cost known if the trial is stopped from outside
        self.messages.append({"role": "assistant", "content": answer.content})
        for block in answer.content:
            if block.type == "text" and block.text:
                self.session.emit(Message(text=last_part(block.text)))
        calls = [block for block in answer.content if block.type == "tool_use"]
        if answer.stop_reason not in ("tool_use", "pause_turn"):
            return _ENDS.get(answer.stop_reason or "", "crashed")
        if (self.session.cost(self.session.told) or 0) >= (self.agent.max_usd or inf):
            return "budget"
        if calls:
            self.messages.append({"role": "user", "content": [await self._answered(call) for call in calls]})
        return None

    async def _ask(self) -> Answer:
        """Request one answer. The SDK retries temporary failures: 408, 409, 429, 5xx and broken connections."""
        from anthropic import omit  # 1 s

        budget = self.agent.thinking_budget
        response = await self.session.in_time(
            self.client.messages.with_raw_response.create(
                model=self.agent.model,
                max_tokens=self.agent.max_tokens,
                system=self.system,
                messages=self.messages,
                tools=[{"type": "bash_20250124", "name": "bash"}, *self.offer.definitions],
                cache_control={"type": "ephemeral"},
                thinking={"type": "enabled", "budget_tokens": budget} if budget else omit,
            )
        )
        for attempt in range(response.retries_taken):
            self.session.emit(ApiRetry(text=f"attempt {attempt + 1} failed"))
        return await response.parse()

    async def _answered(self, call: ToolUseBlock) -> ToolResultBlockParam:
        given: Any = call.input
        command = given.get("command") if isinstance(given, dict) else None
        if call.name == "bash" and isinstance(command, str) and command.strip():
            result = await self.session.shell(command, timeout_secs=CALL_SECS)
            return _result(call.id, _told(result), failed=not result.ok)
        if call.name == "bash" and isinstance(given, dict) and given.get("restart"):
            return _result(call.id, "Every command has a shell of its own.", failed=False)
        if call.name in self.offer.names and isinstance(given, dict):
            answer = await self.session.ask_server("tool", self.offer.names[call.name], given, timeout_secs=CALL_SECS)
            told = both_ends(answer.text, MAX_OUTPUT) or "(no output)"
            return _result(call.id, told, failed=answer.status != "ok")
        self.session.emit(ToolCall(id=call.id, tool=call.name, input=given if isinstance(given, dict) else {}))
        said = f"There is no such tool, or not with this input. There are: {self._tools()}."
        self.session.emit(ToolResult(id=call.id, status="invalid", output=last_part(said)))
        return _result(call.id, said, failed=True)

    def _tools(self) -> str:
        return both_ends(", ".join(("bash, which takes a `command`", *self.offer.names)), MAX_OUTPUT)

    def _end(self, end: TrialEnd, message: str = "") -> End:
        usages = [answer.usage for answer in self.used]
        read = sum(usage.cache_read_input_tokens or 0 for usage in usages)
        written = sum(usage.cache_creation_input_tokens or 0 for usage in usages)
        if not usages:
            return End(end=end, message=message)
        return End(
            end=end,
            message=message,
            turns=len(usages),
            tokens_in=sum(usage.input_tokens for usage in usages) + read + written,
            tokens_out=sum(usage.output_tokens for usage in usages),
            tokens_cache_read=read,
            tokens_cache_write=written,
        )


def _result(call: str, text: str, *, failed: bool) -> ToolResultBlockParam:
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}


def _told(result: CommandResult) -> str:
    """Return what the model reads about a command: exit code or other end, stdout, stderr."""
    end = "" if result.ok else result.how_it_ended().replace("exit ", "Exit code ", 1)
    return both_ends("\n".join(filter(None, (end, result.printed))) or "(no output)", MAX_OUTPUT)


class Offer(NamedTuple):
    """The tools offered to the model, the server's name of each by its offered name, and those that are left out."""

    definitions: tuple[ToolParam, ...]
    names: Mapping[str, str]
    left_out: tuple[str, ...]


def offered(server: str, tools: Iterable[Tool]) -> Offer:
    """Return the tools as `mcp__SERVER__TOOL`, in the server's order, without those that would break every request.

    Characters that a name must not contain become `_`. A name that is too long or already taken ends with a hash.
    """
    definitions: dict[str, ToolParam] = {}
    names: dict[str, str] = {}
    left_out: list[str] = []
    for tool in tools:
        if schema_fault(tool.schema):
            left_out.append(tool.name)
            continue
        name = _name(server, tool.name, definitions)
        definitions[name], names[name] = {"name": name, "input_schema": tool.schema}, tool.name
        if tool.description:
            definitions[name]["description"] = tool.description
    return Offer(tuple(definitions.values()), names, tuple(left_out))


def _name(server: str, name: str, taken: Mapping[str, Any]) -> str:
    whole = f"mcp__{server}__{_NO_NAME.sub('_', name)}"
    if len(whole) <= MAX_NAME and whole not in taken:
        return whole
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{whole[: MAX_NAME - len(mark) - 1]}_{mark}"
