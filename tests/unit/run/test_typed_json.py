"""Values are read as what they are, also by a process that has not imported their classes."""

from __future__ import annotations

import json

import pytest

from tidegate.model.plan import PlanRow
from tidegate.run.bundle import CLASS, load


@pytest.mark.parametrize(
    "name",
    [
        "os.PathLike",
        "tidegate.nothing.Value",
        "tidegate.suite.plan.make_plan",
        "tidegate.suite.plan.Nothing",
        "PlanRow",
        "",
    ],
)
def test_only_values_of_tidegate_are_read(name: str) -> None:
    with pytest.raises(ValueError, match="there is no class"):
        load(json.dumps({CLASS: name}), PlanRow)
