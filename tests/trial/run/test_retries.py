"""Trials that are tried again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests import make
from tests.trial.run.engines import Worker, attempts_of, passing, plan_of, specs_of
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import NotMeasured


@pytest.mark.parametrize(
    ("causes", "faults"),
    [
        ([], []),
        (["outage", "infrastructure"], []),
        (["reported_outage"], ["an attempt without an outcome (reported_outage)"]),
        (["resources"], ["an attempt without an outcome (resources)"]),
        (["supervisor_lost", "outage"], ["an attempt without an outcome (supervisor_lost)"]),
    ],
)
def test_what_the_tool_can_bring_about_is_a_fault_of_the_trial_that_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, causes: list[NotMeasured], faults: list[str]
) -> None:
    plan = plan_of("a")
    attempts, (spec, _) = attempts_of(tmp_path, Worker(), plan), specs_of("a")
    left = [*causes]

    async def attempt(*_: object) -> Trial:
        return make.trial(spec=spec, end=None, not_measured=left.pop(0), reason="x") if left else passing(spec)

    async def tried() -> Trial | None:
        async with attempts.context.slots:
            return await attempts.trial(spec, plan.rows[0])

    monkeypatch.setattr(attempts, "_attempt", attempt)
    found = asyncio.run(tried())
    assert found is not None
    assert (found.not_measured, [*found.faults]) == (None, faults)
