"""Two runs compared: rows, counts, estimates and evidence.

A line is a row with the trials of both sides: P pass, F fail, S setup fails, X infrastructure; `|` begins the confirm
phase.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tidegate.decide.comparison.compare import compare
from tidegate.decide.procedure.detection import Screening, detection, weakness
from tidegate.decide.statistics.e_process import Pairs, e_of_drop
from tidegate.decide.statistics.rates import newcombe
from tidegate.model.comparison import Comparison, DefinitionChange, FailedCall, GateCounts, Row
from tidegate.model.measurement import Call, GateResult, Metrics, Outcome, PastTrial, Run, TrialResult
from tidegate.model.revision import Revision
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial_spec import NotMeasured, Phase, Side, TrialSpec
from tidegate.reports.notes_text import notes_text

NOT_MEASURED: dict[str, NotMeasured] = {"S": "setup", "X": "infrastructure", "$": "budget"}
OUTCOMES: dict[str, Outcome] = {"P": "pass", "F": "fail"}
LIST = Call(command="taskmgr list", exit_code=0, status="ok")
ADD = Call(command="taskmgr add a --prio 1", exit_code=0, status="ok")
BROKEN = ADD.model_copy(update={"exit_code": 2, "status": "error", "message": "unknown option --prio\nusage: …"})


def run(side: Side, *lines: str, sha: str = "c0ffee" * 7, **more: Any) -> Run:
    rows: list[RunRow] = []
    trials: list[TrialResult] = []
    for line in lines:
        name, *words = line.split()
        letters = dict(word.split(":", 1) for word in words if ":" in word)
        rows.append(
            RunRow(
                scenario=name,
                agent=letters.get("agent", "docs"),
                deterministic="det" in words,
                definition=letters.get("definition", "one"),
                trials=TrialCounts(max=int(letters["max"]) if "max" in letters else None),
                presence="added" if "added" in words else "removed" if "removed" in words else "both",
            )
        )
        trials += trials_of(rows[-1], side, letters.get(side, ""))
    return make.run(*trials, **{"side": side, "revision": Revision(sha=sha, ref=side), "rows": rows, **more})


def trials_of(row: RunRow, side: Side, letters: str) -> list[TrialResult]:
    phase: Phase = "screen"
    trials: list[TrialResult] = []
    index = 0
    for letter in letters:
        if letter == "|":
            phase, index = "confirm", 3 if trials else 0  # the first three are the screening's, if the side has one
            continue
        index += 1
        spec = TrialSpec(side=side, scenario=row.scenario, agent=row.agent, index=index, phase=phase)
        trials.append(trial(spec, letter))
    return trials


def trial(spec: TrialSpec, letter: str) -> TrialResult:
    outcome = OUTCOMES.get(letter)
    fields: dict[str, Any] = {
        **spec.model_dump(),
        "outcome": outcome,
        "reason": f"because of {letter}",
        "not_measured": NOT_MEASURED.get(letter),
    }
    if outcome is not None:
        passed = outcome == "pass"
        fields |= {
            "metrics": Metrics(command_count=2, error_rate=0.0 if passed else 0.5, completed=passed),
            "gates": (
                GateResult(type="file_exists", label="hint", passed=False, required=False, message="never mind"),
                GateResult(
                    type="file_exists", label="out.json", passed=passed, message="found" if passed else "missing"
                ),
            ),
            "calls": (LIST, ADD) if passed else (LIST, BROKEN, LIST),
        }
    return make.trial_result(**fields)


def compared(*lines: str, **more: Any) -> Comparison:
    return compare(run("base", *lines), run("head", *lines), **more)


def only(line: str) -> Row:
    (row,) = compared(line).rows
    return row


REGRESSED = "create_and_link det base:P|P head:F|FF"


def test_counts_tell_the_phases_apart() -> None:
    row = only("docs base:PPX|F head:PSF|FP")
    assert (row.base.passes, row.base.trials, row.base.not_measured) == (2, 3, 1)
    assert (row.base.history, row.base.screen, row.base.fresh) == ((0, 0), (2, 2), (0, 1))
    assert (row.head.passes, row.head.trials, row.head.not_measured) == (2, 4, 1)
    assert (row.head.screen, row.head.confirm) == ((1, 2), (1, 2))


def test_rates_and_their_difference_have_intervals() -> None:
    (row,) = compared("docs base:PPP head:FFF", stored=True).rows
    assert row.base.interval == pytest.approx((0.43850296824495444, 1))
    assert row.head.interval == pytest.approx((0, 0.5614970317550455))
    assert row.effect is not None
    assert row.effect.difference == -1
    assert row.effect.interval == pytest.approx((-1, -0.2059232824597782))
    assert row.effect.p == pytest.approx(0.05)
    assert row.effect.level == 0.02


def test_without_trials_there_is_no_rate_and_no_effect() -> None:
    row = only("docs det base:P head:X")
    assert (row.state, row.effect, row.head.interval, row.evidence) == ("not_measured", None, None, None)
    assert row.metrics["error_rate"].head is None


def test_metrics_are_means_over_the_measured_trials() -> None:
    row = only("docs base:PPX head:PFX")
    rate = row.metrics["error_rate"]
    assert (rate.base, rate.head, rate.effect, rate.warns) == (0, 0.25, 0.25, False)
    assert (row.metrics["completed"].base, row.metrics["completed"].head) == (1, 0.5)
    assert row.metrics["command_count"].base == 2
    assert row.metrics["cost_usd"].base is None
    assert row.metrics.keys() == Metrics.model_fields.keys()


def test_gates_are_counted_on_both_sides() -> None:
    assert only(REGRESSED).gates == (
        GateCounts(gate="hint", base=(0, 2), head=(0, 3)),
        GateCounts(gate="out.json", base=(2, 2), head=(0, 3)),
    )


def test_gates_of_one_label_are_not_mixed() -> None:
    base, head = run("base", "docs det base:P head:P"), run("head", "docs det base:P head:P")
    first, second = head.trials[0].gates
    twins = (first.model_copy(update={"label": "out.json"}), second)
    head = head.model_copy(update={"trials": (head.trials[0].model_copy(update={"gates": twins}),)})
    (row,) = compare(base, head).rows
    assert [(gate.gate, gate.head) for gate in row.gates] == [
        ("out.json", (0, 1)),
        ("out.json", (1, 1)),
        ("hint", (0, 0)),
    ]


# --- history


def with_history(base: Run, letters: str) -> Run:
    past = [
        PastTrial(scenario=row.scenario, agent="docs", decides=OUTCOMES[letter], at=n, sha="", metrics=PAST)
        for row in base.rows
        for n, letter in enumerate(letters)
    ]
    return base.model_copy(update={"history": tuple(past)})


PAST = Metrics(command_count=4, error_rate=0.5)


def test_a_row_that_base_seldom_passes_is_said_to_show_little_with_what_would_help() -> None:
    """By the function that `tidegate check` uses, for the same rate and history."""
    lines = ("rare base: head:FPF", "rarer base: head:FFP", "steady base: head:PPP", "new base:FPF head:FPF")
    base = run("base", *lines)
    past = {"rare": "FFFFPPFFFP", "rarer": "FFFFPPFFFP", "steady": "P" * 10, "new": ""}
    seen = [
        one for name, letters in past.items() for one in with_history(base, letters).history if one.scenario == name
    ]
    base = base.model_copy(update={"history": tuple(seen)})

    (note,) = compare(base, run("head", *lines)).notes

    assert note.weakness == weakness(Screening(3, 0.3, 10), Policy().alpha)
    assert next(notes_text([note])).startswith("rare × docs, rarer × docs: a complete failure would be found in about ")
    capability = run("head", *lines).model_copy(
        update={"rows": tuple(row.model_copy(update={"purpose": "capability"}) for row in base.rows)}
    )
    assert compare(base, capability).notes == ()


def test_history_is_counted_for_people_and_compared_with_by_the_test() -> None:
    line = "docs base:PPPPPPPPPPPPPP head:F|FFFFFFFFFFFFFF"
    base = with_history(run("base", line.replace("base:", "base:|")), "P" * 40)
    (row,) = compare(base, run("head", line)).rows
    assert row.state == "regressed"
    assert (row.base.passes, row.base.trials, row.base.history, row.base.fresh) == (54, 54, (40, 40), (14, 14))
    assert (row.head.passes, row.head.screen, row.head.confirm) == (0, (0, 1), (0, 14))
    assert row.effect is not None
    assert row.effect.difference == -1
    assert row.effect.interval == pytest.approx(newcombe(0, 14, 14, 14, 0.999))
    assert row.effect.p == pytest.approx(1 / e_of_drop(Pairs(14, 0, 14)))


def test_stored_runs_are_compared_without_the_history() -> None:
    line = "docs base:PPP head:PPP"
    (row,) = compare(with_history(run("base", line), "P" * 40), run("head", line), stored=True).rows
    assert (row.base.trials, row.base.history) == (3, (0, 0))


def test_head_s_trials_that_were_run_for_the_history_count_as_its_first_ones() -> None:
    head = run("head", "docs head:PF")
    trials = tuple(trial.model_copy(update={"phase": "history"}) for trial in head.trials)
    (row,) = compare(run("base", "docs base:PP"), head.model_copy(update={"trials": trials}), stored=True).rows
    assert (row.head.screen, row.head.confirm) == ((1, 2), (0, 0))


def test_metrics_of_the_history_count_for_base() -> None:
    line = "docs base: head:PPP"
    (row,) = compare(with_history(run("base", line), "P" * 20), run("head", line)).rows
    assert (row.state, row.metrics["command_count"].base, row.metrics["command_count"].head) == ("ok", 4, 2)


def test_a_history_that_is_too_short_to_be_used_is_not_counted() -> None:
    line = "docs base:PPP head:PPP"
    (row,) = compare(with_history(run("base", line), "PPPPPPP"), run("head", line)).rows
    assert (row.base.trials, row.base.history, row.metrics["command_count"].base) == (3, (0, 0), 2)


@pytest.mark.parametrize(
    ("history", "half"),
    [
        ("P" * 20, detection(Screening(3, 1.0, 20), 0.02)["-0.5"]),
        ("", detection(Screening(3, 1.0), 0.02)["-0.5"]),
    ],
)
def test_a_clean_run_says_what_it_would_have_caught(history: str, half: float) -> None:
    line = f"docs base:{'' if history else 'PPP'} head:PPP"
    suite = compare(with_history(run("base", line), history), run("head", line)).suite
    assert (suite.detection["-0.5"], suite.detection["-1.0"]) == (half, 1.0)


def test_the_suite_s_own_test_is_in_the_comparison() -> None:
    lines = [f"{name} base: head:PPF|PPP" for name in "abcdefgh"]
    suite = compare(with_history(run("base", *lines), "P" * 18 + "FF"), run("head", *lines)).suite
    assert suite.state == "unconfirmed"
    assert suite.p is not None
    assert suite.p <= 0.10


# --- evidence


def test_a_regression_shows_the_failed_gate_the_calls_and_where_head_left_the_way() -> None:
    row = only(REGRESSED)
    assert (row.state, row.kind) == ("regressed", "outcome")
    evidence = row.evidence
    assert evidence is not None
    assert evidence.trial == "head/create_and_link/docs/1"
    assert (evidence.gate, evidence.message) == ("out.json", "missing")
    assert evidence.calls == (FailedCall(command=BROKEN.command, exit_code=2, message=BROKEN.message),)
    assert evidence.divergence is not None
    assert (evidence.divergence.step, evidence.divergence.head) == (
        2,
        "taskmgr add a --prio 1 (exit 2: unknown option --prio)",
    )
    assert evidence.reproduce == f"tidegate run --rev {'c0ffee' * 7} --scenario create_and_link --agent docs"
    assert evidence.clears_when == ""


def test_an_improvement_shows_what_failed_on_base() -> None:
    evidence = only("docs det base:F|F head:P|PP").evidence
    assert evidence is not None
    assert (evidence.trial, evidence.gate, evidence.message) == ("head/docs/docs/1", "out.json", "missing")
    assert evidence.divergence is not None
    assert evidence.divergence.base.endswith("(exit 2: unknown option --prio)")


def test_a_setup_regression_shows_the_reason_of_a_trial_without_a_way() -> None:
    row = only("docs det base:P|P head:S|SS")
    assert (row.state, row.kind) == ("regressed", "setup")
    assert row.evidence is not None
    assert (row.evidence.gate, row.evidence.message, row.evidence.divergence) == (None, "because of S", None)


def test_a_suspicion_shows_a_trial_that_fails() -> None:
    evidence = only("docs base:PPP head:PFP").evidence
    assert evidence is not None
    assert evidence.trial == "head/docs/docs/2"


def test_a_side_that_had_ended_has_no_line() -> None:
    base, head = run("base", REGRESSED), run("head", REGRESSED)
    shorter = tuple(t.model_copy(update={"calls": (LIST,)}) for t in head.trials)
    (row,) = compare(base, head.model_copy(update={"trials": shorter})).rows
    assert row.evidence is not None
    assert row.evidence.divergence is not None
    assert (row.evidence.divergence.head, row.evidence.divergence.head_steps) == ("", ())


def test_at_most_three_failed_calls_are_shown_each_once() -> None:
    base, head = run("base", REGRESSED), run("head", REGRESSED)
    calls = [BROKEN.model_copy(update={"command": f"taskmgr add {n}"}) for n in (1, 1, 2, 3, 4)]
    many = tuple(t.model_copy(update={"calls": tuple(calls)}) for t in head.trials)
    (row,) = compare(base, head.model_copy(update={"trials": many})).rows
    assert row.evidence is not None
    assert [call.command for call in row.evidence.calls] == ["taskmgr add 1", "taskmgr add 2", "taskmgr add 3"]


def test_names_are_quoted_and_the_working_tree_has_no_revision() -> None:
    line = "it's det base:P|P head:F|FF"
    head = run("head", line, revision=Revision(sha="", ref="working tree", dirty=True))
    (row,) = compare(run("base", line), head).rows
    assert row.evidence is not None
    assert row.evidence.reproduce == """tidegate run --scenario 'it'"'"'s' --agent docs"""


# --- rows of one side


def test_rows_of_one_run_alone_were_added_or_removed() -> None:
    base = run("base", "old det base:P", "kept det base:P")
    head = run("head", "kept det head:P", "new det head:P")
    assert [(row.scenario, row.state) for row in compare(base, head).rows] == [
        ("kept", "ok"),
        ("new", "added"),
        ("old", "removed"),
    ]


def test_what_the_plan_says_of_a_row_holds_though_both_runs_name_it() -> None:
    lines = ("new det added head:P", "gone det removed", "kept det base:P head:P")
    assert [row.state for row in compared(*lines).rows] == ["added", "removed", "ok"]
    only_head = compare(run("base", "kept det base:P"), run("head", *lines))
    assert [row.state for row in only_head.rows] == ["added", "removed", "ok"]


def test_a_row_that_was_new_in_an_earlier_comparison_is_compared() -> None:
    base, head = run("base", "docs det added base:P"), run("head", "docs det added head:P")
    assert [row.state for row in compare(base, head).rows] == ["ok"]


def test_a_run_that_was_made_as_head_can_be_the_base() -> None:
    base = run("head", "docs det head:P|P")
    (row,) = compare(base, run("head", "docs det head:F|FF")).rows
    assert (row.state, row.base.passes, row.head.passes) == ("regressed", 2, 0)


def test_a_changed_definition_is_named_once_unless_it_is_known() -> None:
    base = run("base", "docs det base:P", "docs det agent:claude base:P", "kept det base:P")
    head = run(
        "head", "docs det definition:two head:P", "docs det agent:claude definition:two head:P", "kept det head:P"
    )
    (change,) = compare(base, head).definitions
    assert (change.scenario, change.effect) == ("docs", "other")
    known = DefinitionChange(scenario="docs", effect="less", detail="out.json")
    assert compare(base, head, [known]).definitions == (known,)


# --- the whole


def test_the_suite_is_the_mean_over_the_rows_measured_on_both_sides() -> None:
    suite = compared(
        "a det base:P|P head:F|FF", "b det base:P head:P", "c det base:P head:X", "d det added head:P"
    ).suite
    assert (suite.base_rate, suite.head_rate, suite.difference) == (1, 0.5, -0.5)
    assert suite.interval == (-0.5, -0.5)
    assert suite.detection == {"-1.0": 1.0}


def test_chance_widens_the_suite_s_interval() -> None:
    suite = compared("a base:PPP head:PPP", "b base:PPF head:PPP").suite
    assert suite.difference == pytest.approx(1 / 6)
    assert suite.interval is not None
    assert suite.interval[0] < 0 < 1 / 6 < suite.interval[1]


def test_nothing_measured_has_no_suite_effect() -> None:
    assert compared("a det base:P head:X").suite.model_dump(exclude_defaults=True) == {}


@pytest.mark.parametrize(
    ("line", "stored", "caught"),
    [
        ("a det base:P head:P", False, 1.0),
        ("a det base:P head:P", True, 0.0),
        ("a det base:PP head:PPP", True, 1.0),
        ("a det max:2 base:P head:P", False, 0.0),
    ],
)
def test_detection_promises_only_what_could_have_been_confirmed(line: str, stored: bool, caught: float) -> None:
    assert compared(line, stored=stored).suite.detection == {"-1.0": caught}


@pytest.mark.parametrize("more", ["", "det "])
def test_a_row_that_passes_nowhere_promises_nothing(more: str) -> None:
    base, head = ("F", "F") if more else ("FFF", "FFF")
    dead = f"dead {more}base:{base} head:{head}"
    (row,) = compared(dead).rows
    assert row.state == "ok"
    assert compared(dead).suite.detection == {}
    alive = "docs base:PPP head:PPP"
    assert compared(dead, alive).suite.detection == compared(alive).suite.detection


def test_excluded_trials_are_a_share_of_all_and_setups_are_not_among_them() -> None:
    assert compared("a base:PPX head:PPP", "b det base:P head:S").excluded_share == pytest.approx(1 / 8)
    assert compare(run("base"), run("head")).excluded_share == 0


def test_warnings_name_the_row() -> None:
    (warning,) = notes_text(compared("docs det base:P|P head:F|FP").notes)
    assert warning.startswith("docs × docs: declared deterministic")
    assert compared("docs det base:P head:P", stored=True).notes[0].code == "stored"


def test_the_policy_of_head_s_run_is_the_one_in_force() -> None:
    line = "docs base:PPP head:FFF"
    strict = run("head", line, policy=Policy(alpha=0.05))
    assert compare(run("base", line), strict, stored=True).rows[0].state == "regressed"
    assert compared(line, stored=True).rows[0].state == "unconfirmed"


def test_where_base_has_moved_no_metric_is_compared() -> None:
    moved = with_history(run("base", "a base:|FFFFF"), "P" * 40)
    found = compare(moved, run("head", "a head:F|FFFFF"))
    assert (found.rows[0].state, found.suite.metrics) == ("baseline_changed", {})
    still = with_history(run("base", "a base:|PPP"), "P" * 40)
    found = compare(still, run("head", "a head:F|FFFFF"))
    assert "error_rate" in found.suite.metrics


def test_the_suite_s_metrics_are_of_screening_trials_alone() -> None:
    """Those that were added later were chosen for what the first ones showed."""
    found = compare(run("base", "a base:PPP"), run("head", "a head:PPP|FFF"))
    assert found.suite.metrics["error_rate"].effect == 0
