"""Which files of the machine the commands of a trial may use besides their own."""

from __future__ import annotations

from tidegate.model.field_types import MachinePath
from tidegate.model.value import Value


class FileAccess(Value):
    """More folders and files that builds, setup, agents and gates may read, or write."""

    read: tuple[MachinePath, ...] = ()
    write: tuple[MachinePath, ...] = ()
