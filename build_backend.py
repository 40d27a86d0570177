"""The build backend: setuptools, after the recorder and the launcher have been compiled.

Without a C compiler it asks for the one that PyPI has (`ziglang`), so that an installation needs nothing but Python.
Sources: PEP 517, PEP 660.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

MACHINE = os.environ.get("TIDEGATE_MACHINE") or platform.machine()  # that the wheel is for, as `uname -m` has it
TRIAL = Path(__file__).parent / "src/tidegate/trial"
SOURCES = (TRIAL / "recorder.c", TRIAL / "sandbox/supervisor/launcher.c")
MISSING = "Tidegate's recorder and launcher need a C compiler: install cc, or `pip install ziglang`."


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what setuptools asks for, and a compiler if there is work for one and the machine has none."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_compiler_required()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return the same for an editable installation."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_compiler_required()]


def _after_compiling(build: Callable[..., str]) -> Callable[..., str]:
    def built(*arguments: Any, **named: Any) -> str:
        for source in _stale():
            _compile(source)
        return build(*arguments, **named)

    return built


build_wheel = _after_compiling(build_meta.build_wheel)
build_editable = _after_compiling(build_meta.build_editable)


def _program(source: Path) -> Path:
    return source.with_name(f"{source.stem}-program")


def _stale() -> list[Path]:
    """Return the sources whose program is missing, or older than they or this file are."""
    found = ((source, _program(source)) for source in SOURCES)
    return [source for source, made in found if not made.exists() or made.stat().st_mtime < _changed(source)]


def _changed(source: Path) -> float:
    return max(source.stat().st_mtime, Path(__file__).stat().st_mtime)


def _compiler_required() -> list[str]:
    return ["ziglang"] if _stale() and _compiler() is None else []


def _compiler() -> str | None:
    """Return the compiler for the wheel's machine, such as Debian's for another one, or None.

    musl's comes first. Programs of glibc ask the processor for its caches when they start, which takes 0.2 ms in a
    virtual machine.
    """
    names = ("musl-gcc", "cc") if platform.machine() == MACHINE else (f"{MACHINE}-linux-gnu-gcc",)
    return next(filter(None, map(shutil.which, names)), None)


def _compile(source: Path) -> None:
    """Compile a program, linked statically where the system has the C library for it: it starts in half the time."""
    flags = ["-O2", "-s", "-o", str(_program(source)), str(source)]
    if compiler := _compiler():
        if subprocess.run([compiler, *flags, "-static"], check=False, capture_output=True).returncode != 0:
            subprocess.run([compiler, *flags], check=True)
        return
    target = f"{MACHINE}-linux-musl"
    if subprocess.run([sys.executable, "-m", "ziglang", "cc", "-target", target, *flags], check=False).returncode != 0:
        sys.exit(MISSING)
