"""`tidegate doctor` says what holds in each setting, by what a process could do."""

from __future__ import annotations

import subprocess
import tempfile
from functools import partial
from pathlib import Path

import pytest

from tests.as_root import SYSTEM_PATH, needs_open_python, needs_root, tidegate
from tests.thorough.escapes.settings import become

pytestmark = [needs_root, needs_open_python]
STATES = {
    "root": {"users": "ok", "files": "ok", "network": "ok"},
    "user": {"users": "limited", "files": "ok", "network": "ok"},
    "container": {"users": "ok", "files": "limited", "network": "limited"},
    "podman": {"users": "ok", "files": "limited", "network": "limited"},
}


@pytest.mark.parametrize("setting", STATES)
def test_each_line_is_what_the_setting_allows(setting: str) -> None:
    with tempfile.TemporaryDirectory(prefix="doctor-", dir="/srv") as name:
        Path(name).chmod(0o755)
        done = subprocess.run(
            tidegate("doctor"),
            cwd=name,
            env={"PATH": SYSTEM_PATH, "HOME": name},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=partial(become, setting),
        )
    found = {line[8:].strip().partition(":")[0]: line for line in done.stdout.splitlines() if not line.startswith(" ")}
    assert done.returncode == 0, done.stdout + done.stderr
    assert {what: found[what].split()[0] for what in STATES[setting]} == STATES[setting], done.stdout
