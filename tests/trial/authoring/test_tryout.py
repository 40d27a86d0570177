"""Trials of a first suite, before it is written."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tidegate.authoring.examples import Candidate
from tidegate.authoring.first_suite import _scenario_of
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import draft, tryout
from tidegate.model.progress import Progress
from tidegate.run.run_job import Options
from tidegate.trial.sandbox.supervisor.starter import MEMORY


def test_a_small_workspace_is_on_the_disk_if_that_is_wanted(make_repository: Callable[..., Any]) -> None:
    repo = make_repository()
    repo.commit(FILES)
    tool = Tool(binary="notes", path=("bin",))
    suite = draft(tool, [_scenario_of(tool, Candidate("place", "", (), more=("pwd",)))])

    async def places() -> list[bool]:
        async with tryout(repo.root, Options(environ=dict(os.environ), progress=Progress())) as here:
            ways = [await here.run(suite, 1, on_disk=on_disk) for on_disk in (False, True)]
        return [way["place"][0].checked[0].result.stdout.startswith(MEMORY) for way in ways]

    in_memory, on_disk = asyncio.run(places())
    assert not on_disk
    if not in_memory:
        pytest.skip("small workspaces are on the disk here")
