"""An MCP server as the target, from the suite to the run: with a small server, and an agent that is a script."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import sdk_server
from tests.conftest import Repository
from tidegate.__main__ import main
from tidegate.trial.environment import free_port
from tidegate.trial.mcp.http_proxy import listens

SERVER = """\
import json, os, sys, time
print("starting", file=sys.stderr)
if "broken" in sys.argv: sys.exit("no database")
if "slow" in sys.argv: time.sleep(3)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    params = message.get("params") or {}
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {}}
        if "nameless" not in sys.argv: result["serverInfo"] = {"name": "items", "version": "1"}
    if message["method"] == "tools/list":
        schema = {} if "bare" in sys.argv else {"inputSchema": {"type": "object"}}
        result = {"tools": [] if "empty" in sys.argv else [{"name": "add", **schema}]}
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    if message["method"] == "tools/call":
        title = params.get("arguments", {}).get("title")
        if title == "die": os._exit(3)
        if title == "refuse": answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": "no"}}
        else:
            text = os.environ.get("GREETING", "") + " " + os.getcwd()
            answer["result"] = {"content": [{"type": "text", "text": text}], **({} if title else {"isError": True})}
    print(json.dumps(answer), flush=True)
"""
# Calls the tool once for each of its arguments after the first, which is the configuration that agents are given.
AGENT = """\
import json, os, select, subprocess, sys
assert sys.argv[1] == os.environ["TIDEGATE_MCP_CONFIG"]
((name, server),) = json.load(open(sys.argv[1]))["mcpServers"].items()
command = [server["command"], *server["args"]]
program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={})
def ask(number, method, params):
    program.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\\n")
    program.stdin.flush()
    if "impatient" in sys.argv and not select.select([program.stdout], [], [], 1.5)[0]:
        sys.exit("it does not answer")
    answer = program.stdout.readline()
    return json.loads(answer) if answer else {}
if "silent" not in sys.argv:
    ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
for number, title in enumerate(sys.argv[2:], 1):
    if title == "list":
        ask(number, "tools/list", {})
    elif title not in ("silent", "leave", "impatient"):
        answer = ask(number, "tools/call", {"name": "add", "arguments": {"title": title} if title != "none" else {}})
        print(name, json.dumps(answer.get("result") or answer.get("error") or "gone"))
"""
SUITE = """\
version: 1
scenarios: [first.yaml]
target: {mcp: {name: items, command: %s}, env: {GREETING: hello}}
agents:
  mine: {type: command, command: "python3 {repo}/agent.py {mcp_config} %s"}
"""
SCENARIO = "name: first\ndescription: d\ntarget: from_config\ntask: Add an item.\ngates: []\n"


@pytest.fixture
def run(
    tmp_path: Path, make_repository: Callable[..., Repository], capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str], dict[str, Any]]:
    """Runs the one trial of a suite with that server and those calls; returns its result."""

    def run(server: str, calls: str) -> dict[str, Any]:
        repository = make_repository("r")
        command = json.dumps(f"python3 {repository.root}/server.py {server}")
        suite = SUITE % (command, calls)
        repository.commit({"server.py": SERVER, "agent.py": AGENT, "first.yaml": SCENARIO, "tidegate.yaml": suite})
        main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "run")])
        (trial,) = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
        assert isinstance(trial, dict)
        return trial

    return run


def calls_of(trial: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["command"], call["status"]) for call in trial["calls"]]


def test_calls_are_invocations_and_error_results_fail(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    trial = run("", "milk none refuse milk")
    assert calls_of(trial) == [
        ("""items add '{"title": "milk"}'""", "ok"),
        ("items add", "error"),
        ("""items add '{"title": "refuse"}'""", "error"),
        ("""items add '{"title": "milk"}'""", "ok"),
    ]
    assert [call["exit_code"] for call in trial["calls"]] == [None] * 4
    metrics = trial["metrics"]
    assert (metrics["command_count"], metrics["error_count"], metrics["retry_count"]) == (4, 2, 1)
    assert trial["subcommands"]["add"]["errors"] == 2
    assert trial["warnings"] == []
    said = (next((tmp_path / "run").rglob("agent.stdout"))).read_text()
    assert "hello " in said, "the server has the target's environment, whatever the client makes of it"
    assert "/workspace" in said, "and works in the workspace"


def test_a_server_that_starts_slowly_runs_before_the_agent(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    trial = run("slow", "impatient milk milk")
    assert [status for _, status in calls_of(trial)] == ["ok", "ok"]
    assert "hello " in next((tmp_path / "run").rglob("agent.stdout")).read_text()
    assert "starting" in next((tmp_path / "run").rglob("server.stderr")).read_text()


def test_a_pass_without_a_call_gives_a_warning(run: Callable[..., dict[str, Any]]) -> None:
    trial = run("", "list")
    assert (trial["outcome"], trial["warnings"]) == (
        "pass",
        ["the trial passed without a single call of the MCP server"],
    )


def test_a_call_that_a_server_dies_in_has_failed(run: Callable[..., dict[str, Any]]) -> None:
    trial = run("", "milk die")
    assert [status for _, status in calls_of(trial)] == ["ok", "error"]
    assert (trial["metrics"]["command_count"], trial["metrics"]["error_count"]) == (2, 1)


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("broken", "did not start: the server has ended: exit 1; it wrote: starting / no database"),
        ("empty", "did not start: it offers no tools, no resources and no prompts; it wrote: starting"),
        ("nameless", "its answer to `initialize`, in which `serverInfo` is wrong: Field required; it wrote: starting"),
        ("bare", "`tools/list`, in which `tools.0.inputSchema` is wrong: Field required; it wrote: starting"),
    ],
)
def test_a_server_that_does_not_start_is_not_measured(
    run: Callable[..., dict[str, Any]], server: str, reason: str
) -> None:
    trial = run(server, "milk")
    assert (trial["outcome"], trial["not_measured"], trial["calls"]) == (None, "health_check", [])
    assert trial["reason"].endswith(reason)


@pytest.mark.parametrize("calls", ["silent", "leave"])
def test_an_agent_that_opens_no_session_is_not_measured(run: Callable[..., dict[str, Any]], calls: str) -> None:
    """It never asks the server, or leaves when it has heard who that is, as clients do that refuse the answer."""
    trial = run("", calls)
    assert (trial["outcome"], trial["not_measured"]) == (None, "no_session")
    assert trial["reason"] == "the agent opened no session with the MCP server items; it wrote: starting"


TODAY = """\
version: 1
scenarios: [first.yaml]
target: {mcp: {name: shelf, command: %s}}
agents:
  mine:
    type: scripted
    steps:
      first:
        - {call: add, input: {title: Emma}}
        - {read: "shelf://items"}
        - {prompt: greet, input: {name: Ann}}
        - {call: put}
"""
ASKED = """\
name: first
description: d
target: from_config
task: Add an item.
gates:
  - {type: mcp_resource, uri: "shelf://items", path: "$.items[0]", assertion: equals Emma}
  - {type: mcp_prompt, name: greet, input: {name: Bob}, substring: "user: Hello, Bob!"}
  - {type: mcp_call, tool: add, input: {title: Ulysses}, path: "$.items", assertion: len == 2}
  - {type: mcp_call, tool: add, input: {title: refuse}, must_fail: true}
  - {type: mcp_call, tool: say, input: {text: x}, must_fail: true, required: false}
"""


def test_steps_and_gates_use_what_a_server_of_today_offers(
    tmp_path: Path, make_repository: Callable[..., Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    repository = make_repository("r")
    suite = TODAY % json.dumps(f"{sys.executable} {repository.root}/server.py")
    source = Path(sdk_server.__file__).read_text()
    repository.commit({"server.py": source, "first.yaml": ASKED, "tidegate.yaml": suite})
    main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "run")])
    (trial,) = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
    assert [gate["passed"] for gate in trial["gates"]] == [True, True, True, True, False], capsys.readouterr()
    assert calls_of(trial) == [
        ("""shelf add '{"title": "Emma"}'""", "ok"),
        ("shelf resources/read shelf://items", "ok"),
        ("""shelf prompts/get greet '{"name": "Ann"}'""", "ok"),
        ("shelf put", "error"),
    ]
    events = next((tmp_path / "run").rglob("events.jsonl")).read_text()
    unlisted = "the server does not list the tool `put`"
    assert unlisted in events
    assert unlisted in trial["faults"]  # if base has it not, a pass counts for nothing
    assert "user: Hello, Ann!" in events


CLIENT = """\
import asyncio, json, sys
import httpx2
from mcp import Client
from mcp.client.sse import sse_client

async def work(url, kind):
    async with Client(sse_client(url) if kind == "sse" else url) as client:
        await client.call_tool("add", {"title": "Emma"})
        await client.read_resource("shelf://items")
        await client.get_prompt("greet", {"name": "Ann"})
        try:
            await client.call_tool("put", {})
        except Exception as error:
            print(error)
        print(client.protocol_version)

(server,) = json.load(open(sys.argv[1]))["mcpServers"].values()
asyncio.run(work(server["url"], server["type"]))
"""


LOGINS = {
    "headers": "headers: {X-Key: '${SHELF_KEY}'}",
    "oauth": "oauth: {issuer: 'http://127.0.0.1:{port}', client_id: tester, client_secret: '${SHELF_KEY}'}",
}
SEEN = "cat /proc/*/environ /proc/*/cmdline ../shared/* 2>/dev/null | tr '\\0' '\\n' | grep -cE 'k3[y]|s3cre[t]'; env"


@pytest.mark.parametrize(("way", "value"), [("headers", "k3y"), ("oauth", "s3cret")])
def test_a_server_gets_headers_and_tokens_that_agents_do_not_see(
    tmp_path: Path, make_repository: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch, way: str, value: str
) -> None:
    monkeypatch.setenv("SHELF_KEY", value)
    repository = make_repository("r")
    command = f"exec {sys.executable} {repository.root}/server.py guarded {{port}}"
    target = f'{json.dumps(command)}, url: "http://127.0.0.1:{{port}}/mcp", {LOGINS[way]}'
    suite = (TODAY % target)[: (TODAY % target).index("  mine:")]
    agent = f"{sys.executable} {{repo}}/client.py {{mcp_config}}; sh {{repo}}/look.sh"
    suite += f'  mine: {{type: command, command: "{agent}"}}\n'
    files = {"server.py": Path(sdk_server.__file__).read_text(), "client.py": CLIENT, "look.sh": SEEN}
    repository.commit({**files, "first.yaml": ASKED, "tidegate.yaml": suite})
    main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "run")])
    (trial,) = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
    outputs = {file.name: file.read_text() for file in (tmp_path / "run").rglob("*.std*")}
    assert [gate["passed"] for gate in trial["gates"]] == [True, True, True, True, False], (trial["reason"], outputs)
    assert len(calls_of(trial)) == 4
    assert value not in outputs["agent.stdout"]
    assert "\n0\n" in outputs["agent.stdout"], "no other process shows it either"


def test_a_server_that_already_runs_can_be_run_against_but_not_compared(
    tmp_path: Path, make_repository: Callable[..., Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    repository, port = make_repository("r"), free_port()
    suite = TODAY.replace("command: %s", f'url: "http://localhost:{port}/mcp"')
    repository.commit({"first.yaml": ASKED, "tidegate.yaml": suite})
    with subprocess.Popen([sys.executable, sdk_server.__file__, "streamable-http", port], cwd=tmp_path) as server:
        while not listens(f"127.0.0.1:{port}"):
            time.sleep(0.05)
        main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "run")])
        server.terminate()
    (trial,) = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
    assert [gate["passed"] for gate in trial["gates"]] == [True, True, True, True, False], trial["reason"]
    assert len(calls_of(trial)) == 4
    assert not listens(f"127.0.0.1:{port}")
    main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "gone")])
    (trial,) = json.loads((tmp_path / "gone" / "run.json").read_text())["trials"]
    assert (trial["outcome"], trial["not_measured"]) == (None, "health_check")
    assert f"http://localhost:{port}/mcp cannot be reached" in trial["reason"]

    repository.branch("change", {"README.md": "new"})
    assert main(["pr", "--base", "main", "--repo", str(repository.root)]) == 2
    assert "has no `command`, so it has no base and no head" in capsys.readouterr().err


@pytest.mark.parametrize("agent", ["scripted", "command"])
@pytest.mark.parametrize(("carrier", "path"), [("streamable-http", "/mcp"), ("sse", "/sse")])
def test_a_server_at_a_url_is_started_recorded_and_asked(
    tmp_path: Path, make_repository: Callable[..., Repository], carrier: str, path: str, agent: str
) -> None:
    repository = make_repository("r")
    command = f"exec {sys.executable} {repository.root}/server.py {carrier} {{port}} 1"
    target = f'{json.dumps(command)}, url: "http://127.0.0.1:{{port}}{path}"'
    suite = TODAY % target
    if agent == "command":
        suite = suite[: suite.index("  mine:")] + (
            f'  mine: {{type: command, command: "{sys.executable} {{repo}}/client.py {{mcp_config}}"}}\n'
        )
    files = {"server.py": Path(sdk_server.__file__).read_text(), "client.py": CLIENT}
    repository.commit({**files, "first.yaml": ASKED, "tidegate.yaml": suite})
    main(["run", "--quiet", "--trials", "1", "--repo", str(repository.root), "--out", str(tmp_path / "run")])
    (trial,) = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
    outputs = {file.name: file.read_text() for file in (tmp_path / "run").rglob("*.std*")}
    assert [gate["passed"] for gate in trial["gates"]] == [True, True, True, True, False], (trial["reason"], outputs)
    assert calls_of(trial) == [
        ("""shelf add '{"title": "Emma"}'""", "ok"),
        ("shelf resources/read shelf://items", "ok"),
        ("""shelf prompts/get greet '{"name": "Ann"}'""", "ok"),
        ("shelf put", "error"),
    ]
