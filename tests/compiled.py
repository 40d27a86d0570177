"""The programs in C, compiled for tests as strictly as the compiler can."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tidegate.trial.starter import LAUNCHER

STRICT = ("-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def compiled(source: Path, program: Path) -> Path:
    """The program, at this path."""
    subprocess.run(["cc", *STRICT, "-o", str(program), str(source)], check=True)
    return program


def compile_launcher(program: Path) -> Path:
    """The launcher of commands, at this path."""
    return compiled(LAUNCHER.with_name("launcher.c"), program)
