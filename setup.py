"""Compiles the recorder if there is a C compiler. Without one, calls are recorded by a Python script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

TRIAL = Path(__file__).parent / "src/tidegate/trial"
PROGRAM = TRIAL / "recorder-program"


class BuildWithRecorder(build_py):
    """Puts the compiled recorder among the package's files."""

    def run(self) -> None:
        """Compile it unless it is there already, then collect the files."""
        if not PROGRAM.exists() and (compiler := shutil.which("cc")):
            subprocess.run([compiler, "-O2", "-o", str(PROGRAM), str(TRIAL / "recorder.c")], check=False)
        super().run()


class WithProgram(Distribution):
    """A distribution whose wheel is for one kind of machine."""

    def has_ext_modules(self) -> bool:
        """Return True: the wheel may have the program."""
        return True


setup(cmdclass={"build_py": BuildWithRecorder}, distclass=WithProgram)
