"""Compare a proof with an earlier one: which mutants are newly alive, and why."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.mutant import MutantResult
from tidegate.model.proof import NewlyAlive, Proof, ProofTrend

_ALIVE = ("alive", "not_reached")
_Id = tuple[str, str, str, str, str, str]


def trend(now: Proof, before: Proof) -> ProofTrend:
    """Return what is newly alive and newly caught. A mutant that was not run in one of them is neither."""
    old, new = dict(_by_id(before)), dict(_by_id(now))
    alive = tuple(
        NewlyAlive(words=one.mutant.words, why=_why(old.get(key)))
        for key, one in new.items()
        if one.state in _ALIVE and (key not in old or old[key].state == "caught")
    )
    both = [(old[key].state, one.state) for key, one in new.items() if key in old]
    caught = sum(was in _ALIVE and is_now == "caught" for was, is_now in both)
    earlier = ProofTrend(
        sha=before.sha, at=before.at, share=before.share, decided=before.decided, partial=before.partial
    )
    return earlier.model_copy(update={"alive": alive, "caught": caught})


def _by_id(proof: Proof) -> Iterator[tuple[_Id, MutantResult]]:
    for tool in proof.tools:
        for one in tool.mutants:
            mutant = one.mutant
            yield (tool.tool, mutant.kind, mutant.command, mutant.name, mutant.value, mutant.file), one


def _why(old: MutantResult | None) -> str:
    return "it is new" if old is None else f"it was caught by {', '.join(old.caught_by)}"
