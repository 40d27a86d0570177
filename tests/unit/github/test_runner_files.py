"""The files that a step writes, read by the runner's rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gh.emulated.runner import read_key_values
from tests.gh.fixtures import make_result
from tidegate.errors import ConfigurationError
from tidegate.github.announce import outputs, read_payload, write_outputs

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


def test_a_payload_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"event\.json"):
        read_payload(tmp_path / "event.json")
