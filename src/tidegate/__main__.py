"""The command-line entry point: runs a command, prints errors with advice, and returns the exit code."""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

from tidegate.cli import parse
from tidegate.errors import CannotRunError, TidegateError

BUG = 70
INTERRUPTED = 130
COLLECT_AFTER = 500_000  # new objects; imports and trials make many that live long, and few cycles

AFTER_INTERRUPT = (
    "All child processes were terminated. Finished trials are stored in .tidegate, and the next `tidegate pr` of these"
    " commits goes on from them."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (listed in docs/configuration.md)."""
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)  # so that the interpreter's end does not look through all objects
    _disable_plugins()
    _open_streams()
    arguments = None
    try:
        arguments = parse(argv)
        code: int = arguments.run(arguments) or 0
        sys.stdout.flush()
        return code
    except TidegateError as error:
        _say(error.message, error.advice)
        if getattr(arguments, "json", False):
            print(json.dumps({"exit_code": error.exit_code, "error": error.message, "advice": error.advice}, indent=2))
        return error.exit_code
    except KeyboardInterrupt:
        _say("interrupted.", AFTER_INTERRUPT)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe. Redirect stdout, so that the interpreter's final flush does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        refusal = CannotRunError.of(error) if isinstance(error, OSError) else None
        if refusal is not None:
            _say(refusal.message, refusal.advice)
            return refusal.exit_code
        _print(traceback.format_exc())
        _say("this is a bug in tidegate.", "Please report it with the lines above.")
        return BUG


def _disable_plugins() -> None:
    """Keep pydantic from looking for plug-ins, which takes 30 ms, and from importing what looks for them, 20 ms."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    loader = ModuleType("pydantic.plugin._loader")
    loader.__dict__["get_plugins"] = tuple
    sys.modules.setdefault(loader.__name__, loader)


def _open_streams() -> None:
    """Make stdout and stderr safe to write to, even if they are closed or cannot encode a character."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  (never closed)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say(what: str, advice: str) -> None:
    _print(f"tidegate: {what}\n{advice}")


def _print(text: str) -> None:
    from tidegate.text.safe import log_line  # 2 ms

    # The message may quote an untrusted file or a secret, and GitHub's runner executes commands in log lines.
    for line in text.splitlines():
        print(log_line(line), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
