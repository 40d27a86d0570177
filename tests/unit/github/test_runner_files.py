"""The files that a step writes, read by the runner's rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gh.emulated.runner import read_key_values
from tests.gh.fixtures import make_result
from tidegate.errors import ConfigurationError
from tidegate.github.runner_files import MAX_SUMMARY_BYTES, append_summary, outputs, read_payload, write_outputs

HOSTILE = "x\nEOF\nother=1\nghadelimiter_\n<<\r\n=\n\n"


@given(st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.text(st.characters(codec="utf-8"))))
def test_every_value_arrives_as_it_is(tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]) -> None:
    file = tmp_path_factory.mktemp("output") / "set_output"
    file.write_text("earlier=1\n", encoding="utf-8")

    write_outputs(file, values)

    assert read_key_values(file.read_bytes().decode()) == {"earlier": "1", **values}


def test_no_value_makes_an_output_of_its_own(tmp_path: Path) -> None:
    write_outputs(tmp_path / "out", {"a": HOSTILE, "b": HOSTILE})

    assert read_key_values((tmp_path / "out").read_bytes().decode()) == {"a": HOSTILE, "b": HOSTILE}


def test_a_value_that_knows_the_delimiter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="delimiter"):
        write_outputs(tmp_path / "out", {"a": "b\ntidegate_known\nc=d"}, token=lambda: "known")

    assert not (tmp_path / "out").exists()


def test_the_outputs_of_a_failed_run() -> None:
    result = make_result(add="regressed", sync="regressed", list="improved", show="unconfirmed", undo="not_measured")
    result = result.model_copy(update={"cost": result.cost.model_copy(update={"usd": 0.12345})})

    assert outputs(result, {"result_path": ".tidegate/pr/result.json"}) == {
        "verdict": "failed",
        "reason": "regression",
        "regressions": "2",
        "improvements": "1",
        "unconfirmed": "1",
        "not_measured": "1",
        "cost_usd": "0.1235",
        "matrix": "",
        "result_path": ".tidegate/pr/result.json",
        "report_path": "",
        "comment_url": "",
    }


def test_a_cost_that_nobody_reported_is_not_zero() -> None:
    assert outputs(make_result())["cost_usd"] == ""


def test_a_summary_that_fits_is_written_whole_after_what_stands_there(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("earlier\n", encoding="utf-8")

    assert append_summary(file, ["# one", "two"]) == 2
    assert file.read_text(encoding="utf-8") == "earlier\n# one\ntwo\n"


def test_a_large_summary_loses_its_last_parts_whole_and_says_so(tmp_path: Path) -> None:
    part = "ü" * 150_000

    assert append_summary(tmp_path / "summary", [part] * 5) == 3
    text = (tmp_path / "summary").read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_SUMMARY_BYTES
    assert text.count("ü") == 450_000
    assert text.endswith("2 of 5 parts left out: the summary of a step may have 1 MiB.\n")


def test_the_note_on_what_is_left_out_has_room_of_its_own(tmp_path: Path) -> None:
    parts = ["x" * (MAX_SUMMARY_BYTES - 20), "y" * 100]

    assert append_summary(tmp_path / "summary", parts) == 0
    assert (tmp_path / "summary").stat().st_size < 100


@given(st.lists(st.integers(0, MAX_SUMMARY_BYTES + 10), max_size=4), st.integers(0, MAX_SUMMARY_BYTES - 200))
def test_a_summary_is_never_too_large(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], earlier: int) -> None:
    file = tmp_path_factory.mktemp("summary") / "file"
    file.write_bytes(b"x" * earlier)

    append_summary(file, ["y" * size for size in sizes])

    assert file.stat().st_size < MAX_SUMMARY_BYTES


def test_a_payload_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"event\.json"):
        read_payload(tmp_path / "event.json")
