"""For tests that run Tidegate as root: a Python that other users can run, with Tidegate installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from contextlib import suppress

import pytest

from tidegate.trial.sandbox.users import UIDS

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run commands as another user")


def open_python() -> str | None:
    """A Python as ours that other users can run; one in root's home is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([os.path.realpath(python), "-c", version], check=True, user=UIDS[0], capture_output=True)
            return python
    return None


needs_open_python = pytest.mark.skipif(
    os.geteuid() == 0 and open_python() is None, reason="no Python of this version can be run by other users"
)


def tidegate(*arguments: str, first: str = "") -> list[str]:
    """The command line that runs this Tidegate with that Python, after the statement `first`."""
    program = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n{first}\n"
    program += "from tidegate.__main__ import main; raise SystemExit(main())"
    return [str(open_python()), "-c", program, *arguments]
