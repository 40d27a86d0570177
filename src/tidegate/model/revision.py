"""A commit that was measured."""

from __future__ import annotations

from tidegate.model.value import Value


class Revision(Value):
    """A commit, and the name that it was requested by. `dirty`: a working tree with uncommitted changes."""

    sha: str
    ref: str
    dirty: bool = False
    tree: str = ""  # id of git's tree object
