"""What the entry point of the container sets up before it handles the event."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.as_root import needs_root
from tests.unit.cli.test_action import IMAGE
from tidegate.cli.action import trusted_checkout


@needs_root
def test_git_reads_the_checkout_at_the_input_path_although_it_belongs_to_the_runner_s_user(tmp_path: Path) -> None:
    checkout = tmp_path / "sub/tool"
    subprocess.run(["git", "init", "--quiet", checkout], check=True)
    for path in (checkout, *checkout.rglob("*")):
        os.chown(path, 1001, 1001)
    image = {**IMAGE, "GIT_CONFIG_VALUE_0": str(tmp_path), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def reads(environ: dict[str, str]) -> bool:
        return subprocess.run(["git", "rev-parse", "--git-dir"], cwd=checkout, env=environ, check=False).returncode == 0

    assert not reads(image)
    assert reads(image | trusted_checkout(image | {"INPUT_PATH": "./sub/tool/"}))
