"""All errors that end a command: one class per exit code, each with a message and advice."""

from __future__ import annotations

import errno
from typing import ClassVar, Self

# Errors that the machine may raise at any time and that code cannot prevent.
_REFUSALS = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM),
        *(errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY),
        *(errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.ELOOP),
    )
)


class TidegateError(Exception):
    """An error that ends the command. `message` says what is wrong and where, `advice` what to do."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class ConfigurationError(TidegateError):
    """The suite, a scenario or an option is invalid; no agent has run."""

    exit_code = 2

    @classmethod
    def of(cls, problems: list[str], advice: str = "Fix the errors above.") -> Self:
        """Return one error for several problems, each formatted as `file:line:column: key: what is wrong`."""
        return cls("\n".join(problems), advice)


class NothingToRunError(TidegateError):
    """The suite or the selection contains no scenario."""

    exit_code = 3


class CannotRunError(TidegateError):
    """A prerequisite of every trial is missing: an agent, a program or a resource of the machine."""

    exit_code = 4

    @classmethod
    def of(cls, refused: OSError) -> Self | None:
        """Return an error for a failed system call, or None if the cause is more likely a bug in Tidegate."""
        if refused.errno not in _REFUSALS:
            return None
        where = "" if refused.filename is None else f"{refused.filename}: "
        return cls(f"{where}{refused.strerror}.", "Check disk space and permissions.")


class MissingKeyError(CannotRunError):
    """An agent's API key is missing; on a pull request from a fork, this is expected."""
