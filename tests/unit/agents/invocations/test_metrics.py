"""Definitions, examples and laws of the interaction metrics."""

from __future__ import annotations

import random
import shlex
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tidegate.agents.invocations.metrics import (
    cost_of,
    interaction_metrics,
    invocation_counts,
    is_help,
    subcommand,
    subcommand_counts,
    trial_metrics,
)
from tidegate.model.event import COUNTED, CallStatus, End, Event, Invocation, ToolCall
from tidegate.model.measurement import InvocationCounts, Metrics, SubcommandCounts
from tidegate.model.prices import Price
from tidegate.model.trial import Trial

RATES = ("error_rate", "retry_rate", "retry_after_failure_rate", "first_try_success_rate", "iteration_ratio")


def calls(text: str) -> tuple[Invocation, ...]:
    """Invocations in short: `add a✗ add a✓ list?`, where ? is an unknown end and ⌛ a timeout."""
    statuses: dict[str, CallStatus] = {"✓": "ok", "✗": "error", "⌛": "timeout", "?": "unknown"}
    found: list[Invocation] = []
    words: list[str] = []
    for word in text.split():
        words.append(word.rstrip("".join(statuses)))
        if word[-1] in statuses:
            argv = tuple(words)
            name = subcommand("taskmgr", argv, None)
            found.append(Invocation(argv=argv, subcommand=name, status=statuses[word[-1]], started_at=len(found)))
            words = []
    return tuple(found)


invocations = st.lists(
    st.builds(
        lambda argv, status, source: Invocation(
            argv=argv, subcommand=subcommand("t", argv, None), status=status, source=source, started_at=0
        ),
        st.lists(st.sampled_from(["add", "list", "a", "--help", "-x"]), max_size=2).map(tuple),
        st.sampled_from(get_args(CallStatus)),
        st.sampled_from(["recorder", "events"]),
    ),
    max_size=15,
).map(lambda found: tuple(call.model_copy(update={"started_at": float(at)}) for at, call in enumerate(found)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (0, 0, None, None, None, None, None)),
        ("add a✗", (1, 1, 1, 0, 0, 1, 0)),
        ("add a✓ add b✓ add c✓", (3, 3, 0, 0, 1, 1, 0)),
        ("add a✗ add a✓ list✓", (3, 2, 1 / 3, 1 / 3, 1 / 2, 2 / 3, 1 / 3)),
        ("add✗ --help✓ add a✓ list✓ list✓", (5, 4, 1 / 5, 1 / 5, 3 / 4, 4 / 5, 1 / 5)),
    ],
)
def test_the_vectors_of_the_design(text: str, expected: tuple[float | None, ...]) -> None:
    m = interaction_metrics(calls(text))
    assert (
        m.command_count,
        m.unique_commands,
        m.error_rate,
        m.retry_rate,
        m.first_try_success_rate,
        m.iteration_ratio,
        m.retry_after_failure_rate,
    ) == expected


def test_a_timeout_is_an_error() -> None:
    assert interaction_metrics(calls("add a⌛ list✓")).error_count == 1


def test_calls_without_a_subcommand_are_no_retries_of_each_other() -> None:
    assert interaction_metrics(calls("--x✗ --y✗ --x✓")).retry_after_failure_rate == 0


def test_only_the_latest_earlier_call_of_the_subcommand_makes_a_retry_after_failure() -> None:
    assert interaction_metrics(calls("add a✗ add b✓ add c✓")).retry_after_failure_rate == pytest.approx(1 / 3)


def test_what_did_not_end_for_certain_is_not_counted_but_reported() -> None:
    seen = calls("add a✓ add b? list✗ list?")
    assert interaction_metrics(seen).command_count == 2
    assert invocation_counts(seen) == InvocationCounts(recorder=4, not_counted={"unknown": 2}, uses=4)


def test_help_versions_and_what_was_denied_are_no_uses() -> None:
    informing = calls("add --help✓ help✓ --version✓ version✓ -V✓")
    denied = calls("add a✓")[0].model_copy(update={"status": "denied"})
    assert invocation_counts([*informing, denied]).uses == 0
    assert invocation_counts(calls("add a✗ --version --all✓")).uses == 2


def test_counts_of_each_subcommand() -> None:
    assert subcommand_counts(calls("add✗ --help✓ add --help✓ add a✓ list✓ list✗")) == {
        "add": SubcommandCounts(count=3, errors=1, retries=0, help=1),
        "list": SubcommandCounts(count=2, errors=1, retries=1, help=0),
    }


@given(invocations)
def test_rates_lie_between_0_and_1_and_are_none_exactly_without_counted_calls(seen: tuple[Invocation, ...]) -> None:
    m = interaction_metrics(seen)
    rates = [getattr(m, name) for name in RATES]
    if not m.command_count:
        assert rates == [None] * len(RATES)
    else:
        assert all(0 <= rate <= 1 for rate in rates)


@given(invocations)
def test_every_counted_call_is_a_first_one_or_a_retry(seen: tuple[Invocation, ...]) -> None:
    m = interaction_metrics(seen)
    assert (m.command_count or 0) == (m.unique_commands or 0) + (m.retry_count or 0)
    assert (m.command_count or 0) == sum(call.status in COUNTED for call in seen)
    if m.iteration_ratio is not None and m.retry_rate is not None:
        assert m.iteration_ratio + m.retry_rate == pytest.approx(1)


@given(invocations, st.randoms(use_true_random=False))
def test_the_order_of_the_record_is_the_order_of_time(seen: tuple[Invocation, ...], rng: random.Random) -> None:
    shuffled = rng.sample(seen, len(seen))
    assert interaction_metrics(shuffled) == interaction_metrics(seen)
    assert subcommand_counts(shuffled) == subcommand_counts(seen)


@given(invocations, st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order_at_all(seen: tuple[Invocation, ...], rng: random.Random) -> None:
    times = rng.sample(range(len(seen)), len(seen))
    moved = [call.model_copy(update={"started_at": float(at)}) for at, call in zip(times, seen, strict=True)]
    ordered = {"retry_after_failure_rate", "first_try_success_rate"}
    assert interaction_metrics(moved).model_dump(exclude=ordered) == interaction_metrics(seen).model_dump(
        exclude=ordered
    )


@given(invocations)
def test_subcommands_add_up(seen: tuple[Invocation, ...]) -> None:
    named = [call for call in seen if call.subcommand is not None]
    m = interaction_metrics(named)
    parts = subcommand_counts(seen).values()
    assert sum(part.count for part in parts) == (m.command_count or 0)
    assert sum(part.errors for part in parts) == (m.error_count or 0)
    assert sum(part.retries for part in parts) == (m.retry_count or 0)
    assert sum(part.help for part in parts) == (m.help_count or 0)


@given(invocations)
def test_every_invocation_is_seen_somewhere(seen: tuple[Invocation, ...]) -> None:
    counts = invocation_counts(seen)
    assert counts.recorder + counts.events == len(seen)
    assert counts.not_counted is not None
    assert len(seen) - sum(counts.not_counted.values()) == (interaction_metrics(seen).command_count or 0)


def test_counts_are_unknown_if_the_calls_are_not_known() -> None:
    """An imported log may not say how often the tool was called."""
    m = interaction_metrics((), known=False)
    assert (m.command_count, m.error_count, m.help_count, m.error_rate) == (None, None, None, None)
    assert invocation_counts((), known=False).not_counted is None
    assert interaction_metrics(()).command_count == 0


def test_counts_are_unknown_if_no_call_s_end_is_known() -> None:
    unclear = Invocation(argv=("add",), status="unknown", started_at=0.0, source="events")
    assert interaction_metrics((unclear,)).command_count is None
    assert invocation_counts((unclear,)).not_counted == {"unknown": 1}
    ended = unclear.model_copy(update={"status": "ok"})
    assert interaction_metrics((unclear, ended)).command_count == 1


def trial(end: str | None = "completed", events: tuple[Event, ...] = (), seen: tuple[Invocation, ...] = ()) -> Trial:
    return make.trial(end=end, events=events, invocations=seen, duration_s=1.5)


def test_what_the_agent_reports_is_taken_over_and_nothing_else_is_invented() -> None:
    end = End(end="completed", turns=3, tokens_in=0, cost_usd=0.25)
    metrics = trial_metrics(trial(events=(end,), seen=calls("add a✓")), None)
    assert metrics == interaction_metrics(calls("add a✓")).model_copy(
        update={"completed": True, "turns": 3, "tokens_in": 0, "cost_usd": 0.25, "duration_s": 1.5}
    )


def test_nothing_is_reported_by_an_agent_that_never_ended() -> None:
    assert trial_metrics(trial(), None) == Metrics(duration_s=1.5)


@pytest.mark.parametrize(
    ("trial_end", "agent_end", "completed"),
    [
        ("completed", "completed", True),
        ("timeout", "completed", False),
        ("crashed", "completed", False),
        ("completed", "max_turns", False),
        (None, "completed", None),  # it never started
    ],
)
def test_completed_means_by_itself_and_without_error(
    trial_end: str | None, agent_end: str, completed: bool | None
) -> None:
    assert trial_metrics(trial(trial_end, (End(end=agent_end),)), None).completed is completed


def test_step_efficiency_is_the_minimum_over_the_tool_calls() -> None:
    steps = tuple(ToolCall(id=str(number), tool="bash") for number in range(4))
    assert trial_metrics(trial(events=steps), 3).step_efficiency == 0.75
    assert trial_metrics(trial(events=steps), None).step_efficiency is None
    assert trial_metrics(trial(), 3).step_efficiency is None


def test_the_cost_is_the_agents_own_else_tokens_times_rates_else_none() -> None:
    price = Price(input=1.0, output=10.0, cache_read=0.1, cache_write=2.0)
    used = End(
        end="completed", tokens_in=1_000_000, tokens_out=100_000, tokens_cache_read=400_000, tokens_cache_write=100_000
    )

    def cost(end: End, price: Price | None) -> float | None:
        return trial_metrics(trial(end.end, (end,)), None, price).cost_usd

    assert cost(used, price) == pytest.approx(0.5 * 1 + 0.4 * 0.1 + 0.1 * 2 + 0.1 * 10)
    assert cost(used.model_copy(update={"cost_usd": 0.25}), price) == 0.25
    assert cost(used, None) is None
    assert cost(End(end="completed"), price) is None


def test_an_agents_own_cost_without_a_cut_off_answer_is_replaced_by_that_of_all_tokens() -> None:
    """The agent does not know of answers that broke off; the model proxy counts their tokens."""
    price = Price(input=1, output=10)
    end = End(end="completed", tokens_in=500_000, tokens_out=10_000, cost_usd=0.25, tokens_guessed=True)

    assert cost_of(end, price) == pytest.approx(0.5 + 0.1)
    assert cost_of(end, None) == 0.25
    assert cost_of(end.model_copy(update={"cost_usd": 0.75}), price) == 0.75


def test_calls_that_only_the_agents_log_has_are_a_count_of_their_own() -> None:
    seen = Invocation(argv=("list",), status="ok", started_at=1.0)
    counts = invocation_counts([seen, seen.model_copy(update={"source": "events", "status": "unknown"})])
    assert (counts.recorder, counts.events, counts.unseen_by_recorder) == (1, 1, 1)


# --- which subcommand a call names, and which calls ask for help

PATTERN = r"taskmgr\s+(\S+)"


@pytest.mark.parametrize(
    ("argv", "pattern", "expected"),
    [
        (["add", "a"], PATTERN, "add"),
        (["--json", "list"], PATTERN, "--json"),
        (["--json", "list"], None, "list"),
        (["--json", "list"], r"taskmgr\s+\S+", "list"),
        (["--json", "list"], r"othertool\s+(\S+)", "list"),
        (["list"], r"taskmgr(?:\s+(--\S+))?", "list"),
        (["--version"], None, None),
        ([], PATTERN, None),
        (["", "-", "x"], None, "x"),
        (["create note"], r"taskmgr\s+'(\w+) note'", "create"),
    ],
)
def test_subcommand(argv: list[str], pattern: str | None, expected: str | None) -> None:
    """The first group on the quoted command line; without group or match, the first argument that is not an option."""
    assert subcommand("taskmgr", argv, pattern) == expected


@given(st.lists(st.text(max_size=5), max_size=4), st.sampled_from([None, PATTERN, r"(x)?"]))
def test_a_subcommand_is_never_empty(argv: list[str], pattern: str | None) -> None:
    assert subcommand("taskmgr", argv, pattern) != ""


@pytest.mark.parametrize("line", ["--help", "add --help", "add x -h", "help", "help add"])
def test_calls_for_help(line: str) -> None:
    assert is_help(shlex.split(line))


@pytest.mark.parametrize("line", ["", "add help", "--helpful", "-help"])
def test_calls_that_are_not_for_help(line: str) -> None:
    assert not is_help(shlex.split(line))
