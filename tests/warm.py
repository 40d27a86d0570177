"""Runs `tidegate` as a process that starts fast: it is forked from one that has loaded every module.

Each run has its own process, environment, folder, outputs and exit status, as one that the shell starts; only the half
second that Python takes to load the program is spent once. tests/trial/cli/test_start.py and others start it from cold.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

# What the commands load when they need it. A program's own modules must not be loaded by this one.
LIBRARIES = ("github", "jinja2", "jsonschema", "markdown_it", "regex", "rich.live", "tree_sitter_bash", "yaml")
PROGRAMS = ("__main__", "supervisor", "recorder_proxy")
MOST_BYTES = 1 << 17  # of a request: its arguments and environment

Finished = subprocess.CompletedProcess[str]


def run_tidegate(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 600,
) -> Finished:
    """`tidegate ARGUMENTS`, as subprocess.run would; `env`: all of it."""
    return warm().run(list(map(str, arguments)), cwd, env or os.environ, stdin, timeout)


@cache
def warm() -> Warm:
    """One for this process; whoever asks for it first waits until it has loaded."""
    return Warm()


def end_warm() -> None:
    """Nothing is left of it, if there has been one."""
    if warm.cache_info().currsize:
        warm().stop()
        warm.cache_clear()


class Warm:
    """The loaded process. Requests are answered one after another."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(number)],
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def stop(self) -> None:
        """End it, at once if it does not end by itself."""
        self._line.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def run(self, arguments: list[str], cwd: Path, env: Mapping[str, str], stdin: str, timeout: float) -> Finished:
        """One run; TimeoutExpired if it takes longer, and then it is killed."""
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": dict(env)})
        with ExitStack() as opened:
            files = [opened.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(3)]
            files[0].write(stdin)
            files[0].seek(0)
            socket.send_fds(self._line, [request.encode()], [file.fileno() for file in files])
            code = self._wait(arguments, timeout)
            for file in files[1:]:
                file.seek(0)
            return subprocess.CompletedProcess(arguments, code, files[1].read(), files[2].read())

    def _wait(self, arguments: list[str], timeout: float) -> int:
        self._line.settimeout(None)
        pid = int(self._line.recv(100))
        self._line.settimeout(timeout)
        try:
            return int(self._line.recv(100))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._line.settimeout(None)
            self._line.recv(100)
            raise subprocess.TimeoutExpired(["tidegate", *arguments], timeout) from None


def serve(line: socket.socket) -> None:
    """Fork for every request, until nobody can ask any more."""
    _load()
    gc.freeze()
    while True:
        data, files, _, _ = socket.recv_fds(line, MOST_BYTES, 3)
        if not data:
            return
        if (pid := os.fork()) == 0:
            line.close()
            _become(json.loads(data), files)
        for file in files:
            os.close(file)
        line.send(b"%d" % pid)
        _, status = os.waitpid(pid, 0)
        line.send(b"%d" % os.waitstatus_to_exitcode(status))


def _load() -> None:
    import tidegate

    for name in LIBRARIES:
        importlib.import_module(name)
    for found in pkgutil.walk_packages(tidegate.__path__, "tidegate."):
        if found.name.rpartition(".")[2] not in PROGRAMS:
            importlib.import_module(found.name)
    _compile_templates()


def _compile_templates() -> None:
    """To compile the comment's and the page's templates takes longer than the rest of a small run."""
    from tidegate.reports import comment, html

    comment._template()
    html.environment().get_template("page/report.html.j2")


def _become(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["tidegate", *request["arguments"]]
    from tidegate.__main__ import main

    code = 70
    try:
        code = main()
    except SystemExit as stopped:  # of argparse
        code = int(stopped.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # to take everything down again that was loaded would cost as much as loading it


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
