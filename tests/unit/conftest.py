"""What is tested here is code and values: nothing starts a process."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

import pytest

STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"})
started: list[str] = []


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if event in STARTS:
        started.append(f"{event}: {arguments[:2]}")


platform.processor()  # asks `uname` once, as a provider's library would do
sys.addaudithook(_listen)


@pytest.fixture(autouse=True)
def _no_process_starts() -> Iterator[None]:
    """Fail a test that starts a process; it belongs to another layer (CONTRIBUTING.md)."""
    started.clear()
    yield
    assert started == [], "a test that starts a process belongs to tests/trial"
