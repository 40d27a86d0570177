"""A research agent with traces, as a team that uses AgentV 1.5 has it: only tidegate.yaml is new."""

from __future__ import annotations

from collections.abc import Callable
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
    ran = tidegate("pr", "--base", "main", cwd=repo.root)

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
