"""Is the target there at all? Asked before an agent is started, and paid for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tidegate.model.suite import Target


def missing_target(target: Target, environment: Mapping[str, str], workspace: Path) -> str | None:
    """A sentence where no folder on the PATH of a trial's commands has the target; None if one does.

    A `binary` that is a path is looked for by whoever calls it, from where that stands; a server checks itself.
    """
    if target.mcp is not None or not target.binary or "/" in target.binary:
        return None
    folders = [str(workspace / folder) for folder in environment["PATH"].split(os.pathsep)]
    if shutil.which(target.binary, path=os.pathsep.join(folders)):
        return None
    return f"there is no program `{target.binary}` on PATH; is that its name, and does `path` have its folder?"
