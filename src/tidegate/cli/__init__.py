"""The command line: one module per command."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from typing import Any, NoReturn

DESCRIPTION = """\
Runs LLM agents against your CLI or MCP server, on the base branch and on a pull request, compares both sides, and
reports regressions with the evidence.
"""
EXIT_CODES = """\
exit codes:
  0    passed
  1    failed: a regression
  2    configuration or input error
  3    nothing to run
  4    could not run
  5    inconclusive, and the policy blocks that
  70   internal error
  130  interrupted
"""
GROUPS = {
    "commands": {
        "demo": "run Tidegate on a throwaway repository; no key, no network",
        "init": "write a first suite for this repository",
        "check": "validate the suite and list what would run",
        "pr": "compare your branch with its base, as on a pull request",
        "run": "run the suite on one revision and store it",
        "show": "show a stored run",
        "view": "show the report of a stored run in a browser",
        "prove": "show what the suite would catch, and what it misses",
        "replay": "replay base's recorded sessions here, without an agent",
        "doctor": "report what this machine can do, and what is missing",
    },
    "results": {
        "compare": "compare two stored runs",
        "fix": "apply the edit that `tidegate pr` has tried",
        "regrade": "grade a stored run again, without agents",
        "export": "write stored trials as OpenTelemetry spans",
    },
    "suites": {
        "add": "write a scenario from a trial or a transcript",
        "guidance": "compare two guidance files",
        "simulate": "simulate error rates and cost on this suite",
        "import-config": "write a suite from llm-tool-test's configuration",
        "schema": "print JSON Schemas for editors",
    },
    "judges": {
        "label": "label judged trials by hand",
        "calibrate": "measure how reliable the judge is",
        "injections": "test the judge for prompt injection",
        "generate": "draft rubrics from expected outcomes",
    },
    "several machines": {
        "plan": "split `tidegate pr` over several jobs",
        "shard": "run one shard of a plan",
        "merge": "join the shards of a plan, and decide",
        "trials": "run a batch of trials on a worker of an executor",
        "action": "entry point of the GitHub Action",
    },
}  # `tidegate --help` lists the first group, `--help --all` lists all; neither imports a command
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}


class _Wrapped(argparse.RawDescriptionHelpFormatter):
    """Wraps each paragraph at the terminal's width, and each indented line on its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(wrapped for part in _parts(text) for wrapped in _wrapped(part, width, indent))


def _parts(text: str) -> Iterator[str]:
    """Yield the paragraphs and headings, each joined into one line, and every indented line unchanged."""
    for indented, lines in groupby(text.splitlines(), key=lambda line: line.startswith(" ") or not line):
        part = list(lines)
        yield from part if indented else [" ".join(part)]


def _wrapped(line: str, width: int, indent: str) -> list[str]:
    own = line[: len(line) - len(line.lstrip())]
    column = re.search(r"\S {2,}(?=\S)", line)
    rest = " " * (column.end() if column and column.end() < width - 20 else len(own) + 2 * bool(own))
    return textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=indent + rest) or [""]


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the paragraphs of its description, and whose errors suggest what was meant."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": _Wrapped, **settings})

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with 2."""
        super().error(f"{message}{_meant(message, self._option_string_actions)}")


def _meant(message: str, options: Iterable[str]) -> str:
    """Return ` (did you mean `show`?)` for a command or an option of similar spelling; '' if there is none."""
    wrong = re.match(r"argument COMMAND: invalid choice: '([^']*)'|unrecognized arguments: (--[\w-]+)", message)
    if wrong is None:
        return ""
    known = tuple(COMMANDS) if wrong[1] is not None else tuple(options)
    close = difflib.get_close_matches(wrong[1] or wrong[2] or "", known, n=1)
    return f" (did you mean `{close[0]}`?)" if close else ""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments. The result has the command's options and `run`, which returns the exit code.

    Without any argument, `run` prints the help.
    """
    given = sys.argv[1:] if argv is None else argv
    whole, commands = parsers(given[:1] if given and given[0] in COMMANDS else (), every="--all" in given)
    arguments, unknown = whole.parse_known_args(argv)
    if arguments.command is None and not unknown:
        arguments.run = lambda _: print(whole.format_help(), end="")
    elif arguments.command is None:
        whole.error(f"unrecognized arguments: {' '.join(unknown)}")
    elif hasattr(arguments, "config") and not unknown:
        from tidegate.cli.options import read_env_file  # 5% of the instructions of `--help`

        read_env_file(arguments.repo, arguments.config)
    elif unknown:  # reported by the subcommand's parser, so that its own usage is shown
        commands[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def parsers(
    names: Collection[str], *, every: bool = False
) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of `tidegate`, and those of these commands by name. `every`: its help lists all commands."""
    usage = "tidegate [OPTIONS] COMMAND ..."
    whole = _Parser(prog="tidegate", usage=usage, description=DESCRIPTION, epilog=_epilog(every))
    whole.add_argument("--all", action="store_true", help="with --help: list all commands")
    whole.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = whole.add_subparsers(metavar="COMMAND", dest="command", prog="tidegate", help=argparse.SUPPRESS)
    for command in names:
        module = import_module(f"tidegate.cli.{command.replace('-', '_')}")
        parser = commands.add_parser(command, description=module.DESCRIPTION)
        parser.set_defaults(run=module.run)
        module.add(parser)
    for command in COMMANDS if not names else ():
        commands.add_parser(command)
    return whole, commands.choices


def _epilog(every: bool) -> str:
    """Return the lists of commands below the options, and the exit codes."""
    shown = GROUPS if every else {"commands": GROUPS["commands"]}
    lists = [
        f"{title}:\n" + "".join(f"  {name:<14} {told}\n" for name, told in group.items())
        for title, group in shown.items()
    ]
    more = [] if every else [f"`tidegate --help --all` lists {len(COMMANDS) - len(GROUPS['commands'])} more.\n"]
    return "\n".join([*lists, *more, EXIT_CODES])


class _Version(argparse.Action):
    """Prints the version and exits. The version is looked up only here, to keep other starts fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from tidegate import __version__  # 30 ms

        print(f"tidegate {__version__}")
        parser.exit()
