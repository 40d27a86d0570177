"""Attempts on other kinds of suites: evaluators, AgentV's files, an MCP server, stores and limits."""

from __future__ import annotations

from typing import Any

from tests.journeys.conftest import AGENTS_MD, NOTES, SCENARIO, SUITE, VERSION
from tests.thorough import test_agentv as agentv
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, agent, graded, keep, suite
from tests.thorough.attempts.by_tool import EVALUATED, JUDGE

TASK = SCENARIO.partition("evaluation:")[0]
JUDGED = "evaluation:\n  evaluators:\n    - {type: code_judge, name: two, script: python3 judge.py}\n"
EASY = "    - {type: code_judge, name: easy, weight: 100, script: 'true'}\n"
AGENTV = {**agentv.FILES, "scenarios/keep.yaml": None, "scenarios/version.yaml": None}
WANDERING = {"evals/searches.txt": "search search read read\n"}
CALLS = "{tool: search, input: {q: {regex: tide}}}, {tool: read}"
PROMPTED = {
    **dict.fromkeys(("scenarios/keep.yaml", "scenarios/version.yaml", "AGENTS.md")),
    "tidegate.yaml": SUITE.replace("scenarios/*.yaml", "evals/*.yaml") + "guidance: []\ntarget: {binary: notes}\n",
    "evals/notes.yaml": """\
description: Two notes are added.
evalcases:
  - id: keep
    expected_outcome: Both notes are kept.
    input_messages: [{role: user, content: [{type: file, value: prompt.md}]}]
    execution: {evaluators: [{name: kept, type: code_judge, script: python3 judge.py}]}
""",
    "evals/prompt.md": "Add both:\n\n```console\n$ notes add first\n$ notes add second\n```\n",
    "evals/judge.py": JUDGE,
}
LAX = agentv.EVALS.replace(CALLS, "{tool: search}, {tool: search}, {tool: read}, {tool: read}")
SERVER = """\
import json, pathlib, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {}
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {}, "serverInfo": INFO}
    if message.get("method") == "tools/list":
        result = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    if message.get("method") == "tools/call":
        with pathlib.Path("notes.txt").open("a") as notes:
            notes.write(message["params"]["arguments"]["text"] + "\\n")
        result = {"content": [{"type": "text", "text": "kept"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
""".replace("INFO", '{"name": "notes", "version": "1"}')
CLIENT = """\
import json, subprocess, sys
((_, server),) = json.load(open(sys.argv[1]))["mcpServers"].items()
program = subprocess.Popen([server["command"], *server["args"]], stdin=-1, stdout=-1, text=True)
asked = [("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})]
asked += [("tools/call", {"name": "add", "arguments": {"text": text}}) for text in ("first", "second")]
for number, (method, params) in enumerate(asked):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    print(json.dumps(message), file=program.stdin, flush=True)
    print(program.stdout.readline())
"""
MCP = {
    "tidegate.yaml": SUITE.replace(
        "{type: doc-follower}", "{type: command, deterministic: true, command: 'python3 {repo}/client.py {mcp_config}'}"
    ),
    "scenarios/keep.yaml": SCENARIO.replace(
        "{binary: notes, health_check: notes --version}",
        "{mcp: {name: notes, command: python3 $(dirname $(command -v notes))/server.py}}",
    ).replace("command: notes list", "command: cat notes.txt"),
    "bin/server.py": SERVER,
    "client.py": CLIENT,
}
LISTED = """{"name": "add", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}"""
LISTING = SERVER.replace('"capabilities": {}', '"capabilities": {"tools": {}}').replace(
    """{"name": "add", "inputSchema": {"type": "object"}}""", f"{LISTED}, {LISTED.replace('add', 'keep')}"
)
ADDS = "{{call: add, input: {{text: {}}}}}"
SCRIPTED = {
    **MCP,
    "tidegate.yaml": SUITE.replace(
        "{type: doc-follower}",
        f"{{type: scripted, steps: {{keep_notes: [{ADDS.format('first')}, {ADDS.format('second')}]}}}}",
    ),
    "scenarios/version.yaml": None,
    "bin/server.py": LISTING,
    "client.py": None,
}


def listing(old: str, new: str) -> dict[str, Any]:
    """A server that lists its tools in another way; calls of a script work."""
    assert old in LISTING
    return {"base": SCRIPTED, "head": {"bin/server.py": LISTING.replace(old, new, 1)}, "tool": None}


FORGETS = SERVER.replace('["text"] + "\\n")', '["text"][:5] + "\\n")').replace("second", "")

STARTS_LIBRARY = '#!/bin/sh\nexec python3 "$(dirname "$0")/../lib/server.py"\n'

SUITES = {
    "heavy evaluator": Attempt(
        "adds an evaluator of a large weight that always passes, so that the common score is high",
        "regression",
        base=EVALUATED,
        head={"scenarios/keep.yaml": TASK + JUDGED + EASY},
    ),
    "evaluator of no weight": Attempt(
        "gives the evaluator that fails no weight",
        "regression",
        base={**EVALUATED, "scenarios/keep.yaml": TASK + JUDGED + EASY.replace("weight: 100, ", "")},
        head={"scenarios/keep.yaml": TASK + JUDGED.replace("two,", "two, weight: 0,") + EASY},
    ),
    "AgentV's expected calls": Attempt(
        "has AgentV's file expect the calls that head makes",
        "regression",
        base=AGENTV,
        head={**WANDERING, "evals/research.yaml": LAX},
        tool=None,
    ),
    "AgentV's prompt": Attempt(
        "has a file in AgentV's prompt write the result",
        "no_regression",
        0,
        why="guidance and files in AgentV's prompts are each side's own: they can do the work in any number of ways",
        base=PROMPTED,
        head={"evals/prompt.md": "Add both:\n\n```console\n$ notes add first\n$ echo second >> notes.txt\n```\n"},
    ),
    "AgentV's target": Attempt(
        "has AgentV's targets start another agent, which does what is expected",
        "regression",
        base=AGENTV,
        head={
            **WANDERING,
            ".agentv/targets.yaml": agentv.FILES[".agentv/targets.yaml"].replace("agent.py", "better.py"),
            "evals/better.py": agentv.AGENT.replace('pathlib.Path("searches.txt").read_text()', '"search read"'),
        },
        tool=None,
    ),
    "copy of the program that starts an MCP server": Attempt(
        "puts a copy of the program that starts the server in front of the old one, with a broken library elsewhere",
        "regression",
        base={
            **MCP,
            "scenarios/keep.yaml": MCP["scenarios/keep.yaml"].replace(
                "python3 $(dirname $(command -v notes))/server.py", "notes-server"
            ),
            "bin/notes-server": STARTS_LIBRARY,
            "lib/server.py": SERVER,
        },
        head={
            "tidegate.yaml": MCP["tidegate.yaml"].replace("[bin]", "[front/bin, bin]"),
            "front/bin/notes-server": STARTS_LIBRARY,
            "front/lib/server.py": FORGETS,
        },
        tool=None,
    ),
    "MCP server that forgets": Attempt(
        "has the MCP server answer that it kept what it did not keep",
        "regression",
        base=MCP,
        head={"bin/server.py": FORGETS},
        tool=None,
    ),
    "list without the tool": Attempt(
        "has the MCP server no longer list the tool", "regression", **listing(f"{LISTED}, ", "")
    ),
    "list with a tool twice": Attempt(
        "has the MCP server list two tools by one name",
        "regression",
        **listing(f"{LISTED}, ", f"{LISTED}, {LISTED}, "),
    ),
    "list with a strange name": Attempt(
        "has the MCP server list a tool whose name no model's API accepts",
        "regression",
        **listing(f"{LISTED}, ", f"{LISTED}, {LISTED.replace('add', 'a tool!')}, "),
    ),
    "list with choices": Attempt(
        "has the MCP server list a schema that no model's API accepts",
        "regression",
        **listing('{"type": "object",', '{"type": "object", "oneOf": [],'),
    ),
    "list of another parameter": Attempt(
        "has the MCP server list another parameter than the one that it takes",
        "regression",
        **listing('"text"', '"note"'),
    ),
    "list without an end": Attempt(
        "has the MCP server list the same page again and again",
        "regression",
        **listing('"tools": [', '"nextCursor": "x", "tools": ['),
    ),
    "list that is not announced": Attempt(
        "has the MCP server not declare that it has tools",
        "regression",
        **listing('"capabilities": {"tools": {}}', '"capabilities": {}'),
    ),
    "another MCP server": Attempt(
        "tests another MCP server, which works",
        "no_regression",
        0,
        why="how the tool is started is the pull request's, as the tool is, and the comment lists a change of it",
        base=MCP,
        head={
            "bin/server.py": FORGETS,
            "bin/good.py": SERVER,
            "scenarios/keep.yaml": MCP["scenarios/keep.yaml"].replace("/server.py", "/good.py"),
        },
        tool=None,
    ),
    "a variable for the tool": Attempt(
        "sets a variable of the tool, which works only with it",
        "no_regression",
        0,
        why="how the tool is started is the pull request's, as the tool is, and the comment lists a change of it",
        head=keep("--version}", "--version, env: {KIND: x}}"),
        tool=FORGETFUL.replace('"$1" = second ]', '"$1$KIND" = second ]'),
    ),
    "client that does the work": Attempt(
        "has the agent's own program write the result without a call of the MCP server",
        "regression",
        base=MCP,
        head={
            "bin/server.py": FORGETS,
            "client.py": CLIENT.replace("asked += ", "open('notes.txt', 'w').write('first\\nsecond\\n'); ignored = "),
        },
        tool=None,
    ),
    "forged store": Attempt(
        "brings a store of its own with a history in which base always failed",
        "regression",
        head={
            **suite("store: {path: forged}\n"),
            "forged/history/0.jsonl": '{"trial": {"scenario": "keep_notes", "agent": "docs", "decides": "fail"}}\n',
        },
    ),
    "declared deterministic": Attempt(
        "declares the agent deterministic, so that one lucky trial is enough",
        "regression",
        base=agent("type: command, command: 'notes add first; notes add second'"),
        head=agent("type: command, deterministic: true, command: 'notes add first; notes add second'"),
    ),
    "command pattern": Attempt(
        "narrows the pattern of commands that count as calls",
        "regression",
        base=graded("type: no_transcript_errors"),
        head={
            "scenarios/keep.yaml": graded("type: no_transcript_errors")["scenarios/keep.yaml"].replace(
                "binary: notes,", "binary: notes, command_pattern: 'notes (list)',"
            )
        },
        tool=NOTES.replace("  add)", "  append)"),
    ),
    "guidance as a link": Attempt(
        "makes the guidance a link to a file that has the result",
        "regression",
        head={
            "docs/x.md": AGENTS_MD + "\nsecond\n",
            "AGENTS.md": None,
        },
        prepare=lambda repo: (repo.root / "AGENTS.md").symlink_to("docs/x.md"),
        tool=FORGETFUL,
    ),
    "name of a changed row": Attempt(
        "changes another scenario, whose changed row would have the name of the scenario that now fails",
        "regression",
        base={
            "scenarios/keep.yaml": SCENARIO.replace("name: keep_notes", 'name: "version (as changed)"'),
        },
        head={"scenarios/version.yaml": VERSION + "run: {timeout_secs: 100}\n"},
    ),
    "flaky gate": Attempt(
        "adds a gate that fails by chance on both sides, so that base's rate is low",
        "regression",  # by chance
        head=keep(
            more="    - {type: command_succeeds, command: 'test $(($(date +%N | tail -c 2) % 2)) = 0'}\n",
        ),
    ),
}
