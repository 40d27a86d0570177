"""Each capture of a real agent gives the statuses, exit codes, tokens, cost and end that were measured."""

from __future__ import annotations

import pytest

from tests.unit.agents.streams.captures import CAPTURES, calls, end, read, results, text
from tidegate.agents.streams import codex
from tidegate.model.event import ApiRetry, Message, Warning

OK_HELP = "error:2 ok:0"
EDGE = "ok:0 error:1 ok:0 ok:0 error:3 error:137 error:127 ok:0 ok:0 error:4 ok:0 error:2"
MCP = "error ok error ok"
SIX = "ok:0 ok:0 ok:0 ok:0 ok:0 ok:0"

# capture → the calls' results, the end, turns, tokens in, tokens out, cost in USD; `-` is "not said"
MEASURED = {
    "claude-code": (OK_HELP, "completed 3 1344 61 0.006523"),
    "claude-code_2.1.197": (OK_HELP, "completed 3 673 61 0.004805"),
    "claude-code_401": ("", "auth - - - -"),
    "claude-code_500": ("", "outage 1 - - 0.000000"),
    "claude-code_529": ("ok:0", "completed 2 736 39 0.003693"),
    "claude-code_api-retry-then-killed": ("", "outage - - - -"),
    "claude-code_badtool": ("invalid invalid", "completed 3 1290 61 0.006307"),
    "claude-code_bare": (OK_HELP, "completed 3 609 61 0.003583"),
    "claude-code_bg": ("background ok:0 error:2", "completed 4 2212 78 0.010294"),
    "claude-code_budget": ("ok:0 unfinished", "budget 2 795 44 0.004029"),
    "claude-code_denied": ("denied denied", "completed 3 1785 61 0.008287"),
    "claude-code_edge": (f"{EDGE} timeout:143", "completed 14 8172 286 0.037917"),
    "claude-code_mask": (SIX, "completed 7 3802 149 0.017948"),
    "claude-code_maxtok": ("", "max_tokens 4 1764 68 0.008460"),
    "claude-code_maxturns": ("ok:0 ok:0", "max_turns 3 744 44 0.003825"),
    "claude-code_mcp": (MCP, "completed 5 3461 105 0.015788"),
    "claude-code_refusal": ("", "refused 2 757 34 0.003730"),
    "claude-code_schema": (OK_HELP, "completed 4 2285 78 0.010586"),
    "claude-code_sigint": ("interrupted", "killed 3 333 22 0.001783"),
    "claude-code_sigterm": ("interrupted", None),
    "claude-code_subagent": ("error:2 ok:0 ok", "completed 2 2874 100 0.013393"),
    "codex": (OK_HELP, "completed - 303 60 -"),
    "codex_401": ("", "auth - - - -"),
    "codex_500": ("", "outage - - - -"),
    "codex_503": ("ok:0", "completed - 201 40 -"),
    "codex_badtool": ("", "completed - 303 60 -"),
    "codex_edge": (f"{EDGE} unfinished", "completed - 1380 260 -"),
    "codex_login-shell-path-reset": ("error:127 error:127", "completed - 303 60 -"),
    "codex_mask": (SIX, "completed - 721 140 -"),
    "codex_mcp": (MCP, "completed - 510 100 -"),
    "codex_readonly": (OK_HELP, "completed - 303 60 -"),
    "codex_sigterm": ("unfinished", None),
    "codex_wswrite": (OK_HELP, "completed - 303 60 -"),
    "gemini": (OK_HELP, "completed - 403 80 -"),
    "gemini_401": ("", "auth - 0 0 -"),
    "gemini_500": ("", None),
    "gemini_503": ("unknown", "completed - 301 60 -"),
    "gemini_badtool": ("invalid invalid", "completed - 403 80 -"),
    "gemini_denied": ("", "completed - 200 40 -"),
    "gemini_edge": (f"{EDGE} ok:0", "completed - 1480 280 -"),
    "gemini_mask": ("ok:0 ok:0 ok:0 ok:0 ok:0 denied", "completed - 821 160 -"),
    "gemini_maxturns": ("unknown unknown", "max_turns - 301 60 -"),
    "gemini_mcp": ("error ok invalid ok", "completed - 610 120 -"),
    "gemini_sigterm": ("unfinished", None),
    "gemini_telemetry-run": ("unknown unknown", "completed - 403 80 -"),
    "opencode": (OK_HELP, "completed 3 2283 61 0.007713"),
    "opencode_401": ("", "auth - - - -"),
    "opencode_500": ("", None),
    "opencode_529": ("ok:0", "completed 2 1362 39 0.004650"),
    "opencode_ask": ("denied", None),
    "opencode_badtool": ("invalid invalid", "completed 3 2370 61 0.007974"),
    "opencode_edge": (EDGE.replace("error:137", "timeout") + " timeout", "completed 13 5474 286 0.020364"),
    "opencode_mask": (SIX, "completed 7 3841 149 0.013588"),
    "opencode_maxsteps": ("ok:0 ok:0 ok:0 ok:0 ok:0", "completed 6 3013 127 0.010804"),
    "opencode_maxtok": ("", "max_tokens 1 642 17 0.002189"),
    "opencode_mcp": (MCP, "completed 5 1501 105 0.005967"),
    "opencode_refusal": ("", "refused 1 642 17 0.002189"),
    "opencode_sigterm": ("", None),
}


def said(capture: str) -> tuple[str, str | None]:
    events = read(capture)
    told = end(events)
    written = [result.status + ("" if (code := result.exit_code) is None else f":{code}") for result in results(events)]
    if told is None:
        return " ".join(written), None
    cost = None if told.cost_usd is None else f"{told.cost_usd:.6f}"
    numbers = (told.turns, told.tokens_in, told.tokens_out, cost)
    return " ".join(written), " ".join([told.end, *("-" if number is None else str(number) for number in numbers)])


@pytest.mark.parametrize("capture", CAPTURES)
def test_a_capture_gives_what_was_measured(capture: str) -> None:
    assert said(capture) == MEASURED[capture]


@pytest.mark.parametrize("capture", CAPTURES)
def test_every_line_of_a_capture_is_understood(capture: str) -> None:
    assert not [event.text for event in read(capture) if isinstance(event, Warning) and "line " in event.text[:5]]


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "opencode"])
def test_the_five_masked_commands_show_no_failure_in_any_stream(agent: str) -> None:
    """What only the recorder sees: eight calls of the target, five of them failing."""
    events = read(f"{agent}_mask")
    assert [call.command for call in calls(events)][:3] == [
        "mytool ls | head -1",
        "mytool ls; mytool --help >/dev/null; echo done",
        "mytool list || true",
    ]
    assert {result.exit_code for result in results(events)[:5]} == {0}


def test_of_claudes_several_results_the_turns_are_added_up_and_the_cost_is_the_last() -> None:
    told = end(read("claude-code_bg"))
    assert told
    assert (told.turns, round(told.cost_usd or 0, 6)) == (3 + 1, 0.010294)


def test_a_result_after_which_claude_went_on_is_not_its_end() -> None:
    first_result, *after = [
        number for number, line in enumerate(text("claude-code_bg").splitlines()) if "num_turns" in line
    ]
    lines = text("claude-code_bg").splitlines()
    assert after
    assert end(read("claude-code_bg", "\n".join(lines[: after[0]]))) is None
    assert end(read("claude-code_bg", "\n".join(lines[: first_result + 1]))) is not None


def test_a_subagents_calls_are_kept_apart() -> None:
    agent, *inner = [call.id for call in calls(read("claude-code_subagent"))]
    assert [call.partition("/")[0] for call in inner] == [agent, agent]


def test_retries_are_events() -> None:
    retries = [event.text for event in read("claude-code_529") if isinstance(event, ApiRetry)]
    assert retries == ["overloaded, status 529, attempt 1", "overloaded, status 529, attempt 2"]
    assert len([event for event in read("codex_401") if isinstance(event, ApiRetry)]) == 2


def test_what_claude_says_in_the_models_place_is_not_the_models_word() -> None:
    events = [event for event in read("claude-code_500") if isinstance(event, Message)]
    assert [event.role for event in events] == ["system"]


def test_an_mcp_server_that_failed_to_start_is_a_warning() -> None:
    warnings = [event.text for event in read("claude-code_mcp") if isinstance(event, Warning)]
    assert warnings == ["the MCP server broken failed to start"]


def test_a_login_shell_of_codex_is_a_warning() -> None:
    assert "may reset PATH" in str(read("codex_login-shell-path-reset"))


def test_codexs_commands_are_unwrapped() -> None:
    assert [call.command for call in calls(read("codex_edge"))][5] == "bash -c 'kill -9 $$'"


def test_codexs_invalid_calls_are_in_stderr_alone() -> None:
    stderr = "2026-11-20T ERROR codex_core::tools::router: error=unsupported call: no_such_tool\nother\n"
    assert codex.invalid_calls(stderr) == ("no_such_tool",)


def test_without_its_session_file_geminis_exit_codes_are_unknown() -> None:
    from tidegate.agents.streams import gemini

    statuses = [(result.status, result.exit_code) for result in results(gemini.STREAM.parse(text("gemini_edge")))]
    assert statuses.count(("unknown", None)) == 10
    assert [status for status in statuses if status[0] != "unknown"] == [("error", 1), ("error", 3), ("error", 137)]


@pytest.mark.parametrize("capture", ["claude-code_edge", "codex_edge", "gemini_edge", "opencode_edge"])
def test_a_command_that_prints_nothing_has_no_output(capture: str) -> None:
    """Agents tell the model that there was no output, in a text of their own; the command did not print it."""
    events = read(capture)
    commands = {call.id: call.command for call in calls(events)}
    silent = [one for one in results(events) if commands[one.id] in ("exit 3", "true", "echo abc | grep xyz")]
    assert silent
    assert [one.output for one in silent] == [""] * len(silent)
