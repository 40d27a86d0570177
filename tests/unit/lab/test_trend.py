"""What differs between two proofs."""

from __future__ import annotations

from tidegate.model.mutant import Mutant, MutantResult, MutantState
from tidegate.model.proof import Proof, ToolProof
from tidegate.reports.prove_text import trend


def proof(**states: MutantState) -> Proof:
    """Return a proof of mutants by name."""
    results = tuple(
        MutantResult(
            mutant=Mutant(kind="option_ignored", words=f"`{name}` is ignored", name=name),
            state=state,
            caught_by=("s",) if state == "caught" else (),
        )
        for name, state in states.items()
    )
    return Proof(sha="a" * 40, at=5.0, tools=(ToolProof(tool="t", counts="", parts=(), mutants=results),))


def test_what_was_caught_and_what_is_new_can_be_newly_alive() -> None:
    before = proof(due="caught", loud="caught", old="alive", quiet="alive")
    found = trend(proof(due="alive", loud="caught", old="alive", quiet="caught", new="not_reached"), before)
    assert [(one.words, one.why) for one in found.alive] == [
        ("`due` is ignored", "it was caught by s"),
        ("`new` is ignored", "it is new"),
    ]
    assert (found.share, found.decided, found.caught, found.at) == (0.5, 4, 1, 5.0)


def test_a_mutant_that_one_of_them_did_not_run_is_neither_newly_alive_nor_newly_caught() -> None:
    found = trend(proof(due="alive", loud="not_run"), proof(due="not_run", loud="caught"))
    assert (found.alive, found.caught) == ((), 0)


def test_mutants_that_refuse_different_values_are_different_ones() -> None:
    def refused(**states: MutantState) -> Proof:
        one = proof(**states)
        results = tuple(
            result.model_copy(update={"mutant": result.mutant.model_copy(update={"value": value, "name": "--style"})})
            for result, value in zip(one.mutants, states, strict=True)
        )
        return one.model_copy(update={"tools": (one.tools[0].model_copy(update={"mutants": results}),)})

    found = trend(refused(wide="alive", slim="alive"), refused(wide="caught", slim="alive"))
    assert [one.words for one in found.alive] == ["`wide` is ignored"]
