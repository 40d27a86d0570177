"""All executors. A new one is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from tidegate.model.executor import Executor
from tidegate.model.value import Family

EXECUTORS = Family(
    {
        "local": "tidegate.model.executor:LocalExecutor",
        "command": "tidegate.executors.command:CommandExecutor",
        "ray": "tidegate.executors.ray_cluster:RayExecutor",
    }
)
AnyExecutor = Annotated[Executor, EXECUTORS]
"""Every executor that a suite can name, selected by `type`."""
