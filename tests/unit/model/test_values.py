"""Values that stages pass on: causes of what was not measured, names, memory."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest

from tidegate.model import value
from tidegate.model.measurement import Metrics
from tidegate.model.plan import RowKey
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


# --- names of rows


def test_a_row_has_one_name_in_every_report() -> None:
    assert str(RowKey(scenario="add task", agent="claude:opus")) == "add task × claude:opus"


# --- memory


def test_a_copy_has_the_changed_fields_and_remembers_no_names_of_them() -> None:
    before = Metrics(turns=3)
    after = before.model_copy(update={"turns": 4})
    assert (after.turns, before.turns) == (4, 3)
    assert after.model_fields_set == before.model_fields_set == set()


def test_no_annotation_of_a_value_is_a_text_that_pydantic_has_to_evaluate() -> None:
    modules = Path(value.__file__).parent.glob("*.py")
    assert [one.name for one in modules if "(Value" in (text := one.read_text()) and "__future__" in text] == []
