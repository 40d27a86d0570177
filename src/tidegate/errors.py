"""Every way to end badly: one class each, with its exit code and what to do about it."""

from __future__ import annotations

import errno
from typing import ClassVar, Self

# What the machine may refuse at any time, and no code of ours could know before.
_REFUSALS = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM),
        *(errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY),
        *(errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.ELOOP),
    )
)


class TidegateError(Exception):
    """A run that cannot go on. `message` says what is wrong and where, `advice` what to do."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class ConfigurationError(TidegateError):
    """The suite, a scenario or an option is wrong; no agent has been run."""

    exit_code = 2

    @classmethod
    def of(cls, problems: list[str], advice: str = "Mend the lines above; `tidegate check` shows them.") -> Self:
        """One error for all problems at once, each already `file:line:column: key: what is wrong`."""
        return cls("\n".join(problems), advice)


class NothingToRunError(TidegateError):
    """The suite or the selection names no scenario at all."""

    exit_code = 3


class CannotRunError(TidegateError):
    """An agent, a program or the machine is missing something that every trial needs."""

    exit_code = 4

    @classmethod
    def of(cls, refused: OSError) -> Self | None:
        """What the machine has refused, in a sentence; None where the cause must be looked for in our own code."""
        if refused.errno not in _REFUSALS:
            return None
        where = "" if refused.filename is None else f"{refused.filename}: "
        return cls(f"{where}{refused.strerror}.", "Look at the disk, the room on it, and its rights.")


class MissingKeyError(CannotRunError):
    """An agent has no key; on a pull request from a fork that is as it should be."""
