"""The supervisor's main loop.

As the child subreaper it inherits all orphans below it, including daemons. It answers a request only when the last
process is dead and reaped.
"""

from __future__ import annotations

import ctypes
import json
import os

from tidegate.trial.common_files import CommonFiles
from tidegate.trial.supervisor.command import Command
from tidegate.trial.supervisor.control import CANCEL, Control
from tidegate.trial.supervisor.messages import Request
from tidegate.trial.supervisor.tree import look_at

PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


def serve(launcher: str) -> None:
    """Report whether this system is supported, then serve requests until Tidegate ends; `launcher` starts commands."""
    control = Control()
    missing = what_is_missing()
    control.introduce(missing)
    first = control.next_line() if missing is None else None
    common = CommonFiles(json.loads(first or b"[]"))
    while first is not None and (line := control.next_line()) is not None:
        if line != CANCEL:  # a late cancellation, sent before the answer arrived, has nothing to cancel
            control.send(Command(Request(**json.loads(line)), control, launcher, common).run()._asdict())


def what_is_missing() -> str | None:
    """Become the subreaper. Return the required kernel feature that is missing, or None."""
    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        return str(error)
    return None if look_at("self") else "/proc is missing"


def prctl(option: int, value: int) -> None:
    """Call prctl(2); raise OSError if it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(argument) for argument in (value, 0, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) does not work")
