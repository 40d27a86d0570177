"""`tty: true`: a wrapper with the target's name runs it on a pseudo-terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tidegate.model.target import Target
from tidegate.trial.recorder import write_script

SHIM = Path(__file__).with_name("terminal_shim.py")


def put_first(target: Target, folder: Path, environments: Iterable[dict[str, str]]) -> None:
    """Put a wrapper of the target first on PATH in each of the environments, if it is to run on a terminal."""
    for number, environment in enumerate(environments if target.tty else ()):
        environment.update(install(folder / str(number), target.binary, environment))


def install(folder: Path, binary: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Create the wrapper in `folder`; return the environment with the folder first on PATH.

    The recorder comes before it on PATH, so that the wrapper is what the recorder takes for the target.
    """
    folder.mkdir(parents=True, exist_ok=True)
    call = f"main({binary!r}, {environment['PATH']!r})\n"
    write_script(folder / binary, (SHIM.read_text(encoding="utf-8") + call).encode())
    return {**environment, "PATH": f"{folder}:{environment['PATH']}"}
