"""The judge's calls: at most one per question and sample, and none for cached answers."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.unit.run.test_judge_client import SAID


def test_what_was_answered_before_a_kill_is_not_paid_for_twice(tmp_path: Path) -> None:
    """A real process, killed in the middle of judging; each call of the judge's command leaves a line."""
    log, store = tmp_path / "log", tmp_path / "store"
    command = f"cat > {tmp_path}/in; echo call >> {log}; sleep 0.05; echo '{SAID}'"
    program = (
        "import sys; from pathlib import Path; from tests.unit.run.test_judge_client import graded, trials; "
        "from tidegate.checks.judges.command import CommandJudge; "
        f"graded(CommandJudge(type='command', command=sys.argv[1], jobs=2), Path({str(store)!r}), trials(40))"
    )
    begun = subprocess.Popen([sys.executable, "-c", program, command], cwd=Path(__file__).parents[3])
    while not log.exists() or len(log.read_text().splitlines()) < 8:
        assert begun.poll() is None
        time.sleep(0.02)
    begun.kill()
    begun.wait()
    kept = len(list(store.rglob("*.json")))
    assert kept >= 4
    before = len(log.read_text().splitlines())

    subprocess.run([sys.executable, "-c", program, command], cwd=Path(__file__).parents[3], check=True, timeout=120)

    assert len(list(store.rglob("*.json"))) == 40
    asked_again = len(log.read_text().splitlines()) - before
    assert asked_again <= 40 - kept + 2  # two were on their way: their answers were lost, or came while we looked
