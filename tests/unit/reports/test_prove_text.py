"""The text of `tidegate prove`."""

from __future__ import annotations

import pytest

from tidegate.model.proof import Mutant, MutantResult, Proof, ToolProof
from tidegate.reports.prove_text import alive_groups, prove_text


def mutant(name: str, state: str, why: str = "") -> MutantResult:
    made = Mutant(kind="json_key_renamed", words=f"key `{name}` is renamed", command="list", name=name)
    return MutantResult.model_validate({"mutant": made, "state": state, "why": why})


def proof(*mutants: MutantResult) -> Proof:
    return Proof(sha="a", tools=(ToolProof(tool="t", counts="1 of 2 options", parts=(), mutants=mutants),))


def test_mutants_alive_for_one_cause_are_one_line() -> None:
    text = prove_text(
        proof(mutant("a", "alive", "s meets it"), mutant("a", "alive", "s meets it"), mutant("b", "alive"))
    )
    assert "alive  key `a` in the output of `list` (2 mutants) " in text
    assert "alive  key `b` is renamed " in text
    assert "3 mutants of t: 0 caught (0% of the tool), 0 that change nothing, 3 alive" in text


def test_keys_of_an_output_that_no_check_reads_are_no_cause_of_their_own() -> None:
    nothing = Mutant(kind="output_emptied", words="`list` prints nothing", command="list")
    cut = Mutant(kind="line_dropped", words="w", command="list")
    results = (mutant("a", "alive"), *(MutantResult(mutant=one, state="alive") for one in (nothing, cut)))
    (group,) = alive_groups(results, "t")
    assert str(group) == "what `list` prints (3 mutants)"


def test_a_partial_run_is_called_one() -> None:
    part = proof(mutant("a", "caught")).model_copy(update={"partial": "only some scenarios"})
    assert "Partial run (only some scenarios): its share is not that of the whole suite\n" in prove_text(part)
    assert "Partial" not in prove_text(part.model_copy(update={"partial": ""}))


def test_mutants_that_were_not_run_are_counted_by_reason() -> None:
    left = (mutant("a", "not_run", "not in the sample"), mutant("b", "not_run", "only an agent with a model reads it"))
    lines = prove_text(proof(mutant("c", "caught"), left[0], *left)).splitlines()
    told = [line for line in lines if line.startswith("not run")]
    assert told == ["not run  2 mutants: not in the sample", "not run  1 mutant: only an agent with a model reads it"]


def test_the_share_leaves_out_what_changes_nothing_or_was_not_run() -> None:
    found = proof(mutant("a", "caught"), mutant("b", "not_reached"), mutant("c", "no_change"), mutant("d", "not_run"))
    assert found.share == 0.5
    assert proof(mutant("d", "not_run")).share is None


def of_kind(kind: str, state: str, command: str = "", name: str = "") -> MutantResult:
    made = Mutant.model_validate({"kind": kind, "words": "w", "command": command, "name": name})
    return MutantResult.model_validate({"mutant": made, "state": state})


def test_a_suite_that_calls_nothing_but_the_help_protects_half_of_the_surface() -> None:
    surface = [of_kind("option_removed", "caught", name=f"--{name}") for name in "abc"]
    found = proof(*surface, of_kind("error_emptied", "caught"), of_kind("output_emptied", "not_reached"))
    assert found.share == pytest.approx((6 / 2 + 2) / (9 + 6 + 2))


def test_results_of_a_part_that_few_different_ones_show_count_less() -> None:
    one, three = ([of_kind("input_fails", "caught")] * count for count in (1, 3))
    assert proof(*one).share == pytest.approx(1 / 4)
    assert proof(*three).share == pytest.approx(3 / 6)
    assert proof(of_kind("result_emptied", "caught")).share == pytest.approx(1 / 2)
