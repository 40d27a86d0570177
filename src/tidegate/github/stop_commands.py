"""Stops the runner from obeying commands in the output of others. Imports nothing, since it runs first in a job."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def fence(token: str) -> tuple[str, str]:
    """Return the two lines between which the runner ignores workflow commands.

    Print both to the stream that the output goes to, as the runner reads stdout and stderr concurrently.
    `token` must be random, new for each fence, and at least 16 letters and digits; else ValueError is raised.
    """
    if len(token) < 16 or not token.isalnum():
        raise ValueError("the token has to be unguessable")
    return f"::stop-commands::{token}", f"::{token}::"


class Fence:
    """While it is up, the runner ignores all workflow commands except those passed to `command`.

    `new_token` returns a new random token each time the fence is put up.
    """

    def __init__(self, write: Callable[[str], None], new_token: Callable[[], str]) -> None:
        self._write = write
        self._new_token = new_token
        self._end = ""

    def put_up(self) -> None:
        """Make the runner ignore workflow commands from here on."""
        begin, self._end = fence(self._new_token())
        self._write(begin)

    def take_down(self, *lines: str) -> None:
        """Make the runner obey workflow commands again, and print these commands first."""
        for line in (self._end, *lines):
            self._write(line)

    def command(self, line: str) -> None:
        """Print one workflow command that the runner obeys."""
        self.take_down(line)
        self.put_up()
