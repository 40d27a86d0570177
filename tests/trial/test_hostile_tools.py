"""What a tool can try to turn a failure into something that does not count, each on real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.as_root import needs_open_python, needs_root
from tests.trial.hostile import RECORD, SUITE, run, scenario

IMPATIENT = SUITE.replace("doc-follower", "doc-follower, timeout_secs: 2")

pytestmark = [needs_root, needs_open_python]


@pytest.mark.attempt(
    "has the tool empty the record of its calls and exit with 127", "the call is recorded, the trial fails", 1
)
def test_a_tool_cannot_empty_its_record(open_folder: Path) -> None:
    tool = f"#!/bin/sh\n: > {RECORD}\ntruncate -s 0 {RECORD}\nrm -f {RECORD}\nexit 127\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")})
    assert (ran.cause, ran.is_green) == (None, False)
    assert ("tk add", "error") in ran.calls


@pytest.mark.attempt(
    "has the tool write into the record of its calls", "no outcome, which is repeated as failures are", 1
)
def test_a_tool_that_writes_into_its_record_has_no_outcome(open_folder: Path) -> None:
    tool = f"#!/bin/sh\necho x > {RECORD}\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add || true")})
    assert (ran.cause, ran.is_green) == ("record_lost", False)
    assert ("tk add", "error") in ran.calls


@pytest.mark.attempt("has the tool kill its recorder", "the call is recorded, the trial fails", 1)
def test_a_tool_cannot_hide_a_failure_by_killing_its_recorder(open_folder: Path) -> None:
    tool = "#!/bin/sh\nkill -9 $PPID\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add || true")})
    assert ("tk add", "error") in ran.calls
    assert not ran.is_green


@pytest.mark.attempt("has the tool hang", "the call is a timeout, the trial fails", 1)
def test_a_call_that_hangs_has_failed_and_is_named(open_folder: Path) -> None:
    tool = '#!/bin/sh\n[ "$1" = --version ] && exit 0\nsleep 100\n'
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk ready --all")}, IMPATIENT)
    assert ran.calls == [("tk ready --all", "timeout")]
    assert (ran.cause, ran.trial["outcome"], ran.trial["end"]) == (None, "fail", "timeout")
    assert "stopped after 2 s in `tk ready --all`" in ran.trial["reason"]
    assert ran.trial["metrics"]["error_count"] == 1


# A server that does what its first start tells it: that of the check before the agent, or that of the agent.
