"""The gates `mcp_call`, `mcp_resource` and `mcp_prompt`, which ask the MCP server under test."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator

from tidegate.checks.gates.command_gate import CUT, NOT_RUN, what_went_wrong
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.json_path import Assertion, Path, decide_json
from tidegate.checks.gates.text_gates import contains
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import AskServer, CommandAnswer
from tidegate.text.shorten import excerpt


class ServerGate(Gate):
    """A gate that starts the server in the workspace that the agent left, asks it once, and checks the answer."""

    substring: NonEmpty | None = None
    path: Path | None = None
    assertion: Assertion = "exists"
    must_fail: bool = False

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.must_fail and (self.substring or self.path):
            raise ValueError("`must_fail` allows neither `substring` nor `path`: an error is all that is checked")
        return self

    @property
    def subject(self) -> str:
        """What is asked for, and what is expected."""
        asked = self.request()
        if self.must_fail:
            return excerpt(f"{asked.name} must fail")
        wanted = [f'contain "{self.substring}"'] if self.substring else []
        wanted += [f"have {self.path} {self.assertion}"] if self.path else []
        return excerpt(f"{asked.name} must {' and '.join(wanted)}" if wanted else asked.name)

    def request(self) -> AskServer:
        """Ask the server."""
        return AskServer(**self.asked(), timeout_secs=self.timeout_secs, must_fail=self.must_fail)

    def asked(self) -> dict[str, Any]:
        """Return what is asked for."""
        raise NotImplementedError

    def decide(self, seen: GateInput) -> GateDecision:
        """Decide on the answer. An error passes only if it must fail; a server that does not answer never passes."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        if self.must_fail and result.end == "exited":
            said = excerpt(result.stderr if result.exit_code else result.stdout)
            shown = f"`{said}`" if said else "nothing"
            return GateDecision(
                passed=not result.ok, message=f"it {'answered' if result.ok else 'failed'} with {shown}"
            )
        if not result.ok:
            return GateDecision(passed=False, message=what_went_wrong(result))
        if result.truncated and (self.substring or self.path):
            return CUT
        decisions = [self._contains(result.stdout, self.substring)] if self.substring else []
        decisions += [decide_json(result, self.path, self.assertion)] if self.path else []
        failed = next((one for one in decisions if not one.passed), None)
        message = "; ".join(one.message for one in decisions) or "it answered"
        return failed or GateDecision(passed=True, message=message, detail=decisions[-1].detail if decisions else None)

    def _contains(self, text: str, substring: str) -> GateDecision:
        return contains("the answer", text, substring)


class McpCall(ServerGate):
    """Passes when a call of `tool` with `input` succeeds, and its answer is as expected.

    The answer is the structured content if there is some, else the text. `must_fail: true` is for calls that the server
    has to refuse. Everything else is as in `mcp_resource`.
    """

    type: Literal["mcp_call"] = "mcp_call"
    tool: NonEmpty
    input: dict[str, Any] = {}

    def asked(self) -> dict[str, Any]:
        """Return it."""
        return {"what": "tool", "name": self.tool, "input": self.input}


class McpResource(ServerGate):
    """Passes when the MCP server under test has the resource `uri`, and its text is as expected.

    After the agent has ended, the server is started in the workspace and asked in a session of its own, which counts in
    no metric. One with a `url` is not started again. `substring` must be part of the text. `path` and `assertion` are
    those of `command_json_path`, for text that is JSON. With `must_fail: true` the server has to answer with an error.
    """

    type: Literal["mcp_resource"] = "mcp_resource"
    uri: NonEmpty

    def asked(self) -> dict[str, Any]:
        """Return it."""
        return {"what": "resource", "name": self.uri}


class McpPrompt(ServerGate):
    """Passes when the MCP server under test returns the prompt `name` for `input`, and its messages are as expected.

    The text is one line per message, `user: …`. A `substring` that begins with a role has to be at the beginning of a
    message. Everything else is as in `mcp_resource`.
    """

    type: Literal["mcp_prompt"] = "mcp_prompt"
    name: NonEmpty
    input: dict[str, str] = {}

    def asked(self) -> dict[str, Any]:
        """Return it."""
        return {"what": "prompt", "name": self.name, "input": self.input}

    def _contains(self, text: str, substring: str) -> GateDecision:
        if substring.startswith(("user: ", "assistant: ")):
            text, substring = f"\n{text}", f"\n{substring}"
        return contains("the answer", text, substring)
