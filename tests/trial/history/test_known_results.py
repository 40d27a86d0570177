"""Results of earlier runs, as later runs find them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tidegate.history.fingerprint import agent_mark, fingerprint
from tidegate.history.known_results import history_counts, open_history
from tidegate.model.measurement import PastTrial
from tidegate.suite.load import load_suite
from tidegate.suite.plan import make_plan

SUITE = "version: 1\nscenarios: [s.yaml]\nagents: {claude: {type: claude-code, model: m}}\n"
SCENARIO = "name: s\ndescription: d\ntarget: {binary: x}\ntask: t\n"


def test_the_history_of_an_agent_whose_program_has_a_version_is_found_without_asking_it(
    make_repository: Callable[..., Any],
) -> None:
    repo = make_repository()
    repo.commit({"tidegate.yaml": SUITE, "s.yaml": SCENARIO})
    suite = load_suite(repo.root, "tidegate.yaml", environ={})
    plan = make_plan(suite)
    (row,) = plan.rows
    history = open_history(repo.root, suite)
    assert history is not None
    now = time.time()
    history.add(
        {row.key: fingerprint(row, (), agent_mark(row, "2.1.329"))},
        [PastTrial(scenario="s", agent="claude", decides="pass", at=now - n, sha="c0ffee") for n in range(9)],
    )
    assert history_counts(repo.root, suite, plan) == {row.key: (0, 0)}

    history.remember({"claude": "2.1.329", "scripted": None})

    assert history_counts(repo.root, suite, plan) == {row.key: (9, 9)}
    assert history.versions() == {"claude": "2.1.329"}
