"""Checks that the target exists, before an agent is started and paid for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tidegate.model.target import Target


def missing_target(target: Target, environment: Mapping[str, str], workspace: Path) -> str | None:
    """Return a message if the target is neither on the PATH of the trial's commands nor in the workspace, else None.

    In the workspace, it is called as `./tool`. A `binary` that is a path is not checked, because it is resolved from
    where it is called. An MCP server has its own check.
    """
    if target.mcp is not None or not target.binary or "/" in target.binary:
        return None
    if not environment["PATH"]:
        return f"`path` has no program `{target.binary}` where base has it, or another one comes first"
    folders = [os.path.join(workspace, folder) for folder in (*environment["PATH"].split(os.pathsep), ".")]  # noqa: PTH118
    if shutil.which(target.binary, path=os.pathsep.join(folders)):
        return None
    if found := shutil.which(target.binary, mode=os.F_OK, path=os.pathsep.join(folders)):
        return f"`{Path(found).name}` cannot be executed: run `chmod +x` on it, and commit that"
    return f"there is no program `{target.binary}` on PATH; is that its name, and does `path` have its folder?"
