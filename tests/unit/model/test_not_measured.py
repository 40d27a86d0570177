"""Which causes of a trial that was not measured can come from the pull request."""

from __future__ import annotations

import typing

import pytest

from tidegate.model.trial_spec import NotMeasured, is_inside


@pytest.mark.parametrize(
    "cause", ["secret", "auth", "outage", "infrastructure", "budget", "cancelled", "judge", "replay_only"]
)
def test_what_no_process_of_a_trial_can_cause_is_outside(cause: NotMeasured) -> None:
    assert not is_inside(cause)


def test_every_other_cause_is_inside() -> None:
    causes = set(typing.get_args(NotMeasured))
    inside = {cause for cause in causes if is_inside(cause)}
    assert inside >= {"record_lost", "no_session", "resources", "refused_request", "supervisor_lost", "agent_error"}
    assert len(causes - inside) == 8
