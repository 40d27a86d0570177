"""The wrapper in front of the tool under test: runs it, changes what the mutant changes, and records the call.

`run/mutant_trials.py` writes it behind `mutation.py` into one script with the name of the
tool, so it imports nothing else from Tidegate.
"""

# ruff: noqa: PTH103, PTH104, PTH108, PTH109, PTH113, PTH114, PTH116, PTH120, PTH123

import hashlib
import json
import os
import re
import resource
import signal
import sys
import time
from typing import Any

from tidegate.trial.mutation import after, before, is_help, meets

MOST_FILES = 20_000
MOST_BYTES = 20 << 20  # of files that can be restored
MOST_RECORDED = 200_000  # characters of an output
FOREVER = 1 << 20  # seconds
Stamps = dict[str, tuple[int, int, int]]
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def crash() -> None:
    """End as a program does that reads where it must not, without a file of its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGSEGV)


def main(name: str, search_path: str, spool: str, mutant: dict[str, Any]) -> None:
    """Run the call and end with its exit code."""
    argv, started, at = sys.argv[1:], time.monotonic(), time.time()
    program = find(name, search_path)
    if program is None:
        sys.stderr.write(f"{name}: not found\n")
        os._exit(127)
    roots = folders()
    stamps = look(roots)
    kind = mutant.get("kind", "")
    mine = bool(kind) and meets(mutant, argv) and not is_help(argv)
    given, instead = before(mutant, argv) if kind else (argv, None)
    contents = read(stamps) if mine and kind == "effect_lost" else None
    if mine and kind == "hangs":
        time.sleep(FOREVER)
    code, raw = (instead[0], (b"", b"")) if instead else run(program, [name, *given])
    took = time.monotonic() - started
    written = changed(stamps, look(roots))
    if contents is not None:
        restore(contents, stamps, written)
    if mine and kind == "written_cut":
        cut(written)
    out, err = (one.decode(errors="surrogateescape") for one in raw)
    was = instead or (code, out, err)
    result = after(mutant, argv, was) if kind else was
    names = [short(one, roots) for one in written]
    more = {"at": at, "seconds": took, "written": names, "wrote": digests(written, roots)}
    record(spool, argv, result, more if result == was else {**more, "was": cut_for_record(was)})
    if mine and kind == "crashes_after":
        crash()
    for number, text in ((1, result[1]), (2, result[2])):
        write(number, text.encode(errors="surrogateescape"))
    os._exit(result[0] if result[0] >= 0 else 128 - result[0])


def find(name: str, search_path: str) -> str | None:
    """Return the real program."""
    for folder in search_path.split(":"):
        path = f"{folder}/{name}"
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def run(program: str, argv: list[str]) -> tuple[int, tuple[bytes, bytes]]:
    """Run the program. Files take its output, since a process that it leaves behind would keep a pipe open."""
    files = os.memfd_create("out"), os.memfd_create("err")
    taken = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files, 1)]
    try:
        child = os.posix_spawn(program, argv, os.environ, file_actions=taken, setsigdef=IGNORED_BY_PYTHON)
    except OSError:  # a script without `#!`
        shell = ["/bin/sh", program, *argv[1:]]
        child = os.posix_spawn(shell[0], shell, os.environ, file_actions=taken, setsigdef=IGNORED_BY_PYTHON)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for file in files:
        os.lseek(file, 0, os.SEEK_SET)
        with open(file, "rb") as read_again:
            texts.append(read_again.read())
    return code, (texts[0], texts[1])


def folders() -> list[str]:
    """Return the trial's workspace and HOME; else the current folder."""
    home = os.environ.get("HOME", "")
    found = [f"{os.path.dirname(home)}/workspace", home]
    return found if all(map(os.path.isdir, found)) else [os.getcwd()]


def look(roots: list[str]) -> Stamps:
    """Return size, time and inode of each file; nothing if there are very many."""
    found: Stamps = {}
    for root in roots:
        for folder, names, files in os.walk(root):
            names[:] = [name for name in names if name != ".git"]
            for file in files:
                path = f"{folder}/{file}"
                try:
                    state = os.lstat(path)
                except OSError:
                    continue
                found[path] = (state.st_size, state.st_mtime_ns, state.st_ino)
            if len(found) > MOST_FILES:
                return {}
    return found


def changed(stamps: Stamps, now: Stamps) -> list[str]:
    """Return the files that are new, changed or gone."""
    return sorted(path for path in {*stamps, *now} if stamps.get(path) != now.get(path))


def short(path: str, roots: list[str]) -> str:
    """Return the path below its root."""
    return next((os.path.relpath(path, root) for root in roots if path.startswith(root + os.sep)), path)


def read(stamps: Stamps) -> dict[str, bytes] | None:
    """Return the contents of the files; None if they are too large to keep."""
    if sum(size for size, _, _ in stamps.values()) > MOST_BYTES:
        return None
    return {path: content(path) for path in stamps if os.path.isfile(path) and not os.path.islink(path)}


def content(path: str) -> bytes:
    """Return the content of the file, or its beginning; nothing if it cannot be read."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return b""


def restore(contents: dict[str, bytes], stamps: Stamps, written: list[str]) -> None:
    """Put the files back as they were."""
    for path in written:
        if path in contents:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(contents[path])
        elif path not in stamps:
            try:
                os.unlink(path)
                os.removedirs(os.path.dirname(path))  # it stops at the first folder that is not empty
            except OSError:
                continue


def cut(written: list[str]) -> None:
    """Cut the files in the middle."""
    for path in written:
        if os.path.isfile(path):
            os.truncate(path, os.stat(path).st_size // 2)


def digests(written: list[str], roots: list[str]) -> list[str]:
    """Return two hashes of what was written: of all of it, and with the words that have digits left out."""
    if not written:
        return []
    exact, shape = hashlib.sha256(), hashlib.sha256()
    for path in written:
        own = os.fsencode(short(path, roots)) + b"\0" + content(path) + b"\0"
        for root in roots:
            own = own.replace(os.fsencode(os.path.dirname(root)), b"")
        exact.update(own)
        shape.update(re.sub(rb"\w*\d\w*", b"", own))
    return [exact.hexdigest(), shape.hexdigest()]


def cut_for_record(result: tuple[int, str, str]) -> list[Any]:
    """Return a result with as much of the output as is recorded."""
    return [result[0], *(text[:MOST_RECORDED] for text in result[1:])]


def record(spool: str, argv: list[str], result: tuple[int, str, str], more: dict[str, Any]) -> None:
    """Write the call as a file of its own."""
    code, out, err = cut_for_record(result)
    call = {"argv": argv, "exit_code": code, "stdout": out, "stderr": err, **more}
    text = json.dumps({**call, "home": os.environ.get("HOME", "")}, ensure_ascii=False)
    part = f"{spool}/{time.time_ns()}-{os.getpid()}"
    try:
        with open(f"{part}.part", "wb") as file:
            file.write(text.encode(errors="surrogateescape").decode(errors="replace").encode())
        os.rename(f"{part}.part", f"{part}.json")
    except OSError:
        return


def write(number: int, data: bytes) -> None:
    """Write all of it; a reader that has gone is not an error."""
    try:
        while data:
            data = data[os.write(number, data) :]
    except OSError:
        return
