"""What a tool can try to turn a failure into something that does not count, each on real processes."""

from __future__ import annotations

from pathlib import Path

from tests.as_root import needs_open_python, needs_root
from tests.trial.hostile import RECORD, SUITE, run, scenario

IMPATIENT = SUITE.replace("doc-follower", "doc-follower, timeout_secs: 2")

pytestmark = [needs_root, needs_open_python]


def test_a_tool_cannot_empty_its_record(open_folder: Path) -> None:
    tool = f"#!/bin/sh\n: > {RECORD}\ntruncate -s 0 {RECORD}\nrm -f {RECORD}\necho x > {RECORD}\nexit 127\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")})
    assert (ran.cause, ran.is_green) == (None, False)
    assert ("tk add", "error") in ran.calls


def test_a_tool_cannot_read_what_others_recorded(open_folder: Path) -> None:
    """A FIFO gives each byte to one reader: who reads it takes it away."""
    tool = f"#!/bin/sh\n(timeout 3 cat {RECORD} > stolen) & sleep 1; [ ! -s stolen ]; exit 3\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add\ntk list")})
    assert ran.calls[:1] == [("tk add", "error")]
    assert not ran.is_green


def test_a_tool_cannot_hide_a_failure_by_killing_its_recorder(open_folder: Path) -> None:
    tool = "#!/bin/sh\nkill -9 $PPID\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add || true")})
    assert ("tk add", "error") in ran.calls
    assert not ran.is_green


def test_a_tool_that_stops_its_recorder_hangs(open_folder: Path) -> None:
    tool = "#!/bin/sh\nkill -STOP $PPID\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")}, IMPATIENT)
    assert ran.calls == [("tk add", "timeout")]
    assert not ran.is_green


def test_a_call_that_hangs_has_failed_and_is_named(open_folder: Path) -> None:
    tool = '#!/bin/sh\n[ "$1" = --version ] && exit 0\nsleep 100\n'
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk ready --all")}, IMPATIENT)
    assert ran.calls == [("tk ready --all", "timeout")]
    assert (ran.cause, ran.trial["outcome"], ran.trial["end"]) == (None, "fail", "timeout")
    assert "stopped after 2 s in `tk ready --all`" in ran.trial["reason"]
    assert ran.trial["metrics"]["error_count"] == 1


def test_a_call_left_running_is_no_failure(open_folder: Path) -> None:
    """A server in the background is something that agents do."""
    tool = '#!/bin/sh\n[ "$1" = serve ] && exec sleep 100\nexit 0\n'
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk serve & sleep 1\ntk list")})
    assert ("tk serve", "unfinished") in ran.calls
    assert ran.is_green


def test_a_tool_that_takes_all_memory_has_failed(open_folder: Path) -> None:
    tool = "#!/bin/sh\nexec python3 -c 'x = bytearray(400_000_000); import time; time.sleep(100)'\n"
    suite = f"{SUITE}limits: {{memory_mb: 200}}\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")}, suite)
    assert ("tk add", "error") in ran.calls
    assert not ran.is_green


def test_a_tool_cannot_flood_its_record(open_folder: Path) -> None:
    """Nothing is read beyond a limit: the tool waits until its time is up."""
    tool = f"#!/bin/sh\nyes | head -c 30000000 > {RECORD}\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add || true")}, IMPATIENT)
    assert ran.cause == "record_lost"
    assert "MB were recorded" in ran.trial["reason"]


def test_a_long_call_is_recorded_as_a_whole(open_folder: Path) -> None:
    tool = "#!/bin/sh\nexit 2\n"
    words = "w" * 9000
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario(f"tk {words} last")})
    assert "last" in ran.calls[0][0] or ran.calls[0][0].startswith("tk www")
    assert ran.calls[0][1] == "error"


def test_a_tool_that_kills_everything_has_failed(open_folder: Path) -> None:
    tool = "#!/bin/sh\nkill -9 -1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")})
    assert not ran.is_green
    assert ran.cause in (None, "supervisor_lost")
    assert ran.calls[0] == ("tk add", "error")


def test_a_tool_that_fills_the_disk_is_an_inside_cause(open_folder: Path, small_disk: Path) -> None:
    tool = "#!/bin/sh\ncat /dev/zero > big 2>/dev/null\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")}, environment={"TMPDIR": str(small_disk)})
    assert (ran.cause, ran.is_green) == ("resources", False)
    assert "No space left" in ran.trial["reason"] or "no room left" in ran.trial["reason"]


def test_a_tool_that_takes_all_inodes_is_an_inside_cause(open_folder: Path, small_disk: Path) -> None:
    tool = "#!/bin/sh\ni=0; while : > f$i; do i=$((i+1)); done 2>/dev/null\nexit 1\n"
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add")}, environment={"TMPDIR": str(small_disk)})
    assert (ran.cause, ran.is_green) == ("resources", False)


def test_a_background_process_writes_nothing_after_the_agents_end(open_folder: Path) -> None:
    """It waits for the first gate, and would make the file that the second one looks for."""
    late = "while [ ! -e gate-began ]; do sleep 0.05; done; touch answer.txt"
    tool = f"#!/bin/sh\n(setsid sh -c '{late}' >/dev/null 2>&1 &)\nexit 0\n"
    gates = (
        "gates:\n- {type: command_succeeds, command: 'touch gate-began; sleep 1'}\n"
        "- {type: file_exists, path: answer.txt}\n"
    )
    ran = run(open_folder, {"bin/tk": tool, "s.yaml": scenario("tk add", gates)})
    assert [gate["passed"] for gate in ran.trial["gates"]] == [True, False]
