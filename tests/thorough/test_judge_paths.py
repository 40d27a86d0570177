"""Every kind of answer of a model, from the wire to `result.json` and the comment."""

from __future__ import annotations

import json
import pathlib
import re
from collections import Counter
from typing import Any, NamedTuple

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, start
from tests.journeys.test_judges import JUDGED, SCENARIO
from tests.model_server import Fault, Step, serving
from tests.packed import page_data

GOOD = [("complete", 0.85), ("clear", 0.90), ("direct", 0.70)]
SOON = {"retry-after-ms": "1"}
SUITE = (
    FILES["tidegate.yaml"]
    + """\
judge: {type: anthropic, model: claude-sonnet-4-6}
prices: {claude-sonnet-4-6: {input: 3, output: 15}}
"""
)


def said(*scores: tuple[str, object], **more: object) -> Step:
    """The answer of a model that keeps to the form."""
    entries = [{"id": name, "reason": f"Because of {name}.", "score": score} for name, score in scores]
    return Step(json.dumps({"scores": entries, "confidence": 0.8, "issues": [], "highlights": []} | more))


class Path(NamedTuple):
    answers: tuple[Step | Fault, ...]  # to one question after another; the last one stays
    calls: int = 1  # that the question takes
    why: str = ""  # it could not be judged


PATHS = {
    "good": Path((said(*GOOD, weighted_score=0.2),)),
    "prose": Path((Step("Very good work!"),), 3, "it is not JSON: Very good work!"),
    "mended": Path((Step("{"), said(*GOOD)), 2),
    "refusal": Path((Step("No.", stop="refusal"),), 3, "the model refused to answer"),
    "cut": Path((Step('{"scores"', stop="max_tokens"),), 3, "it was cut off"),
    "busy": Path((Fault(429, "rate_limit_error", SOON), said(*GOOD)), 2),
    "outage": Path((Fault(529, "overloaded_error", SOON),), 3, "HTTP 529, overloaded_error: scripted 529"),
    "key": Path((Fault(401, "authentication_error"),), 1, "HTTP 401, authentication_error: scripted 401"),
}


class Model:
    """Plays each scenario's path; `asked` counts its calls. The scenario is told by its task."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Step | Fault:
        (name,) = re.findall(r"Path (\w+):", body["messages"][0]["content"])
        self.asked[name] += 1
        answers = PATHS[name].answers
        return answers[min(self.asked[name], len(answers)) - 1]


class Ran(NamedTuple):
    first: Any
    second: Any
    asked: Counter[str]
    asked_again: Counter[str]
    bodies: list[dict[str, Any]]


@pytest.fixture(scope="module")
def ran(shared_path: pathlib.Path) -> Ran:
    """The same pull request twice: all paths, each as a scenario of its own."""
    folder = shared_path
    repo = Repository(folder / "repo")
    files = {name: text for name, text in JUDGED.items() if name != "scenarios/keep.yaml"}
    for name in PATHS:
        text = SCENARIO.replace("keep_notes", name).replace("task: Add two", f"task: 'Path {name}': add two")
        files[f"scenarios/{name}.yaml"] = re.sub(r"task: '(.*?)'(.*)", r"task: '\1\2'", text)
    repo.commit(files | {"tidegate.yaml": SUITE})
    repo.branch("one", {"AGENTS.md": FILES["AGENTS.md"] + "\nOne.\n"})
    with serving([]) as server:
        runs, counts = [], []
        for name in ("first", "second"):
            server.judge = model = Model()
            env = {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
            runs.append(start(folder / name, "pr", "--base", "main", "--head", "one", cwd=repo.root, env=env))
            counts.append(model.asked)
        return Ran(runs[0], runs[1], counts[0], counts[1], [body for _, body, _ in server.requests])


def page_row(ran: Any, name: str) -> dict[str, Any]:
    """The row as report.html shows it."""
    data = page_data((ran.out / "report.html").read_text())
    return next(row for row in data["rows"] if row["scenario"] == name)


@pytest.mark.parametrize("name", PATHS)
def test_every_answer_has_its_state(name: str, ran: Ran) -> None:
    path = PATHS[name]
    trials = [trial for trial in ran.first.result["trials"] if trial["scenario"] == name]
    first, second = (trial["judge"] for trial in trials)
    assert first == second  # equal trials of both sides share one answer
    part = ran.first.comment.partition("Judged by a model")[2].partition("<sub>")[0]
    line = next((text for text in part.split("\n- ") if f"`{name}` × " in text), "")
    if path.why:
        assert path.why in first["reason"]
        cause = "judge" if name in ("outage", "key") else "unreadable_judge"
        assert (first["weighted_score"], first["passed"], first["not_measured"]) == (None, None, cause)
        assert {(trial["outcome"], trial["decides"]) for trial in trials} == {(None, "pass")}  # by its gate
        assert "🟡 judge: not measured: 1 trial on head: " in line
        (cell,) = re.findall(rf"^\| (.*?) \| {name} × docs \|", ran.first.comment, re.MULTILINE)
        assert cell.replace("\u00a0", " ").startswith("🟡 ok, judge: not measured: ")
        assert "✅" not in cell
        shown = page_row(ran.first, name)
        assert (shown["badge"], shown["words"]) == ("not_measured", "ok, judge: not measured")
        assert path.why in shown["judge"]["head"]["reason"]
    else:
        assert page_row(ran.first, name)["badge"] == "ok"
        assert first["weighted_score"] == pytest.approx(0.825)
        assert first["judgement"]["model"] == "claude-sonnet-4-6"
        assert first["judgement"]["criteria"][0]["reason"] == "Because of complete."
        assert {trial["outcome"] for trial in trials} == {"pass"}
        assert "0.82" in line
        assert "🟡" not in line


def test_what_could_not_be_judged_is_said_in_the_first_line(ran: Ran) -> None:
    lost = sum(bool(path.why) for path in PATHS.values())
    assert ran.first.code == 0
    assert f"{lost} that the judge could not judge" in ran.first.comment.splitlines()[0]
    assert ran.first.result["judge"]["not_judged"] == 2 * lost


def test_each_question_is_asked_once_and_a_second_run_asks_only_what_had_no_answer(ran: Ran) -> None:
    once = {name: path.calls for name, path in PATHS.items() if name not in ("outage", "key")}
    assert {name: count for name, count in ran.asked.items() if name in once} == once
    assert set(ran.asked_again) == {name for name, path in PATHS.items() if path.why}
    assert ran.second.result["judge"]["cached"] > 0


def test_the_judge_is_held_to_a_form_and_does_not_know_whom_it_judges(ran: Ran) -> None:
    body = ran.bodies[0]
    form = body["output_config"]["format"]["schema"]["properties"]["scores"]["items"]["properties"]
    assert list(form) == ["id", "reason", "score"]
    prompt = body["messages"][0]["content"]
    assert not re.search(r"\b(docs|base|head)/|doc-follower|/trials/|tidegate-", prompt)


def test_the_cost_is_that_of_the_models_price(ran: Ran) -> None:
    judge = ran.first.result["judge"]
    answered = judge["calls"] - sum(count for name, count in ran.asked.items() if name in ("outage", "key"))
    assert judge["usd"] > 0
    assert judge["tokens_out"] % 20 == 0
    assert answered <= sum(ran.asked.values())
