"""Error rates with real processes and real git: a population of pull requests, judged by the program as people run it.

`make real-rates` runs the whole of it and prints what came out; here a few of each kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Make = Callable[..., Any]

CLEAN = int(os.environ.get("TIDEGATE_CLEAN_PRS", "6"))
BROKEN = max(2, CLEAN // 10)
HISTORY = 40
RATES = {f"s{n:02}": rate for n, rate in enumerate((1.0, 1.0, 1.0, 0.95, 0.95, 0.95, 0.8, 0.8, 0.5, 0.5), 1)}
STABLE = [name for name, rate in RATES.items() if rate >= 0.95]
SCENARIO = """\
name: {name}
description: A note is kept.
target: {{binary: notes}}
task: Keep a note.
evaluation: {{gates: [{{type: file_exists, path: notes.txt}}]}}
"""
TOOL = '#!/bin/sh\necho "$1" >> notes.txt\n'


def suite(seed: int) -> str:
    """Chance is in the agent; the seed gives every pull request draws of its own."""
    steps = "\n".join(f"      {name}: [{{run: notes {name}, probability: {rate}}}]" for name, rate in RATES.items())
    return (
        "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nagents:\n  fake:\n    type: scripted\n"
        f"    deterministic: false\n    seed: {seed}\n    steps:\n{steps}\n"
    )


def without(name: str) -> str:
    """The tool, which no longer does what one scenario needs."""
    return TOOL.replace("#!/bin/sh\n", f'#!/bin/sh\n[ "$1" = {name} ] && exit 1\n')


class Judged(NamedTuple):
    """One pull request's end."""

    code: int
    states: dict[str, str]
    trials: int
    comment: str

    def are(self, state: str) -> list[str]:
        """The scenarios of that state."""
        return [name for name, is_so in self.states.items() if is_so == state]


class Population:
    """One repository with a history, and pull requests to it, one after another."""

    def __init__(self, make_repository: Make, tidegate: Make) -> None:
        self._tidegate = tidegate
        self._repo = make_repository("population")
        self._seed = 0
        scenarios = {f"scenarios/{name}.yaml": SCENARIO.format(name=name) for name in RATES}
        self._repo.commit({"bin/notes": TOOL, "tidegate.yaml": suite(0), "README.md": "0", **scenarios})
        ran = tidegate("run", "--rev", "main", "--history", "--trials", str(HISTORY), "--quiet", cwd=self._repo.root)
        assert ran.code == 0, ran.stderr

    def judge(self, head: Mapping[str, str], base: Mapping[str, str] | None = None) -> Judged:
        """A pull request with these changes, to a base with those."""
        self._seed += 1
        self._repo.commit({"tidegate.yaml": suite(self._seed), **(base or {})}, on="main")
        self._repo.git("branch", "--quiet", "--force", "pr", "main")
        self._repo.commit({"README.md": str(self._seed), **head}, on="pr")
        ran = self._tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", "--quiet", cwd=self._repo.root)
        assert ran.code in (0, 1, 5), ran.stderr
        states = {row["scenario"]: row["state"] for row in ran.result["rows"]}
        return Judged(ran.code, states, sum(ran.result["cost"]["trials"].values()), ran.comment)

    def provider_changes(self, name: str) -> Judged:
        """The scenario dies on base and head alike, after the history was made."""
        store = self._repo.root / ".tidegate/store/history"
        kept = {path: path.read_bytes() for path in store.iterdir()}
        ran = self.judge({}, {"bin/notes": without(name)})
        self._repo.commit({"bin/notes": TOOL}, on="main")
        for path, content in kept.items():
            path.write_bytes(content)
        return ran


def mean_trials(prs: Sequence[Judged]) -> float:
    return sum(one.trials for one in prs) / len(prs)


def test_a_population_of_pull_requests(make_repository: Make, tidegate: Make) -> None:
    population = Population(make_repository, tidegate)

    clean = [population.judge({}) for _ in range(CLEAN)]
    blocked = [one.states for one in clean if one.code]
    print(f"\nclean: {len(blocked)} of {CLEAN} blocked {blocked}, {mean_trials(clean):.1f} trials each")
    assert len(blocked) <= max(1, CLEAN // 50)

    victims = [STABLE[n % len(STABLE)] for n in range(BROKEN)]
    dead = [population.judge({"bin/notes": without(name)}) for name in victims]
    named = sum(one.code == 1 and name in one.are("regressed") for one, name in zip(dead, victims, strict=True))
    print(f"one dead: {named} of {BROKEN} blocked, naming it, {mean_trials(dead):.1f} trials each")
    assert named == BROKEN

    moved = [population.provider_changes(name) for name in victims]
    said = sum(name in one.are("baseline_changed") for one, name in zip(moved, victims, strict=True))
    print(f"the provider changed: {[one.code for one in moved]}, {said} of {BROKEN} say that it did")
    assert all(one.code == 5 for one in moved), "no regression, and not green either: head may have caused it"
    assert said == BROKEN
    assert all("failed on base, too, although its history passes" in one.comment for one in moved)
