from __future__ import annotations

import pytest

from tidegate.agents.doc_follower import difference


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb", "a\nb\n", None),
        ("  a   1", "a 1", None),
        ("b", "a\nb\nc", None),
        ("a\n...", "a\nx", None),
        ("a", "\x1b[1ma\x1b[0m", None),
        ("json 9.0.0", "json 9.0.6", "shows `json 9.0.0`, the tool printed `json 9.0.6`"),
        ("b\na", "a\nb", "shows `a`, the tool did not"),
        ("a", "", "shows `a`, the tool did not"),
    ],
)
def test_each_shown_line_has_to_be_printed_in_order(shown: str, printed: str, expected: str | None) -> None:
    assert difference(shown, printed) == expected
