"""Run every attempt once and print how it ended: `make attempts`. With `--clean`, run clean pull requests.

Returns 1 if an attempt is green that docs/security.md does not name, or a clean pull request is blocked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.as_root import SYSTEM_PATH, tidegate
from tests.journeys.conftest import Ran
from tests.thorough.attempts.attempt import Attempt
from tests.thorough.attempts.clean import all_clean
from tests.thorough.attempts.test_attempts import ALL, HOSTILE, arguments, make
from tests.thorough.attempts.test_hidden import FORGETFUL as BROKEN
from tests.thorough.attempts.test_hidden import HIDDEN
from tests.warm import run_tidegate

TIMEOUT_SECS = 600.0  # of one; only a hang takes as long


HIDING = {
    f"hidden: {name}": Attempt("", "regression", base=base, head={**BROKEN, **files}, tool=None)
    for name, (base, files) in HIDDEN.items()
}
ATTEMPTS = {**ALL, **HOSTILE, **HIDING}
CLEAN = dict(all_clean())
EVERY = {**ATTEMPTS, **CLEAN}


def ended(name: str) -> tuple[int, str]:
    """Return the exit code of one attempt, and the verdict's reason or the last line of its error."""
    attempt = EVERY[name]
    with tempfile.TemporaryDirectory() as folder:
        repo, out = make(attempt, Path(folder)), Path(folder, "out")
        env = {**os.environ, **attempt.environment}
        if name in HOSTILE:  # each trial as a user of its own, as in the container
            Path(folder).chmod(0o755)
            env = {"PATH": SYSTEM_PATH, "HOME": "/root", **attempt.environment}
            done = subprocess.run(
                tidegate(*arguments(attempt, out)), cwd=repo.root, env=env, capture_output=True, text=True, check=False
            )
        else:
            done = run_tidegate(*arguments(attempt, out), cwd=repo.root, env=env, timeout=TIMEOUT_SECS)
        if (out / "result.json").exists():
            return done.returncode, Ran(done, out).result["verdict"]["reason"]
        return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def main(names: list[str]) -> int:
    """Run the attempts whose names contain one of these, or all."""
    clean = "--clean" in names
    wanted = [name for name in names if name != "--clean"]
    chosen = [name for name in (CLEAN if clean else ATTEMPTS) if not wanted or any(part in name for part in wanted)]
    wrong = documented = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, (code, reason) in zip(chosen, pool.map(ended, chosen), strict=True):
            green, known = code == 0, EVERY[name].code == 0 and not clean
            wrong += code != 0 if clean else green and not known
            documented += green and known
            note = "" if green == clean else "documented" if green and known else "WRONG"
            print(f"{code}  {reason[:60]:60}  {note:10}  {name}", flush=True)
    what = "blocked" if clean else f"green and not documented, {documented} documented"
    print(f"{len(chosen)} {'clean pull requests' if clean else 'attempts'}: {wrong} {what}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
