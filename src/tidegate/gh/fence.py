"""The fence around what others wrote on stdout. It imports nothing: it is the first that a job prints."""

from __future__ import annotations


def fence(token: str) -> tuple[str, str]:
    """The two lines between which the runner obeys nothing: around all that an agent may have written.

    Both go to the stream that the rest goes to, as the runner reads stdout and stderr side by side.
    `token`: random, at least 16 letters and digits, and new for every fence.
    """
    if len(token) < 16 or not token.isalnum():
        raise ValueError("the token has to be unguessable")
    return f"::stop-commands::{token}", f"::{token}::"
