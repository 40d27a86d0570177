"""A small valid suite, of which a test changes one thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tidegate.model.suite import Suite
from tidegate.suite.load import load_suite

SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\n"
SCENARIO = "name: first\ndescription: The first.\ntarget: {binary: taskmgr}\ntask: List the tasks.\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Suite]:
    """Writes files over the valid suite (a name that ends with a slash is a folder) and loads it."""

    def load(files: Mapping[str, str | bytes | None], environ: Mapping[str, str] | None = None) -> Suite:
        for name, content in {"tidegate.yaml": SUITE, "scenarios/first.yaml": SCENARIO, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
            elif content is not None:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_suite(tmp_path, environ=environ or {})

    return load
