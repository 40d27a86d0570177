"""The wrapper in front of the tool under test: runs it, changes what the mutant changes, and records the call.

`run/mutant_front.py` writes it behind `mutants/outputs.py` and `mutants/change.py` into one script with the name of the
tool, so it imports nothing from Tidegate.
"""

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.mutants.change import after, before, is_help, meets

MOST_FILES = 20_000
MOST_BYTES = 20 << 20  # of files that can be restored
MOST_RECORDED = 200_000  # characters of an output
FOREVER = 1 << 20  # seconds
SLOWER = 9  # so many times the call's own time is waited
Stamps = dict[str, tuple[int, int, int]]


def main(name: str, search_path: str, spool: str, mutant: "dict[str, Any]") -> None:
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
    if mine and kind == "effect_twice":
        with suppress(OSError):
            os.lseek(0, 0, os.SEEK_SET)  # the same input again, if it is a file
        run(program, [name, *given])
    took = time.monotonic() - started
    written = changed(stamps, look(roots))
    if contents is not None:
        restore(contents, stamps, written)
    if mine and kind == "written_cut":
        cut(written)
    out, err = (one.decode(errors="surrogateescape") for one in raw)
    result = instead or (code, out, err)
    result = after(mutant, argv, result) if kind else result
    if mine and kind == "slower":
        time.sleep(SLOWER * took)
    names = [short(one, roots) for one in written]
    record(spool, argv, result, {"at": at, "seconds": took, "written": names, "wrote": digests(written, roots)})
    if mine and kind == "crashes_after":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
    for number, text in ((1, result[1]), (2, result[2])):
        write(number, text.encode(errors="surrogateescape"))
    os._exit(result[0] if result[0] >= 0 else 128 - result[0])


def find(name: str, search_path: str) -> str | None:
    """Return the real program."""
    for folder in search_path.split(":"):
        path = Path(folder) / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def run(program: str, argv: list[str]) -> tuple[int, tuple[bytes, bytes]]:
    """Run the program. Files take its output, since a process that it leaves behind would keep a pipe open."""
    with os.fdopen(os.memfd_create("out"), "w+b") as out, os.fdopen(os.memfd_create("err"), "w+b") as err:
        try:
            code = subprocess.run(argv, executable=program, stdout=out, stderr=err, check=False).returncode
        except OSError:  # a script without `#!`
            code = subprocess.run(["/bin/sh", program, *argv[1:]], stdout=out, stderr=err, check=False).returncode
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return code, (texts[0], texts[1])


def folders() -> list[str]:
    """Return the trial's workspace and HOME; else the current folder."""
    home = Path(os.environ.get("HOME", ""))
    found = [home.parent / "workspace", home]
    return [str(one) for one in (found if all(one.is_dir() for one in found) else [Path.cwd()])]


def look(roots: list[str]) -> Stamps:
    """Return size, time and inode of each file; nothing if there are very many."""
    found: Stamps = {}
    for root in roots:
        for folder, names, files in os.walk(root):
            names[:] = [name for name in names if name != ".git"]
            for file in files:
                path = f"{folder}/{file}"
                with suppress(OSError):
                    state = os.lstat(path)
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


def read(stamps: Stamps) -> "dict[str, bytes] | None":
    """Return the contents of the files; None if they are too large to keep."""
    if sum(size for size, _, _ in stamps.values()) > MOST_BYTES:
        return None
    files = [Path(path) for path in stamps]
    return {str(file): file.read_bytes() for file in files if file.is_file() and not file.is_symlink()}


def restore(contents: "dict[str, bytes]", stamps: Stamps, written: list[str]) -> None:
    """Put the files back as they were."""
    for path in map(Path, written):
        if str(path) in contents:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents[str(path)])
        elif str(path) not in stamps:
            path.unlink(missing_ok=True)
            with suppress(OSError):
                os.removedirs(path.parent)  # it stops at the first folder that is not empty


def cut(written: list[str]) -> None:
    """Cut the files in the middle."""
    for path in written:
        with suppress(OSError):
            os.truncate(path, Path(path).stat().st_size // 2)


def digests(written: list[str], roots: list[str]) -> list[str]:
    """Return two hashes of what was written: of all of it, and with the words that have digits left out."""
    exact, shape = hashlib.sha256(), hashlib.sha256()
    for path in written:
        data = b""
        with suppress(OSError):
            data = Path(path).read_bytes()[:MOST_BYTES]
        own = short(path, roots).encode(errors="surrogateescape") + b"\0" + data + b"\0"
        for root in roots:
            own = own.replace(str(Path(root).parent).encode(), b"")
        exact.update(own)
        shape.update(re.sub(rb"\w*\d\w*", b"", own))
    return [exact.hexdigest(), shape.hexdigest()] if written else []


def record(spool: str, argv: list[str], result: "tuple[int, str, str]", more: "dict[str, Any]") -> None:
    """Write the call as a file of its own."""
    texts = [text[:MOST_RECORDED].encode(errors="surrogateescape").decode(errors="replace") for text in result[1:]]
    words = [word.encode(errors="surrogateescape").decode(errors="replace") for word in argv]
    call = {"argv": words, "exit_code": result[0], "stdout": texts[0], "stderr": texts[1], **more}
    call["home"] = os.environ.get("HOME", "")
    part = Path(spool) / f"{time.time_ns()}-{os.getpid()}.part"
    with suppress(OSError):
        part.write_text(json.dumps(call))
        part.rename(part.with_suffix(".json"))


def write(number: int, data: bytes) -> None:
    """Write all of it; a reader that has gone is not an error."""
    with suppress(OSError):
        while data:
            data = data[os.write(number, data) :]
