"""Each sentence that a report says about certainty is derived from the numbers by a test, or fails here as unknown."""

# ruff: noqa: E501 - names of tests are long
from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy.stats import hypergeom  # type: ignore[import-untyped]

from tests import make
from tests.unit.decide.procedure.test_steps import Story, only, words
from tidegate.decide.procedure.row_states import compare_once
from tidegate.decide.statistics.rates import Pair
from tidegate.model.comparison import Effect
from tidegate.model.run_row import Reason
from tidegate.reports.model_filters import why_undecided
from tidegate.reports.verdict_text import reason_text

ROOT = Path(__file__).parents[3]
SOURCES = (
    *(
        f"src/tidegate/reports/{name}.py"
        for name in (
            "model_filters",
            "notes_text",
            "html",
            "page_row",
            "verdict_text",
            "view",
        )
    ),
    "templates/rows.md.j2",
    "templates/comment.md.j2",
    "templates/page/overview.js",
    "templates/page/scenario.js",
    "templates/page/opinions.js",
)
ABOUT_CERTAINTY = re.compile(
    r"interval|\b[pq] = |, limit|noise|chance|at these rates|detected|power|not confirmed|Tidegate detects|may miss|unchanged"
    r"|unknown size|at least|every repeat agrees|verified|would be found|in about|How often|regressed by itself"
    r"|nothing regressed|no single row regressed|looks worse|on fresh trials|that takes|not significant|left to verify|show it again|error budget",
    re.IGNORECASE,
)
STEPS, HERE = "unit/decide/procedure/test_steps.py", "unit/reports/test_certainty.py"
# A part of each sentence, and the test that derives it from the numbers
DERIVED = {
    "this may be noise": f"{HERE}::test_what_may_be_noise_is_above_its_limit",
    "p = {}, limit {}": f"{HERE}::test_p_and_limit_are_those_of_an_independent_calculation",
    "verified in a second batch": f"{STEPS}::test_pairs_run_in_batches_in_which_the_sides_take_turns_and_the_verification_is_one_of_its_own",
    "the second batch does not show it again": f"{HERE}::test_a_drop_that_the_second_batch_does_not_show_is_said_so",
    "trials.max ended the test; set it to at least": "unit/decide/procedure/test_detection.py::test_the_least_limit_that_it_names_confirms_a_complete_failure_and_one_below_the_pairs_does_not",
    "not confirmed: that takes": f"{HERE}::test_an_unconfirmed_flip_is_confirmed_by_the_trials_that_it_takes",
    "no regression detected; fails on both sides": f"{STEPS}::test_failing_on_both_sides_is_no_regression_and_says_so",
    "looked worse at first, but not on fresh trials": f"{STEPS}::test_a_row_that_recovers_is_ok_and_says_what_was_seen",
    "base itself fails often": f"{STEPS}::test_a_row_whose_base_fails_often_is_labelled_and_confirmed_all_the_same",
    "no regression detected": f"{STEPS}::test_equal_rates_are_ok",
    "looks worse": f"{STEPS}::test_a_row_that_was_getting_worse_when_another_one_ended_the_run_is_unconfirmed_not_ok",
    "would be found in about": "unit/decide/procedure/test_detection.py::test_a_row_that_base_seldom_passes_is_said_to_show_what_the_procedure_finds",
    "all rows share one error budget": f"{HERE}::test_an_undecided_drop_names_its_p_and_its_limit",
    "a drop of at least": "unit/decide/comparison/test_whole_suite.py::test_the_true_drop_is_at_least_what_a_named_row_is_said_to_drop_by",
    "a drop of unknown size": "unit/decide/comparison/test_whole_suite.py::test_the_true_drop_is_at_least_what_a_named_row_is_said_to_drop_by",
    "{} interval {}": "unit/decide/statistics/test_oracles.py::test_the_interval_of_a_difference_is_statsmodels_s",
    "90% interval": "unit/decide/comparison/test_whole_suite.py::test_success_over_the_suite_is_unbiased_and_its_interval_covers",
    "95% interval of the difference": "unit/decide/statistics/test_moderated.py::test_one_row_alone_has_students_interval",
    "q = ": "unit/decide/comparison/test_metric_tests.py::test_more_metrics_make_each_of_them_less_surprising",
    "p = ": f"{HERE}::test_p_and_limit_are_those_of_an_independent_calculation",
    ", limit": f"{HERE}::test_p_and_limit_are_those_of_an_independent_calculation",
    "With this many trials, Tidegate detects": "unit/decide/procedure/test_detection.py::test_the_promise_for_a_screened_row_is_what_the_procedure_does_at_its_own_rate",
    "The detection power is unknown": "unit/reports/test_view.py::test_where_nothing_passes_nothing_is_promised",
    "each failure is re-run before it is reported": "unit/reports/test_view.py::test_repeats_catch_nothing_where_they_could_not_be_asked_for",
    "of its trials pass on head": "thorough/attempts/test_again.py::test_a_repair_of_a_deterministic_row_takes_five_more_trials",
    "every repeat agrees": f"{STEPS}::test_a_deterministic_row_takes_as_few_trials_as_can_be",
    "no single row regressed": "unit/decide/test_verdict.py::test_a_suite_that_regressed_as_a_whole_fails_and_a_suspicion_is_only_said",
    "nothing regressed": "unit/decide/test_verdict.py::test_rows_make_a_verdict",
    "new session does something that none of them did": "unit/decide/replay/test_decide.py::test_sessions_with_a_shape_of_their_own_make_new_ones_likely",
    "unchanged by replay": "unit/decide/replay/test_decide.py::test_three_sessions_that_replay_alike_are_enough",
    "unchanged:**": "unit/decide/replay/test_decide.py::test_three_sessions_that_replay_alike_are_enough",
    "looks a little worse, not confirmed": "unit/decide/test_verdict.py::test_a_suite_that_regressed_as_a_whole_fails_and_a_suspicion_is_only_said",
}


def said(path: Path) -> Iterator[str]:
    """Every text of a program that is not documentation, and every line of a template, if it is about certainty."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        texts = list(python_texts(source))
    elif path.suffix == ".js":
        texts = [text for pair in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', source) for text in pair]
    else:
        texts = source.splitlines()
    for text in texts:
        if " " in text.strip() and ABOUT_CERTAINTY.search(re.sub(r"{%.*?%}|{#.*?#}|\.interval\b", "", text)):
            yield text


def python_texts(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts | notes:
            yield node.value


@pytest.mark.parametrize("name", SOURCES)
def test_no_sentence_about_certainty_is_without_a_test(name: str) -> None:
    unknown = [text for text in said(ROOT / name) if not any(part in text for part in DERIVED)]
    assert unknown == []


def test_every_named_sentence_and_test_exists() -> None:
    texts = [text for name in SOURCES for text in said(ROOT / name)]
    assert [part for part in DERIVED if not any(part in text for text in texts)] == []
    for place in set(DERIVED.values()):
        file, _, test = place.partition("::")
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), place


# --- derivations


def less(pair: Pair) -> float:
    """Fisher's p by scipy."""
    return float(hypergeom(pair.head_n + pair.base_n, pair.head_pass + pair.base_pass, pair.head_n).cdf(pair.head_pass))


def numbers(text: str, pattern: str) -> list[float]:
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


def test_p_and_limit_are_those_of_an_independent_calculation() -> None:
    row = only("docs past:40/40 base:P head:F")
    p, limit = numbers(words(row), r"\(p = (\S+), limit (\S+)\), verified")
    drops = [(base, base * kept) for base in (1.0, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35) for kept in (0.0, 0.25, 0.5, 0.65)]
    apart = [((base * (1 - head)) / ((base + head) / 2 * (1 - (base + head) / 2))) ** 14 for base, head in drops]
    assert (p, limit) == (float(f"{len(drops) / sum(apart):.2g}"), 0.02 / (1 * 2) / (1 * 2))
    assert "passes 0 of 14 fresh trials on head, 14 of 14 on base" in words(row)
    pair = Pair(0, 5, 5, 5)
    (finding,) = compare_once([pair], 0.02)
    tested = Reason(code="one_shot", head=(0, 5), base=(5, 5), p=finding.p, limit=finding.limit)
    assert reason_text("regressed", tested).endswith(f"(p = {less(pair):.2g}, limit 0.02)")


def test_what_may_be_noise_is_above_its_limit() -> None:
    row = only("docs max:22 past:40/40 base:P head:" + "FP" * 30)
    p, limit = numbers(words(row), r"\(p = (\S+), limit (\S+)\): this may be noise")
    assert row.state == "unconfirmed"
    assert limit < p <= 4 * limit


def test_a_drop_that_the_second_batch_does_not_show_is_said_so() -> None:
    row = only("docs past:40/40 base:P head:" + "F" * 11 + "P" * 60)
    assert row.state == "unconfirmed"
    assert ", but the second batch does not show it again" in words(row)


def test_an_unconfirmed_flip_is_confirmed_by_the_trials_that_it_takes() -> None:
    row = only("docs det base:P head:F max:2")
    head, base = numbers(words(row), r"not confirmed: that takes (\d+) such trials on head and (\d+) on base")
    story = Story(f"docs det base:P head:F max:{head:.0f}")
    assert [one.state for one in story.conclusions] == ["regressed"]
    assert [sum(spec.side == side for spec in story.specs) for side in ("head", "base")] == [head, base]
    assert only(f"docs det base:P head:F max:{head - 1:.0f}").state == "unconfirmed"


def test_an_undecided_drop_names_its_p_and_its_limit() -> None:
    effect = Effect(difference=-0.3, interval=(-0.5, 0.0), p=0.0123, level=0.01)
    row = make.row("unconfirmed", (40, 40), (14, 20), effect=effect)
    assert numbers(why_undecided(row), r"at most (\S+)% .* rarer than (\S+)%") == [1.2, 1.0]
    rare = row.model_copy(update={"effect": effect.model_copy(update={"p": 0.00001})})
    assert "at most 0.1%" in why_undecided(rare)
