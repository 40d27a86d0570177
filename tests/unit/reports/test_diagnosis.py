from __future__ import annotations

import pytest

from tests import make
from tidegate.model.comparison import HeadCounts, MetricChange, Row
from tidegate.model.event import CallStatus
from tidegate.model.measurement import AgentInfo, Call, SubcommandCounts, TrialResult
from tidegate.model.suite import Diagnosis, RowState
from tidegate.model.trial_spec import Side
from tidegate.reports.diagnosis import diagnose

Numbers = tuple[float | None, float | None]


def row(state: RowState, metrics: dict[str, Numbers]) -> Row:
    changes = {name: MetricChange(base=base, head=head) for name, (base, head) in metrics.items()}
    return make.row(state, (3, 3), (3, 3), metrics=changes)


def says(state: RowState, **metrics: Numbers) -> list[str]:
    return [found.says for found in diagnose([row(state, metrics)], [])]


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"error_rate": (0.0, 0.5), "help_count": (0, 0)}, "check the examples in the docs"),
        ({"error_rate": (0.0, 0.5), "help_count": (0, 3)}, "the help text is not enough"),
        ({"error_rate": (0.0, 0.0), "help_count": (0, 3)}, "the docs leave out what the help text explains"),
        ({"first_try_success_rate": (0.9, 0.4)}, "the docs or the CLI are confusing"),
        ({"step_efficiency": (0.9, 0.4)}, "poor planning"),
        ({"command_count": (4, 6), "completed": (1, 1)}, "but not the workflow"),
    ],
)
def test_a_row_that_got_worse_is_diagnosed(metrics: dict[str, Numbers], words: str) -> None:
    (found,) = says("ok", **metrics)
    assert words in found


@pytest.mark.parametrize(
    "metrics",
    [
        {"error_rate": (0.5, 0.5), "help_count": (0, 0)},
        {"error_rate": (0.0, 0.2), "help_count": (0, 1)},
        {"error_rate": (None, None), "help_count": (0, 5)},
        {"first_try_success_rate": (0.4, 0.4)},
        {"command_count": (4, 5), "completed": (1, 1)},
        {"command_count": (4, 9), "completed": (1, 0.5)},
        {},
    ],
)
def test_what_base_does_too_or_what_is_small_is_no_news(metrics: dict[str, Numbers]) -> None:
    assert says("ok", **metrics) == []


def test_where_errors_are_many_they_are_why_the_commands_are() -> None:
    (found,) = says("ok", error_rate=(0.0, 0.5), help_count=(0, 0), command_count=(3, 7), completed=(1, 1))
    assert "check the examples" in found


def test_where_not_even_help_can_be_had_the_target_is_to_blame() -> None:
    (found,) = says("regressed", error_rate=(0.0, 1.0), help_count=(0, 3), retry_rate=(0.0, 0.5))
    assert "the tool itself seems broken" in found
    assert "broken" not in "".join(says("regressed", error_rate=(0.0, 1.0), help_count=(0, 0)))
    assert "broken" not in "".join(says("regressed", error_rate=(1.0, 1.0), help_count=(0, 3)))


def test_retries_name_the_subcommand_that_was_repeated_most() -> None:
    counts = {"list": SubcommandCounts(count=2, retries=1), "add": SubcommandCounts(count=5, retries=3)}
    trial = make.trial_result(subcommands=counts)
    (found,) = diagnose([row("ok", {"retry_rate": (0.0, 0.5)})], [trial])
    assert found.about == "add"
    assert found.numbers == "retry rate 0% → 50%"


def test_a_row_without_measured_trials_says_nothing() -> None:
    unmeasured = row("regressed", {"error_rate": (0.5, 0.5)}).model_copy(update={"head": HeadCounts()})
    assert list(diagnose([unmeasured], [])) == []


def test_the_suites_own_thresholds_count() -> None:
    worse = row("ok", {"error_rate": (0.0, 0.25), "help_count": (0, 0)})
    assert list(diagnose([worse], [])) == []
    (found,) = diagnose([worse], [], Diagnosis(error_rate=0.2))
    assert "check the examples in the docs" in found.says


def told(side: Side, *calls: tuple[str, CallStatus, str]) -> TrialResult:
    return make.trial_result(
        side=side,
        calls=tuple(Call(command=command, status=status, message=message) for command, status, message in calls),
    )


OFTEN_HELP = {"error_rate": (0.0, 0.5), "help_count": (0.0, 3.0)}
TAKEN = told("base", ("tool add --priority high x", "ok", ""))
ADD = "tool add --priority high x"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("claude-code", ["the help text is not enough", "one subcommand is retried"]),
        ("doc-follower", []),
        ("scripted", []),
    ],
)
def test_how_it_reacted_is_said_only_of_an_agent_that_does(kind: str, words: list[str]) -> None:
    head = told("head", (ADD, "error", "no title")).model_copy(
        update={"subcommands": {"add": SubcommandCounts(count=2, retries=1)}}
    )
    numbers: dict[str, Numbers] = {**OFTEN_HELP, "retry_rate": (0.0, 0.5)}
    found = list(diagnose([row("regressed", numbers)], [TAKEN, head], agents={"a": AgentInfo(type=kind)}))
    assert len(found) == len(words)
    assert all(start in one.says for start, one in zip(words, found, strict=True))
    helped = row("ok", {"error_rate": (0, 0), "help_count": (0, 3)})
    assert len(list(diagnose([helped], [], agents={"a": AgentInfo(type=kind)}))) == (kind == "claude-code")
