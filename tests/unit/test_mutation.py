"""`make mutation` takes hours: that all of its changes can be made is known before."""

from __future__ import annotations

from tests.mutation import CHANGES, SOURCE


def test_each_change_has_one_place() -> None:
    counts = {(file, old): (SOURCE / file).read_text(encoding="utf-8").count(old) for file, old, _ in CHANGES}
    assert [place for place, count in counts.items() if count != 1] == []
