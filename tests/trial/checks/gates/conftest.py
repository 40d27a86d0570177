"""What gates see of real commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tests.unit.checks.gates.conftest import _sees, file, sees
from tidegate.model.gate import GateInput

__all__ = ["file", "sees", "shell"]


def _shell(command: str) -> GateInput:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return _sees(end="signal", signal=-done.returncode, stdout=done.stdout, stderr=done.stderr)
    return _sees(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture(scope="session")
def shell() -> Callable[[str], GateInput]:
    """What came of a command line, run by a real shell."""
    return _shell
