"""The wheel's tag: it has programs that are linked statically, for one kind of machine and every Python."""

from __future__ import annotations

import os
import platform

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class WheelOfPrograms(bdist_wheel):
    """A wheel for this machine."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag for all systems with glibc or musl. TIDEGATE_MACHINE names another machine than this one."""
        machine = os.environ.get("TIDEGATE_MACHINE") or platform.machine()
        return "py3", "none", f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"


class WithPrograms(Distribution):
    """A distribution that is not pure Python."""

    def has_ext_modules(self) -> bool:
        """Return True: it has compiled programs."""
        return True


setup(distclass=WithPrograms, cmdclass={"bdist_wheel": WheelOfPrograms})
