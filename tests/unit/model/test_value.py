"""Values take little memory."""

from __future__ import annotations

from tidegate.model.measurement import Metrics


def test_a_copy_has_the_changed_fields_and_remembers_no_names_of_them() -> None:
    before = Metrics(turns=3)
    after = before.model_copy(update={"turns": 4})
    assert (after.turns, before.turns) == (4, 3)
    assert after.model_fields_set == before.model_fields_set == set()
