"""All executors. A new one is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.executors.command import CommandExecutor
from tidegate.executors.ray_cluster import RayExecutor
from tidegate.model.executor import LocalExecutor

AnyExecutor = Annotated[LocalExecutor | CommandExecutor | RayExecutor, Field(discriminator="type")]
"""Every executor that a suite can name, selected by `type`."""
