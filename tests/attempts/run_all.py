"""Run every attempt once and print how it ended: `make attempts`. Returns 1 if one is green and not documented."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.as_root import SYSTEM_PATH, tidegate
from tests.attempts.test_attempts import ALL, HOSTILE, arguments, make
from tests.e2e.conftest import Ran
from tests.warm import run_tidegate

TIMEOUT_SECS = 600.0  # of one; only a hang takes as long


EVERY = {**ALL, **HOSTILE}


def ended(name: str) -> tuple[int, str]:
    """Return the exit code of one attempt, and the verdict's reason or the last line of its error."""
    attempt = EVERY[name]
    with tempfile.TemporaryDirectory() as folder:
        repo, out = make(attempt, Path(folder)), Path(folder, "out")
        env = {**os.environ, **attempt.environment}
        if name in HOSTILE:  # each trial as a user of its own, as in the container
            Path(folder).chmod(0o755)
            env = {"PATH": SYSTEM_PATH, "HOME": "/root"}
            done = subprocess.run(
                tidegate(*arguments(attempt, out)), cwd=repo.root, env=env, capture_output=True, text=True, check=False
            )
        else:
            done = run_tidegate(*arguments(attempt, out), cwd=repo.root, env=env, timeout=TIMEOUT_SECS)
        if (out / "result.json").exists():
            return done.returncode, Ran(done, out).result["verdict"]["reason"]
        return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def main(names: list[str]) -> int:
    """Run the named attempts, or all."""
    chosen = {name: one for name, one in EVERY.items() if not names or any(part in name for part in names)}
    green = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (name, attempt), (code, reason) in zip(chosen.items(), pool.map(ended, chosen), strict=True):
            undocumented = code == 0 and attempt.code != 0
            green += undocumented
            known = "UNDOCUMENTED" if undocumented else "documented" if code == 0 else ""
            print(f"{code}  {reason[:60]:60}  {known:12}  {name}", flush=True)
    print(f"{len(chosen)} attempts, {green} undocumented green")
    return int(green > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
