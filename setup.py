"""Compiles the recorder and the launcher if there is a C compiler. Without one, Python does what they do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

TRIAL = Path(__file__).parent / "src/tidegate/trial"
SOURCES = (TRIAL / "recorder.c", TRIAL / "supervisor/launcher.c")


class BuildWithPrograms(build_py):
    """Puts the compiled programs among the package's files."""

    def run(self) -> None:
        """Compile those that are missing or older than their source, then collect the files."""
        for source in SOURCES:
            program = source.with_name(f"{source.stem}-program")
            stale = not program.exists() or program.stat().st_mtime < source.stat().st_mtime
            if stale and (compiler := shutil.which("cc")):
                # Linked statically, where the system has the C library for it, they start in half the time.
                command = [compiler, "-O2", "-o", str(program), str(source)]
                if subprocess.run([*command, "-static"], check=False, capture_output=True).returncode != 0:
                    subprocess.run(command, check=False)
        super().run()


class WithPrograms(Distribution):
    """A distribution whose wheel is for one kind of machine."""

    def has_ext_modules(self) -> bool:
        """Return True: the wheel may have the programs."""
        return True


setup(cmdclass={"build_py": BuildWithPrograms}, distclass=WithPrograms)
