"""Two runs compared: rows, counts, estimates and evidence.

A line is a row with the trials of both sides: P pass, F fail, S setup fails, X infrastructure; `|` begins the confirm
phase.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tests.make import sure
from tidegate.decide.comparison.compare import compare
from tidegate.decide.procedure.detection import Screening, detection, weakness
from tidegate.decide.statistics.e_process import Pairs, e_of_drop
from tidegate.decide.statistics.rates import newcombe
from tidegate.model.comparison import Comparison, DefinitionChange, Evidence, FailedCall, GateCounts, Row
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


def evidence_of(line: str, *calls: Call) -> Evidence:
    """The evidence of a row; `calls` are those of all trials of head if they are given."""
    head = run("head", line)
    if calls:
        trials = tuple(trial.model_copy(update={"calls": calls}) for trial in head.trials)
        head = head.model_copy(update={"trials": trials})
    (row,) = compare(run("base", line), head).rows
    return sure(row.evidence)


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
    effect = sure(row.effect)
    assert (effect.difference, effect.level) == (-1, 0.02)
    assert effect.interval == pytest.approx((-1, -0.2059232824597782))
    assert effect.p == pytest.approx(0.05)


def test_without_trials_there_is_no_rate_and_no_effect() -> None:
    row = only("docs det base:P head:X")
    assert (row.state, row.effect, row.head.interval, row.evidence) == ("not_measured", None, None, None)
    assert row.metrics["error_rate"].head is None


def test_metrics_are_means_over_the_measured_trials() -> None:
    found = only("docs base:PPX head:PFX").metrics
    rate, completed = found["error_rate"], found["completed"]
    assert (rate.base, rate.head, rate.effect, rate.warns) == (0, 0.25, 0.25, False)
    assert (completed.base, completed.head) == (1, 0.5)
    assert (found["command_count"].base, found["cost_usd"].base) == (2, None)
    assert found.keys() == Metrics.model_fields.keys()


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


PAST = Metrics(command_count=4, error_rate=0.5)


def history_of(scenario: str, letters: str) -> list[PastTrial]:
    return [
        PastTrial(scenario=scenario, agent="docs", decides=OUTCOMES[letter], at=n, sha="", metrics=PAST)
        for n, letter in enumerate(letters)
    ]


def with_history(base: Run, letters: str) -> Run:
    past = [trial for row in base.rows for trial in history_of(row.scenario, letters)]
    return base.model_copy(update={"history": tuple(past)})


def test_a_row_that_base_seldom_passes_is_said_to_show_little_with_what_would_help() -> None:
    """By the function that `tidegate check` uses, for the same rate and history."""
    lines = ("rare base: head:FPF", "rarer base: head:FFP", "steady base: head:PPP", "new base:FPF head:FPF")
    base = run("base", *lines)
    past = {"rare": "FFFFPPFFFP", "rarer": "FFFFPPFFFP", "steady": "P" * 10, "new": ""}
    base = base.model_copy(
        update={"history": tuple(one for name, letters in past.items() for one in history_of(name, letters))}
    )

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
    effect = sure(row.effect)
    assert effect.difference == -1
    assert effect.interval == pytest.approx(newcombe(0, 14, 14, 14, 0.999))
    assert effect.p == pytest.approx(1 / e_of_drop(Pairs(14, 0, 14)))


@pytest.mark.parametrize(("letters", "stored"), [("P" * 40, True), ("PPPPPPP", False)])
def test_stored_runs_and_a_short_history_are_compared_without_it(letters: str, stored: bool) -> None:
    line = "docs base:PPP head:PPP"
    (row,) = compare(with_history(run("base", line), letters), run("head", line), stored=stored).rows
    assert (row.base.trials, row.base.history, row.metrics["command_count"].base) == (3, (0, 0), 2)


def test_head_s_trials_that_were_run_for_the_history_count_as_its_first_ones() -> None:
    head = run("head", "docs head:PF")
    trials = tuple(trial.model_copy(update={"phase": "history"}) for trial in head.trials)
    (row,) = compare(run("base", "docs base:PP"), head.model_copy(update={"trials": trials}), stored=True).rows
    assert (row.head.screen, row.head.confirm) == ((1, 2), (0, 0))


def test_metrics_of_the_history_count_for_base() -> None:
    line = "docs base: head:PPP"
    (row,) = compare(with_history(run("base", line), "P" * 20), run("head", line)).rows
    assert (row.state, row.metrics["command_count"].base, row.metrics["command_count"].head) == ("ok", 4, 2)


@pytest.mark.parametrize(("history", "base"), [(20, ""), (0, "PPP")])
def test_a_clean_run_says_what_it_would_have_caught(history: int, base: str) -> None:
    line = f"docs base:{base} head:PPP"
    suite = compare(with_history(run("base", line), "P" * history), run("head", line)).suite
    half = detection(Screening(3, 1.0, history), 0.02)["-0.5"]
    assert (suite.detection["-0.5"], suite.detection["-1.0"]) == (half, 1.0)


def test_the_suite_s_own_test_is_in_the_comparison() -> None:
    lines = [f"{name} base: head:PPF|PPP" for name in "abcdefgh"]
    suite = compare(with_history(run("base", *lines), "P" * 18 + "FF"), run("head", *lines)).suite
    assert suite.state == "unconfirmed"
    assert sure(suite.p) <= 0.10


# --- evidence


def test_a_regression_shows_the_failed_gate_the_calls_and_where_head_left_the_way() -> None:
    evidence = evidence_of(REGRESSED)
    assert (evidence.trial, evidence.gate, evidence.message) == ("head/create_and_link/docs/1", "out.json", "missing")
    assert evidence.calls == (FailedCall(command=BROKEN.command, exit_code=2, message=BROKEN.message),)
    parting = sure(evidence.divergence)
    assert (parting.step, parting.head) == (2, "taskmgr add a --prio 1 (exit 2: unknown option --prio)")
    assert evidence.reproduce == f"tidegate run --rev {'c0ffee' * 7} --scenario create_and_link --agent docs"
    assert evidence.clears_when == ""


def test_an_improvement_shows_what_failed_on_base() -> None:
    evidence = evidence_of("docs det base:F|F head:P|PP")
    assert (evidence.trial, evidence.gate, evidence.message) == ("head/docs/docs/1", "out.json", "missing")
    assert sure(evidence.divergence).base.endswith("(exit 2: unknown option --prio)")


def test_a_setup_regression_shows_the_reason_of_a_trial_without_a_way() -> None:
    evidence = evidence_of("docs det base:P|P head:S|SS")
    assert (evidence.gate, evidence.message, evidence.divergence) == (None, "because of S", None)


def test_a_suspicion_shows_a_trial_that_fails() -> None:
    assert evidence_of("docs base:PPP head:PFP").trial == "head/docs/docs/2"


def test_a_side_that_had_ended_has_no_line() -> None:
    parting = sure(evidence_of(REGRESSED, LIST).divergence)
    assert (parting.head, parting.head_steps) == ("", ())


def test_at_most_three_failed_calls_are_shown_each_once() -> None:
    calls = [BROKEN.model_copy(update={"command": f"taskmgr add {n}"}) for n in (1, 1, 2, 3, 4)]
    shown = [call.command for call in evidence_of(REGRESSED, *calls).calls]
    assert shown == ["taskmgr add 1", "taskmgr add 2", "taskmgr add 3"]


def test_names_are_quoted_and_the_working_tree_has_no_revision() -> None:
    line = "it's det base:P|P head:F|FF"
    head = run("head", line, revision=Revision(sha="", ref="working tree", dirty=True))
    (row,) = compare(run("base", line), head).rows
    assert sure(row.evidence).reproduce == """tidegate run --scenario 'it'"'"'s' --agent docs"""


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
    low, high = sure(suite.interval)
    assert low < 0 < 1 / 6 < high


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


@pytest.mark.parametrize("dead", ["dead base:FFF head:FFF", "dead det base:F head:F"])
def test_a_row_that_passes_nowhere_promises_nothing(dead: str) -> None:
    assert only(dead).state == "ok"
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
