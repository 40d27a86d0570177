"""The recorder: a wrapper with the target's name, first on PATH, that records every call (recorder.c)."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import F_SETPIPE_SZ, fcntl
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from tidegate.model.event import CallStatus, Invocation
from tidegate.trial.safe_files import open_regular, write_file

PROGRAM = Path(__file__).with_name("recorder-program")  # recorder.c, compiled by the build
FLAGS = "-ISXutf8"  # one word: a first line can pass a single argument
FIRST_LINE_BYTES = 127  # longest first line that every kernel accepts
READ_LIMIT = 16 << 20  # bytes: about 50,000 calls
_NOTHING: Mapping[str, str | None] = {}
GONE = "the recorder's file is gone: no call of the target is known"
KILLED = 128 + 9  # exit status, as a shell reports it
RECORD = re.compile(
    rb"\0tidegate-(?:"
    rb"call\0(?P<call>\d{1,9}-[^\0]+)\0(?P<started>\d{1,19})\0(?P<cwd>[^\0]*)\0(?P<length>\d{1,9})\0"
    rb"|end\0(?P<end>[^\0]+)\0(?P<duration>\d{1,19})\0(?P<status>-?\d{1,3})\0\n"
    rb"|part\0(?P<part>[^\0]+)\0(?P<more>[01])\0(?P<size>\d{1,4})\0)"
)
StoppedBy = Literal["time", "limit", "other"]
_STOPPED: dict[StoppedBy, CallStatus] = {"time": "timeout", "limit": "error", "other": "interrupted"}


class Stop(NamedTuple):
    """Tidegate stopped a command of the agent's step: when (seconds since the epoch), and because of what."""

    at: float
    by: StoppedBy


@dataclass
class Stops:
    """How the commands of an agent's step ended.

    `left_over` holds the processes that still ran when the command that had started them ended by itself.
    """

    stopped: list[Stop] = field(default_factory=list)
    left_over: set[int] = field(default_factory=set)


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


def install(
    folder: Path,
    binary: str,
    search_path: str,
    record: Path,
    added: Mapping[str, str | None] = _NOTHING,
    program: Path = PROGRAM,
) -> Path:
    """Create the wrapper in `folder`, to be put first on PATH; return the folder. `record` is the FIFO of `call_log`.

    The wrapper finds the target in `search_path`. If `binary` is a path, it is the target itself; a relative path is
    resolved from where it is called. Everything is written into the wrapper, since agents may filter the environment.
    `added`: variables that the target gets, and the agent's program does not; those that are None are removed.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    wrapper = folder / binary.rpartition("/")[2]
    variables = (name if value is None else f"{name}={value}" for name, value in added.items())
    texts = (binary, search_path, str(record.absolute()), *variables)
    wrapped = b"".join(os.fsencode(text) + b"\0" for text in texts)
    write_file(wrapper, _first_lines(_reachable(program, folder)) + wrapped)
    wrapper.chmod(0o755)
    return folder


def _reachable(program: Path, folder: Path) -> Path:
    """Return the program, or a copy in the folder if a user of a trial cannot reach it."""
    if _is_open(program):
        return program
    copy = folder / program.name
    shutil.copyfile(program, copy)
    copy.chmod(0o755)
    return copy


@cache
def _is_open(program: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in (program, *program.parents))


def _first_lines(program: Path) -> bytes:
    """Return the lines that run the program with the script; a shell does so where its path fits no first line."""
    line = b"#!" + os.fsencode(program) + b"\n"
    if len(line) <= FIRST_LINE_BYTES and not re.search(rb"\s", line[:-1]):
        return line
    return os.fsencode(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$0" "$@"\n')


def write_script(path: Path, program: bytes) -> None:
    """Write Python code as an executable that uses Tidegate's interpreter and none of the caller's settings."""
    interpreter = os.path.realpath(sys.executable)
    first_line = os.fsencode(f"#!{interpreter} {FLAGS}\n")
    if len(first_line) > FIRST_LINE_BYTES or re.search(r"\s", interpreter):
        inner = path.with_name(f"{path.name}.py")
        inner.write_bytes(program)
        words = shlex.join([interpreter, FLAGS, str(inner)])
        first_line, program = b"#!/bin/sh\n", os.fsencode(f'exec {words} "$@"\n')
    path.write_bytes(first_line + program)
    path.chmod(0o755)


def read(record: Path, stops: Stops | None = None) -> tuple[tuple[Invocation, ...], str | None]:
    """Return the recorded invocations in the order of their start, and why some may be missing. Never raises.

    A call that ran when Tidegate stopped the agent for time is a `timeout`; when the agent hit a limit, an `error`.
    """
    data = notes(record)
    return ((), GONE) if data is None else parsed(data, stops or Stops())


def notes(record: Path) -> bytes | None:
    """Return the contents of the recorder's file, or None if it is missing."""
    file = open_regular(record)
    if file is None:
        return None
    with file:
        return file.read(READ_LIMIT + 1)


def parsed(data: bytes, stops: Stops) -> tuple[tuple[Invocation, ...], str | None]:
    """Return the invocations in what has been recorded, and why some may be missing."""
    lost = f"the recorder's file is cut after {READ_LIMIT} bytes" if len(data) > READ_LIMIT else None
    calls: dict[bytes, _Call] = {}
    ends: dict[bytes, _End] = {}
    for entry in _entries(data):
        if isinstance(entry, _Call) and entry.id not in calls:
            calls[entry.id] = entry
        elif isinstance(entry, _End) and entry.id in calls and entry.id not in ends:
            ends[entry.id] = entry
        else:
            lost = lost or "something else than the recorder wrote to its record"
    ordered = sorted(calls.values(), key=lambda call: call.started_at)
    return tuple(_invocation(call, ends.get(call.id), stops) for call in ordered), lost


def _entries(data: bytes) -> Iterator[_Call | _End | None]:
    """Yield the entries in the data, and None for all else. A forged header cannot hide the entries that follow it."""
    position = 0
    pieces: dict[bytes, list[bytes]] = {}
    while match := RECORD.search(data, position):
        if match.start() > position:
            yield None
        part, body = match["part"], match.end()
        position = body + (int(match["size"]) if part else 0 if match["end"] else int(match["length"]) + 1)
        # The first piece of an entry begins with the entry's header.
        if position > len(data) or RECORD.search(data, body + 1 if part else body - 1, position):
            yield None
            position = body
        elif part:
            pieces.setdefault(part, []).append(data[body:position])
            if match["more"] == b"0":
                yield _entry(b"".join(pieces.pop(part)))
        else:
            yield (entry := _entry(data[match.start() : position]))
            position = position if entry else body
    if position < len(data) or pieces:
        yield None


def _entry(data: bytes) -> _Call | _End | None:
    """Return the entry that the data consists of; None if there is none."""
    match = RECORD.match(data)
    if match is None or match["part"]:
        return None
    body = data[match.end() :]
    if match["end"]:
        return None if body else _End(match["end"], int(match["duration"]) / 1e9, int(match["status"]))
    if len(body) != int(match["length"]) + 1 or data[-2:] != b"\0\n" or RECORD.search(data, match.end() - 1):
        return None
    argv = tuple(map(_text, body[:-1].split(b"\0")[:-1]))
    return _Call(match["call"], argv, _text(match["cwd"]), int(match["started"]) / 1e9)


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def _invocation(call: _Call, end: _End | None, stops: Stops) -> Invocation:
    status, exit_code = _outcome(call, end, stops)
    return Invocation(
        argv=call.argv,
        cwd=call.cwd,
        exit_code=exit_code,
        status=status,
        started_at=call.started_at,
        duration_s=None if end is None else end.duration_s,
    )


def _outcome(call: _Call, end: _End | None, stops: Stops) -> tuple[CallStatus, int | None]:
    """Return a call's status and exit code.

    Where nothing was stopped and the end is missing, the wrapper was killed before it could record it: the caller saw
    a program that was killed, and so does the record.
    """
    ended_at = None if end is None else call.started_at + end.duration_s
    exit_code = None if end is None else end.status if end.status >= 0 else 128 - end.status
    if end is None and int(call.id.partition(b"-")[0]) in stops.left_over:
        return "unfinished", None
    for stop in stops.stopped:
        if call.started_at <= stop.at and (ended_at is None or ended_at >= stop.at):
            return _STOPPED[stop.by], KILLED if stop.by == "limit" and exit_code is None else exit_code
    if end is None:
        return "error", KILLED
    return "ok" if end.status == 0 else "error", exit_code


PIPE_BYTES = 1 << 20  # what an unprivileged process may ask for
READ_BYTES = 64 << 10  # at once: Python allocates as much


class CallLog:
    """A FIFO that the trial's commands write to, and the file of ours that all of it goes to.

    `lost` says why entries may be missing; None while all of them are there.
    """

    def __init__(self, fifo: Path, file: Path) -> None:
        self.lost: str | None = None
        self._fifo = fifo
        os.mkfifo(fifo, 0o600)
        self._reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self._writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)  # so that the FIFO never comes to its end
        fifo.chmod(0o222)  # the trial's user may write, and nothing else
        with suppress(OSError):  # a user may have many large pipes already
            fcntl(self._reader, F_SETPIPE_SZ, PIPE_BYTES)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        self._left = READ_LIMIT
        asyncio.get_running_loop().add_reader(self._reader, self._take)

    @property
    def size(self) -> int:
        """The bytes that have been recorded."""
        return READ_LIMIT - self._left

    def close(self) -> None:
        """Take what is left and remove the FIFO. Nothing of the trial may run any more."""
        asyncio.get_running_loop().remove_reader(self._reader)
        self.take_all()
        if self.lost is None and not self._is_ours():
            self.lost = "a command removed or replaced the recorder's FIFO"
        self._fifo.unlink(missing_ok=True)
        for descriptor in (self._reader, self._writer, self._file):
            os.close(descriptor)

    def take_all(self) -> None:
        """Take all that has been written by now."""
        while self.lost is None and self._take():
            pass

    def _take(self) -> bool:
        """Move what has come into the file; return True if there may be more."""
        try:
            data = os.read(self._reader, READ_BYTES)
        except BlockingIOError:
            return False
        if len(data) > self._left:
            return self._stop(f"more than {READ_LIMIT >> 20} MB were recorded")
        self._left -= len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            return self._stop(f"the calls cannot be recorded: {error.strerror}")
        return True

    def _stop(self, why: str) -> bool:
        """Take nothing more: whoever goes on writing waits until the trial's time is up."""
        self.lost = why
        asyncio.get_running_loop().remove_reader(self._reader)
        return False

    def _is_ours(self) -> bool:
        try:
            now = self._fifo.lstat()
        except OSError:
            return False
        return stat.S_ISFIFO(now.st_mode) and now.st_ino == os.fstat(self._reader).st_ino


@contextmanager
def receiving(fifo: Path, file: Path) -> Iterator[CallLog]:
    """Receive the recorder's entries while the block lasts."""
    log = CallLog(fifo, file)
    try:
        yield log
    finally:
        log.close()
