"""For tests that run Tidegate as root: a Python that other users can run, with Tidegate installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from contextlib import suppress
from functools import cache

import pytest

from tidegate.trial.sandbox.users import UIDS

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run commands as another user")


OUR_PACKAGES = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"


@cache
def open_python() -> str | None:
    """A Python of our version in which other users can import Tidegate, if there is one.

    They cannot where Python lies in root's home, or this checkout in a folder of mode 700.
    """
    version = f"import sys; assert sys.version_info[:2] == {sys.version_info[:2]}\n"
    program = f"{version}{OUR_PACKAGES}import tidegate.__main__"
    for python in (sys.executable, "/usr/bin/python3"):
        with suppress(OSError, subprocess.CalledProcessError):
            command = [os.path.realpath(python), "-c", program]
            subprocess.run(command, check=True, user=UIDS[0], cwd="/", capture_output=True)
            return python
    return None


needs_open_python = pytest.mark.skipif(
    os.geteuid() == 0 and open_python() is None,
    reason="other users have no Python of this version, or cannot read this checkout",
)


def tidegate(*arguments: str, first: str = "") -> list[str]:
    """The command line that runs this Tidegate with that Python, after the statement `first`."""
    program = f"{OUR_PACKAGES}{first}\n"
    program += "from tidegate.__main__ import main; raise SystemExit(main())"
    return [str(open_python()), "-c", program, *arguments]
