"""A commit that was measured, and where its pull request is."""

from tidegate.model.value import Value


class Revision(Value):
    """A commit, and the name that it was requested by. `dirty`: a working tree with uncommitted changes."""

    sha: str
    ref: str
    dirty: bool = False
    tree: str = ""  # id of git's tree object


class Links(Value):
    """Where the pull request is on GitHub; empty elsewhere."""

    repository: str = ""  # its URL
    pull_request: int | None = None
