from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console, RenderableType

from tests.make import run, trial_result
from tidegate.model.evaluator import Judgement
from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import (
    AgentInfo,
    Call,
    EvaluatorResult,
    EvaluatorScore,
    GateResult,
    InvocationCounts,
    Metrics,
    Run,
    TrialResult,
)
from tidegate.model.revision import Revision
from tidegate.reports.show import run_overview, trial_story

TRIAL = trial_result(
    scenario="add_task",
    agent="claude",
    outcome="fail",
    reason="tasks.json does not exist",
    end="completed",
    metrics=Metrics(command_count=3, error_count=1, error_rate=1 / 3, duration_s=4.2, tokens_in=1200),
    gates=(
        GateResult(type="file_exists", label="file_exists: tasks.json", passed=False, message="it does not exist"),
        GateResult(type="command_succeeds", label="it lists", passed=True, required=False, message="exit 0"),
    ),
    calls=(
        Call(command="taskmgr --help", exit_code=0, status="ok"),
        Call(command="taskmgr add x", exit_code=2, status="error", message="no such command"),
        Call(command="taskmgr add 7", exit_code=0, status="ok"),
    ),
    warnings=("a line of the stream was skipped",),
)
EVENTS: tuple[Event, ...] = (
    Message(text="I look at the help first."),
    ToolCall(id="1", at=0.5, tool="shell", command="cd x && taskmgr --help | head -1"),
    ToolResult(id="1", status="ok", exit_code=0, output="\n".join(f"help {n}" for n in range(20))),
    ToolCall(id="2", at=1.5, tool="shell", command="taskmgr add x"),
    ToolResult(id="2", status="error", exit_code=2, output="no such command\x1b[2J"),
    ToolCall(id="3", at=2.0, tool="shell", command="for n in 7; do taskmgr add $n; done"),
    ToolResult(id="3", status="unknown"),
    ToolCall(id="4", at=2.5, tool="read_file", input={"path": "a.txt"}),
    ApiRetry(text="529 overloaded"),
    Warning(text="an odd line"),
    End(at=4.2, end="completed"),
)


def text_of(renderable: RenderableType, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def story(trial: TrialResult = TRIAL, events: Sequence[Event] = EVENTS) -> list[str]:
    return text_of(trial_story(trial, events))


def test_the_story_goes_from_the_first_word_to_the_gates() -> None:
    lines = story()
    order = [
        "✗ fail: tasks.json does not exist",
        "          agent says:",
        "            I look at the help first.",
        "    0.5s  $ cd x && taskmgr --help | head -1",
        "          → exit 0",
        "            help 0",
        "    1.5s  $ taskmgr add x",
        "          → exit 2",
        '    2.5s  read_file {"path": "a.txt"}',
        "          the model was asked again: 529 overloaded",
        "          warning: an odd line",
        "    4.2s  the agent ended: completed",
        "  ✗ file_exists: tasks.json",
        "      it does not exist",
        "  ✓ it lists (not required)",
    ]
    places = [lines.index(line) for line in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ('taskmgr add "a b"', "taskmgr add 'a b'"),
        ("taskmgr list 2>&1 | tail -3", "taskmgr list"),
        ("(cd x; taskmgr list) > out", "taskmgr list"),
        ("taskmgr 'never closed", "taskmgr 'never closed"),
    ],
)
def test_a_call_is_known_however_the_command_quotes_it(command: str, call: str) -> None:
    trial = TRIAL.model_copy(update={"calls": (Call(command=call, exit_code=0, status="ok"),)})
    lines = story(trial, (ToolCall(id="1", tool="shell", command=command),))
    assert not any("calls of the target" in line for line in lines)


def test_calls_that_no_command_names_are_shown_too() -> None:
    lines = story()
    assert lines[lines.index("more calls of the target:") + 1] == "          ✓ taskmgr add 7: ok (exit 0)"


def test_every_call_is_shown_once() -> None:
    for events in (EVENTS, ()):
        text = "\n".join(story(events=events))
        assert [text.count(f"{call.command}: {call.status}") for call in TRIAL.calls] == [1, 1, 1]


def test_long_output_says_how_much_is_missing() -> None:
    lines = story()
    at = lines.index("            … 12 lines left out …")
    assert [line.strip() for line in lines[at - 4 : at + 5 : 4]] == ["help 0", "… 12 lines left out …", "help 19"]


def test_no_output_can_steer_the_terminal() -> None:
    assert "\x1b" not in "".join(story())


def test_a_trial_that_was_not_measured_has_no_numbers() -> None:
    lost = TRIAL.model_copy(
        update={"outcome": None, "decides": None, "not_measured": "outage", "end": "outage", "reason": "529"}
    )
    text = "\n".join(text_of(trial_story(lost, ())))
    assert "– not measured: 529" in text
    assert "rate" not in text
    assert "time" not in text


def run_of(*trials: TrialResult, build_error: str | None = None) -> Run:
    return run(
        *trials,
        revision=Revision(sha="b82d07e4c9f3a1560e7d8c9bab1a2f3e4d5c6b7a", ref="HEAD", dirty=True),
        agents={"claude": AgentInfo(type="claude-code", model="haiku", version=None)},
        build_error=build_error,
        seconds=61,
    )


def test_the_overview_has_a_line_for_each_trial() -> None:
    unmeasured = {"outcome": None, "decides": None, "not_measured": "outage", "end": "outage", "reason": "529"}
    lost = TRIAL.model_copy(update={**unmeasured, "metrics": Metrics()})
    lines = text_of(run_overview(run_of(TRIAL, lost)))
    assert lines[0] == "head: HEAD b82d07e4c9f3 with uncommitted changes"
    assert lines[1] == "2 trials in 1 min 1 s · agents: claude (claude-code haiku)"
    assert " ".join(lines[4].split()) == "✗ fail add_task claude 1 3 1 4.2 s"
    assert " ".join(lines[5].split()) == "– not measured add_task claude 1 – – –"
    assert lines[6:12] == [
        "",
        "add_task × claude #1:",
        "  tasks.json does not exist",
        "",
        "add_task × claude #1:",
        "  529",
    ]


def test_the_overview_shows_why_a_build_failed() -> None:
    lines = text_of(run_overview(run_of(build_error="exit 1\nno compiler")))
    assert lines[2:5] == ["the build failed:", "  exit 1", "  no compiler"]


def test_calls_with_an_unknown_end_are_counted() -> None:
    counts = InvocationCounts(not_counted={"unknown": 2})
    lines = story(TRIAL.model_copy(update={"invocations": counts}))
    assert "not counted: unknown 2" in lines


def test_what_is_not_known_is_not_shown_as_0() -> None:
    unknown = Metrics(command_count=None, error_count=None, help_count=None, completed=None)
    lines = story(TRIAL.model_copy(update={"metrics": unknown}))
    assert any(line.startswith("command count – · error rate –") for line in lines)
    assert any(line.endswith("help count – · completed –") for line in " ".join(lines).split(" time ")), lines


def test_the_judge_s_confidence_issues_and_highlights_are_shown() -> None:
    judgement = Judgement(confidence=0.85, issues=("It looked at the help twice.",), highlights=("Short commands.",))
    judge = JudgeResult(pass_threshold=0.83, weighted_score=0.825, judgement=judgement)
    metrics = TRIAL.metrics.model_copy(update={"judge_score": 0.825})
    lines = story(TRIAL.model_copy(update={"judge": judge, "metrics": metrics}))
    at = lines.index("judge: 0.825")
    assert lines[at + 1 : at + 4] == [
        "  confidence 0.85",
        "  issue: It looked at the help twice.",
        "  highlight: Short commands.",
    ]


def test_evaluators_are_listed_with_what_was_hit_and_missed() -> None:
    moon = EvaluatorScore(name="moon", type="code_judge", score=0.5, verdict="fail", hits=("sun",), misses=("moon",))
    way = EvaluatorScore(
        name="way", type="plan", score=1, verdict="pass", metrics={"plan_adherence": 0.5}, reason="planned it"
    )
    both = EvaluatorResult(name="both", type="composite", score=0.75, verdict="borderline", members=(moon, way))
    scored = TRIAL.model_copy(update={"evaluators": (both,)})
    lines = [line.strip() for line in text_of(trial_story(scored, ()))]
    start = lines.index("evaluators:") + 1
    assert lines[start : start + 6] == [
        "both 0.75 borderline",
        "moon 0.50 fail",
        "hit: sun",
        "miss: moon",
        "way 1.00 pass, plan adherence 0.50",
        "planned it",
    ]


def test_a_trial_that_only_the_judge_fails_says_so() -> None:
    said = JudgeResult(rubric="r.yaml", pass_threshold=0.7, weighted_score=0.4, passed=False, reason="below")
    trial = TRIAL.model_copy(update={"decides": "pass", "outcome": "fail", "reason": "judge 0.40", "judge": said})
    assert "✓ pass (judge failed): judge 0.40" in text_of(trial_story(trial, ()))
    assert text_of(run_overview(run_of(trial)))[4].startswith("✓ pass (judge failed)")


def test_a_run_says_what_likely_caused_its_errors() -> None:
    """The seed's pattern: a high error rate and few calls for help are wrong examples in the docs."""
    trial = TRIAL.model_copy(update={"metrics": Metrics(error_rate=0.5, help_count=0)})
    lines = text_of(run_overview(run_of(trial)), width=200)
    assert (
        "  add_task × claude: error rate 50%, calls for help 0: the agent guesses wrong syntax: check the examples in "
        "the docs"
    ) in lines
    assert lines[lines.index("likely causes:") - 1] == ""
