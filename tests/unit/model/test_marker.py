"""The marker: one line that parses to what was written, for any names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.marker import MAX_BYTES, MAX_RED, MAX_ROWS_BYTES, Marker, short
from tidegate.model.plan import RowKey

NAMES = st.text(min_size=1, max_size=12)
MARKERS = st.builds(
    Marker,
    instance=NAMES,
    head=st.text(max_size=12),
    run=st.integers(0, 10**12),
    attempt=st.integers(0, 99),
    exit_code=st.none() | st.integers(0, 255),
    verdict=st.sampled_from(["", "passed", "not_run"]),
    regressed=st.lists(st.builds(RowKey, scenario=NAMES, agent=NAMES), max_size=5).map(tuple),
)


@given(MARKERS, st.text(max_size=20))
def test_what_is_written_is_read_back_whatever_follows(marker: Marker, body: str) -> None:
    assert Marker.parse(f"{marker.format()}\n{body}") == marker


@given(MARKERS)
def test_no_name_ends_the_html_comment(marker: Marker) -> None:
    line = marker.model_copy(update={"instance": f"{marker.instance}--><b>--", "head": "--"}).format()

    assert "--" not in line.removeprefix("<!--").removesuffix("-->")
    assert len(line.splitlines()) == 1
    assert line.isascii()


def test_it_is_readable() -> None:
    row = RowKey(scenario="create_and_link", agent="claude:haiku")
    marker = Marker(instance="default", head="abc", run=12, attempt=1, verdict="failed", regressed=(row,))

    assert marker.format() == (
        "<!-- tidegate instance=default head=abc run=12 attempt=1 verdict=failed"
        " regressed=create_and_link/claude%3Ahaiku -->"
    )


def test_outside_of_github_there_is_no_run() -> None:
    assert Marker(instance="default", head="abc").format() == "<!-- tidegate instance=default head=abc -->"


@pytest.mark.parametrize(
    "body",
    [
        "<!-- tidegate instance=a head=b -->\r\nrest",  # browsers send CRLF when a person edits the comment
        "<!-- tidegate instance=a head=b colour=red -->",
    ],
)
def test_neither_a_windows_line_end_nor_a_later_version_s_words_hide_it(body: str) -> None:
    assert Marker.parse(body) == Marker(instance="a", head="b")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n<!-- tidegate instance=a head=b -->",
        "x <!-- tidegate instance=a head=b -->",
        "<!-- tidegate head=b -->",
        "<!-- tidegate instance=a run=1x -->",
        "<!-- tidegate instance=a run=² -->",
        "<!-- tidegate instance=<a> -->",
        "<!-- tidegated instance=a -->",
    ],
)
def test_anything_else_is_no_marker(body: str) -> None:
    assert Marker.parse(body) is None


def test_names_of_what_is_red_that_do_not_fit_are_left_out() -> None:
    red = tuple(short(str(number)) for number in range(500))
    marker = Marker(instance="a", head="b", red=red)

    read = Marker.parse(marker.format())
    assert read is not None
    assert read.red == red[:MAX_RED]
    assert len(marker.format()) < MAX_BYTES


def test_too_many_rows_are_forgotten_whole() -> None:
    rows = tuple(RowKey(scenario=f"scenario {number}", agent="ü" * 50) for number in range(300))
    marker = Marker(instance="a", head="b", regressed=rows)

    assert len(marker.format()) < MAX_ROWS_BYTES + 100
    read = Marker.parse(marker.format())
    assert read is not None
    assert 0 < len(read.regressed) < 300
    assert read.regressed == rows[: len(read.regressed)]
