"""The built-in loop whose provider refuses its key or is down."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.journeys.test_anthropic_loop import SCRIPT
from tests.journeys.test_anthropic_loop import run as run
from tests.model_server import Fault, serving


def test_a_refused_key_ends_the_run_at_once(run: Callable[..., Any]) -> None:
    with serving(SCRIPT, [Fault(401)]) as server:
        done, _ = run(server.url)
    assert len(server.requests) == 1
    assert done.code == 4
    assert "was refused by its model's provider" in done.stderr


def test_an_outage_is_not_measured(run: Callable[..., Any]) -> None:
    """Three attempts at the trial, each with the SDK's own three requests."""
    with serving(SCRIPT, [Fault(529, headers={"retry-after-ms": "1"})] * 9) as server:
        done, out = run(server.url)
    (result,) = json.loads((out / "run.json").read_text())["trials"]
    assert (done.code, result["outcome"], result["not_measured"]) == (4, None, "outage")
    assert len(server.requests) == 9
