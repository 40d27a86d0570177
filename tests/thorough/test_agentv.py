"""An AgentV 1.5 project runs unchanged once it has a tidegate.yaml."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]
# Writes the newer output format, or with OLD the older one; its searches are those of searches.txt, each side's own.
AGENT = """\
import json, pathlib, sys
question, output = sys.argv[1:]
tools = pathlib.Path("searches.txt").read_text().split()
if "old" in question:
    trace = [{"type": "tool_call", "id": str(n), "name": tool, "input": {"q": "tides"}} for n, tool in enumerate(tools)]
    said = {"text": "The moon.", "trace": trace}
else:
    calls = [{"tool": tool, "input": {"q": "tides"}, "output": {"found": True}} for tool in tools]
    said = {"output_messages": [{"role": "assistant", "content": "The moon.", "tool_calls": calls}]}
pathlib.Path(output).write_text(json.dumps(said))
"""
JUDGE = """\
import json, sys
told = json.load(sys.stdin)
print(json.dumps({"score": float(told["reference_answer"] in told["candidate_answer"])}))
"""
EVALS = """\
description: A research agent.
dataset: research
execution:
  evaluators:
    - {name: answer, type: code_judge, script: python3 judge.py, weight: 2}
    - name: way
      type: tool_trajectory
      mode: exact
      expected: [{tool: search, input: {q: {regex: tide}}}, {tool: read}]
evalcases:
  - &case
    id: new
    expected_outcome: The moon.
    input_messages: [{role: user, content: What makes tides?}]
    expected_messages: [{role: assistant, content: moon}]
  - {<<: *case, id: old, input_messages: [{role: user, content: old tides}]}
"""
FILES = {
    "tidegate.yaml": "version: 1\nscenarios: [evals/*.yaml]\n",
    "evals/research.yaml": EVALS,
    "evals/agent.py": AGENT,
    "evals/judge.py": JUDGE,
    "evals/searches.txt": "search read\n",
    ".agentv/targets.yaml": "targets:\n  - name: default\n    provider: cli\n"
    "    command_template: python3 agent.py {PROMPT} {OUTPUT_FILE}\n",
}


def test_eval_files_run_unchanged_and_an_extra_call_is_seen(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("wander", {"evals/searches.txt": "search search read read\n"})

    ran = tidegate("run", "--rev", "main", "--trials", "1", "--out", "base", cwd=repo.root)
    assert ran.code == 0, ran.stderr + ran.stdout
    ran = tidegate("pr", "--base", "main", "--pause", "1", cwd=repo.root)

    assert "waiting 1 s, so that the verification is apart in time" in ran.stderr
    trials = {(trial["side"], trial["scenario"]): trial for trial in ran.result["trials"]}
    assert {key[1] for key in trials} == {"research/new", "research/old"}
    for name in ("research/new", "research/old"):
        base, head = trials["base", name], trials["head", name]
        assert (base["outcome"], base["case_score"]) == ("pass", 1)
        # exact: 1 matching position of 4 calls; (2 × 1 + 1 × 0.25) / 3
        assert [evaluator["score"] for evaluator in head["evaluators"]] == [1, 0.25]
        assert head["case_score"] == pytest.approx(0.75)
        assert head["outcome"] == "fail"


def test_an_agent_without_a_trace_is_not_measured(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    targets = "targets: [{name: default, provider: mock, response: The moon.}]\n"
    repo.commit(FILES | {".agentv/targets.yaml": targets})
    repo.branch("other", {"README.md": "x\n"})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert {trial["not_measured"] for trial in ran.result["trials"]} == {"no_trace"}
    assert {trial["outcome"] for trial in ran.result["trials"]} == {None}
    assert ran.row("research/new", "default")["state"] == "not_measured"


BATCH_TARGET = """\
targets:
  - name: default
    provider: cli
    provider_batching: true
    command_template: sh batch.sh {EVAL_ID} {OUTPUT_FILE}
    healthcheck: {type: command, command_template: test -f batch.sh}
"""
BATCH_EVALS = """\
dataset: screen
execution: {evaluators: [{name: answer, type: code_judge, script: python3 judge.py}]}
evalcases:
  - &case
    id: one
    input_messages: [{role: user, content: {amount: 1}}]
    expected_messages: [{role: assistant, content: approve}]
  - {<<: *case, id: two}
  - {<<: *case, id: three}
"""
BATCH_FILES = {
    "tidegate.yaml": "version: 1\nscenarios: [evals/*.yaml]\n",
    "evals/screen.yaml": BATCH_EVALS,
    "evals/judge.py": JUDGE,
    "evals/answers.jsonl": "".join(
        json.dumps({"id": name, "text": "approve"}) + "\n" for name in ("one", "two", "three")
    ),
    "evals/batch.sh": "cp answers.jsonl $2\n",
    ".agentv/targets.yaml": BATCH_TARGET,
}


def test_a_batch_is_one_process_and_each_case_gets_its_line(
    make_repository: Make, tidegate: Make, tmp_path: Path
) -> None:
    repo = make_repository()
    (seen := tmp_path / "seen").mkdir()
    more = f"pass_env: [TIDEGATE_TEST_OUT]\nfiles: {{write: ['{seen}']}}\n"
    counting = "echo $1 >> $TIDEGATE_TEST_OUT/starts.txt\n" + BATCH_FILES["evals/batch.sh"]
    repo.commit(BATCH_FILES | {"tidegate.yaml": BATCH_FILES["tidegate.yaml"] + more, "evals/batch.sh": counting})

    env = {"TIDEGATE_TEST_OUT": str(seen)}
    ran = tidegate("run", "--rev", "main", "--trials", "2", "--json", cwd=repo.root, env=env)

    assert ran.code == 0, ran.stderr
    trials = json.loads(ran.stdout)["trials"]
    assert [(trial["outcome"], trial["case_score"]) for trial in trials] == [("pass", 1)] * 6
    assert (seen / "starts.txt").read_text() == "batch\nbatch\n"  # once for each attempt


def test_an_id_that_is_missing_or_doubled_is_not_measured(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    answers = [("one", "approve"), ("two", "approve"), ("two", "approve"), ("other", "x")]
    lines = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in answers)
    repo.commit(BATCH_FILES | {"evals/answers.jsonl": lines, "evals/batch.sh": "cp answers.jsonl $2\n"})

    ran = tidegate("run", "--trials", "1", "--json", cwd=repo.root)

    one, two, three = json.loads(ran.stdout)["trials"]
    assert one["outcome"] == "pass"
    assert (two["outcome"], two["not_measured"]) == (None, "agent_error")
    advice = 'let its command print one JSON line for every case: {"id": "%s", "text": …}'
    assert two["reason"] == f"the batch printed 2 lines for the case `two`; {advice % 'two'}"
    assert three["reason"] == f"the batch printed no line for the case `three`; {advice % 'three'}"


def test_a_batch_that_writes_beside_itself_is_not_measured_and_says_why(make_repository: Make, tidegate: Make) -> None:
    """As AgentV's demo does: the checkout is each side's own, and trials must not change it."""
    repo = make_repository()
    writing = "echo x > beside.csv || exit 3\n" + BATCH_FILES["evals/batch.sh"]
    repo.commit(BATCH_FILES | {"evals/batch.sh": writing})

    ran = tidegate("run", "--trials", "1", "--json", cwd=repo.root)

    for trial in json.loads(ran.stdout)["trials"]:
        assert "Read-only file system" in trial["reason"]


def test_a_target_that_is_not_healthy_stops_before_any_trial(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(
        BATCH_FILES
        | {
            "evals/batch.sh": "exit 0\n",
            ".agentv/targets.yaml": BATCH_TARGET.replace("test -f batch.sh", "test -f no.sh"),
        }
    )

    ran = tidegate("run", cwd=repo.root)

    assert ran.code == 4
    assert "The target's healthcheck failed: test -f no.sh: exit 1" in ran.stderr


@pytest.mark.parametrize(("status", "code"), [(204, 0), (503, 4)])
def test_a_healthcheck_by_http(make_repository: Make, tidegate: Make, status: int, code: int) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        check = f"{{type: http, url: 'http://127.0.0.1:{server.server_port}/up'}}"
        targets = BATCH_TARGET.replace("{type: command, command_template: test -f batch.sh}", check)
        repo = make_repository()
        repo.commit(BATCH_FILES | {".agentv/targets.yaml": targets, "evals/batch.sh": "cp answers.jsonl $2\n"})
        ran = tidegate("run", "--trials", "1", cwd=repo.root)
        server.shutdown()

    assert ran.code == code, ran.stderr
    assert ("/up: status 503" in ran.stderr) == (code == 4)


def test_codex_does_a_case_that_has_no_tool_under_test(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    (tmp_path / "codex").write_text(CODEX)
    (tmp_path / "codex").chmod(0o755)
    targets = "targets: [{name: default, provider: codex, args: [--full-auto]}]\n"
    repo = make_repository()
    repo.commit(BATCH_FILES | {".agentv/targets.yaml": targets})

    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "OPENAI_API_KEY": "none"}
    ran = tidegate("run", "--trials", "1", "--json", cwd=repo.root, env=env)

    assert ran.code == 0, ran.stderr
    assert {trial["outcome"] for trial in json.loads(ran.stdout)["trials"]} == {"pass"}


CODEX = """\
#!/bin/sh
[ "$1" = --version ] && { echo codex-cli 0.169.0; exit 0; }
case "$*" in *--full-auto*) ;; *) exit 1 ;; esac
echo '{"type":"thread.started","thread_id":"1"}'
echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"approve"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"""
