from __future__ import annotations

from tidegate.model.plan import RowKey


def test_a_row_has_one_name_in_every_report() -> None:
    assert str(RowKey(scenario="add task", agent="claude:opus")) == "add task × claude:opus"
