"""The recorder: a wrapper with the target's name, first on PATH, that records every call (metrics.md, Invocations)."""

from __future__ import annotations

import marshal
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tidegate.invocations.metrics import subcommand
from tidegate.model.event import CallStatus
from tidegate.model.trial import Invocation
from tidegate.trial.safe_files import open_regular

SHIM = Path(__file__).with_name("recorder_shim.py")
FLAGS = "-ISXutf8"  # one word: a first line can pass a single argument
FIRST_LINE_BYTES = 127  # longest first line that every kernel accepts
READ_LIMIT = 64 << 20  # bytes; more calls than any real agent makes
RECORD = re.compile(
    rb"\0tidegate-(?:"
    rb"call\0(?P<call>[^\0]+)\0(?P<started>\d{1,19})\0(?P<cwd>[^\0]*)\0(?P<length>\d{1,9})\0"
    rb"|end\0(?P<end>[^\0]+)\0(?P<duration>\d{1,19})\0(?P<status>-?\d{1,3})\0\n)"
)


class _Call(NamedTuple):
    """A start record."""

    id: bytes
    argv: tuple[str, ...]
    cwd: str
    started_at: float


class _End(NamedTuple):
    """An end record; `status` is the exit status, or minus the signal."""

    id: bytes
    duration_s: float
    status: int


def install(folder: Path, binary: str, search_path: str, record: Path) -> Path:
    """Create the wrapper below `folder` and an empty record; return the directory to put first on PATH.

    The wrapper finds the target in `search_path`. If `binary` is a path, it is the target itself; a relative path is
    resolved from where it is called. Everything is written into the wrapper, since agents may filter the environment.
    """
    record.parent.mkdir(parents=True, exist_ok=True)
    record.touch()
    directory = folder.absolute() / "bin"
    directory.mkdir(parents=True, exist_ok=True)
    wrapper = directory / binary.rpartition("/")[2]
    program = _program(os.fsencode(binary), os.fsencode(search_path), os.fsencode(record.absolute()))
    write_script(wrapper, program)
    return directory


def write_script(path: Path, program: bytes) -> None:
    """Write Python code as an executable that uses Tidegate's interpreter and none of the caller's settings."""
    interpreter = os.path.realpath(sys.executable)
    first_line = os.fsencode(f"#!{interpreter} {FLAGS}\n")
    if len(first_line) > FIRST_LINE_BYTES or re.search(r"\s", interpreter):
        inner = path.parent.with_name(f"{path.name}.py")
        inner.write_bytes(program)
        words = shlex.join([interpreter, FLAGS, str(inner)])
        first_line, program = b"#!/bin/sh\n", os.fsencode(f'exec {words} "$@"\n')
    path.write_bytes(first_line + program)
    path.chmod(0o755)


def _program(*arguments: bytes) -> bytes:
    """Return the shim with its arguments, compiled for the interpreter that will run it: this saves 1.6 ms per call."""
    source = f"{SHIM.read_text(encoding='utf-8')}\nmain{arguments!r}\n"
    code = marshal.dumps(compile(source, "recorder", "exec", optimize=2))
    return f"import marshal\nexec(marshal.loads({code!r}))\n".encode()


def read(
    record: Path, *, binary: str, command_pattern: str | None, killed_at: float | None = None
) -> tuple[tuple[Invocation, ...], tuple[str, ...]]:
    """Return the recorded invocations by start time, and warnings. Never raises, whatever the file contains.

    A call that ended after `killed_at` is `interrupted`: this is when Tidegate began to kill the agent (seconds since
    the epoch).
    """
    data = notes(record)
    if data is None:
        return (), ("the recorder's file is gone: no call of the target is known",)
    return parsed(data, binary=binary, command_pattern=command_pattern, killed_at=killed_at)


def notes(record: Path) -> bytes | None:
    """Return the contents of the recorder's file, or None if it is missing."""
    file = open_regular(record)
    if file is None:
        return None
    with file:
        return file.read(READ_LIMIT + 1)


def parsed(
    data: bytes, *, binary: str, command_pattern: str | None, killed_at: float | None
) -> tuple[tuple[Invocation, ...], tuple[str, ...]]:
    """Return the invocations in the recorded data, and warnings."""
    warnings = [f"the recorder's file is cut after {READ_LIMIT} bytes"] if len(data) > READ_LIMIT else []
    calls: dict[bytes, _Call] = {}
    ends: dict[bytes, _End] = {}
    understood = 0
    for entry, size in _entries(data):
        if isinstance(entry, _Call) and entry.id not in calls:
            calls[entry.id] = entry
            understood += size
        elif isinstance(entry, _End) and entry.id in calls and entry.id not in ends:
            ends[entry.id] = entry
            understood += size
    if understood < len(data):
        warnings.append(f"{len(data) - understood} bytes of the recorder's file make no sense and were left out")
    ordered = sorted(calls.values(), key=lambda call: call.started_at)
    invocations = [_invocation(call, ends.get(call.id), killed_at) for call in ordered]
    named = [i.model_copy(update={"subcommand": subcommand(binary, i.argv, command_pattern)}) for i in invocations]
    return tuple(named), tuple(warnings)


def _entries(data: bytes) -> Iterator[tuple[_Call | _End, int]]:
    """Yield the complete records, each with its size in bytes. Data between them is skipped."""
    position = 0
    while match := RECORD.search(data, position):
        end = match.end()
        if match["end"] is not None:
            yield _End(match["end"], int(match["duration"]) / 1e9, int(match["status"])), end - match.start()
        else:
            start, end = end, end + int(match["length"]) + 1
            if data[end - 1 : end] != b"\n" or data[end - 2 : end - 1] != b"\0":
                position = match.start() + 1
                continue
            argv = tuple(_text(argument) for argument in data[start : end - 1].split(b"\0")[:-1])
            yield _Call(match["call"], argv, _text(match["cwd"]), int(match["started"]) / 1e9), end - match.start()
        position = end


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def _invocation(call: _Call, end: _End | None, killed_at: float | None) -> Invocation:
    status: CallStatus = "unfinished"
    if end is not None and killed_at is not None and call.started_at + end.duration_s >= killed_at:
        status = "interrupted"
    elif end is not None:
        status = "ok" if end.status == 0 else "error"
    return Invocation(
        argv=call.argv,
        cwd=call.cwd,
        exit_code=None if end is None else end.status if end.status >= 0 else 128 - end.status,
        status=status,
        started_at=call.started_at,
        duration_s=None if end is None else end.duration_s,
    )
