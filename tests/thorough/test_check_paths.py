"""Every kind of answer of a model to checks or to a single score, from the wire to `result.json` and the comment."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, Ran, start
from tests.model_server import Step, serving
from tests.thorough.test_judge_paths import SUITE

CHECKS = """\
  evaluators:
    - type: rubrics
      rubrics:
        - {id: both, description: Both notes are kept., weight: 3}
        - {id: short, description: They are short., weight: 1, required: false}
"""
ONE_SCORE = "  evaluators: [{type: llm_judge}]\n"
AGGREGATED = """\
  evaluators:
    - type: composite
      aggregator: {type: llm_judge}
      evaluators: [{type: code_judge, name: of_NAME, script: "true"}]
"""


def checks(*said: tuple[str, object]) -> str:
    entries = [{"id": name, "reasoning": f"Because of {name}.", "satisfied": met} for name, met in said]
    return json.dumps({"checks": entries, "overall_reasoning": ""})


def score(value: object) -> str:
    return json.dumps({"score": value, "reasoning": "It is so.", "hits": [], "misses": []})


BOTH, SHORT = ("both", True), ("short", True)


class Said(NamedTuple):
    evaluators: str
    answer: str
    score: float | None
    verdict: str
    told: str = ""  # in result.json and, of what went wrong, in the comment


SAID = {
    "optional": Said(CHECKS, checks(BOTH, ("short", False)), 0.75, "borderline", "Because of short."),
    "required": Said(CHECKS, checks(("both", False), SHORT), 0.25, "fail", "Because of both."),
    "omitted": Said(CHECKS, checks(SHORT), None, "not_measured", "the criterion `both` is missing"),
    "one": Said(ONE_SCORE, score(0.9), 0.9, "pass", "It is so."),
    "nothing": Said(ONE_SCORE, "{}", None, "not_measured", "it has no `score`"),
    "together": Said(AGGREGATED, score(0.6), 0.6, "borderline", "It is so."),
    "apart": Said(AGGREGATED, "Good.", None, "not_measured", "it is not JSON: Good."),
}


@pytest.fixture(scope="module")
def ran(shared_path: Path) -> Ran:
    """A pull request with a scenario for each answer; on both sides the model says the same."""
    repo = Repository(shared_path / "repo")
    scenario = FILES["scenarios/keep.yaml"]
    files = {name: text for name, text in FILES.items() if name != "scenarios/keep.yaml"}
    for name, said in SAID.items():
        scenario = re.sub(r"(?m)^task: .*", f"task: 'Path of_{name}: add.'", FILES["scenarios/keep.yaml"])
        evaluators = said.evaluators.replace("NAME", name)
        files[f"scenarios/{name}.yaml"] = scenario.replace("keep_notes", name) + evaluators
    repo.commit(files | {"tidegate.yaml": SUITE})
    repo.branch("other", {"AGENTS.md": FILES["AGENTS.md"] + "\nMore.\n"})

    def judge(body: dict[str, Any]) -> Step:
        name, *_ = re.findall(r"\bof_(\w+)", body["messages"][0]["content"])  # in the task, or among the results
        return Step(SAID[name].answer)

    with serving([]) as server:
        server.judge = judge
        env = {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
        return start(shared_path / "out", "pr", "--base", "main", cwd=repo.root, env=env)


@pytest.mark.parametrize("name", SAID)
def test_every_answer_has_its_state(name: str, ran: Ran) -> None:
    said = SAID[name]
    trials = [trial for trial in ran.result["trials"] if trial["scenario"] == name]
    for trial in trials:
        (found,) = trial["evaluators"]
        assert (found["score"], found["verdict"]) == (said.score, said.verdict)
        assert said.told in json.dumps(found, ensure_ascii=False)
        fails = said.verdict in ("fail", "borderline")
        assert trial["outcome"] == (None if said.score is None else "fail" if fails else "pass")
        assert trial["decides"] == "pass"  # by its gates
        assert trial["metrics"]["judge_score"] == said.score
    (cell,) = re.findall(rf"^\| (.*?) \| {name} × docs \|", ran.comment.replace("\u00a0", " "), re.MULTILINE)
    part = ran.comment.partition("Judged by a model")[2].partition("<sub>")[0]
    (line,) = (text for text in part.split("\n- ") if f"`{name}` × " in text)
    if said.score is None:
        assert cell.startswith("🟡 ok, judge: not measured: ")
        assert said.told in line.replace("\\", "")
    else:
        failed = said.verdict in ("fail", "borderline")
        assert cell == ("✅ ok, judge: 1 of 1 failed" if failed else "✅ ok")
        assert f"{said.score:.2f}" in line
        assert "🟡" not in line


def test_the_whole_is_neither_red_nor_plainly_green(ran: Ran) -> None:
    lost = sum(said.score is None for said in SAID.values())
    assert (ran.code, ran.result["judge"]["not_judged"]) == (0, 2 * lost)
    assert f"{lost} that the judge could not judge" in ran.comment.splitlines()[0]
