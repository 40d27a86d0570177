"""Where a comparison's pull request is."""

from __future__ import annotations

from tidegate.model.value import Value


class Links(Value):
    """Where the pull request is on GitHub; empty elsewhere."""

    repository: str = ""  # its URL
    pull_request: int | None = None
