"""The fence around what others wrote on stdout. It imports nothing: it is the first that a job prints."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def fence(token: str) -> tuple[str, str]:
    """The two lines between which the runner obeys nothing: around all that an agent may have written.

    Both go to the stream that the rest goes to, as the runner reads stdout and stderr side by side.
    `token`: random, at least 16 letters and digits, and new for every fence.
    """
    if len(token) < 16 or not token.isalnum():
        raise ValueError("the token has to be unguessable")
    return f"::stop-commands::{token}", f"::{token}::"


class Fence:
    """The runner obeys nothing that is written while it stands, but the lines that are given to `command`.

    `new_token`: makes a new unguessable token whenever the fence is put up again.
    """

    def __init__(self, write: Callable[[str], None], new_token: Callable[[], str]) -> None:
        self._write = write
        self._new_token = new_token
        self._end = ""

    def put_up(self) -> None:
        """From here on nothing is obeyed."""
        begin, self._end = fence(self._new_token())
        self._write(begin)

    def take_down(self, *lines: str) -> None:
        """From here on everything is, these lines first."""
        for line in (self._end, *lines):
            self._write(line)

    def command(self, line: str) -> None:
        """This one line is obeyed."""
        self.take_down(line)
        self.put_up()
