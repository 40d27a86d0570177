"""The command line: one module per command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import NoReturn

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
        "view": "open the report of a stored run in a browser",
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
}  # in the order of `tidegate --help`, which imports no command
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments. The result has the command's options and `run`, which returns the exit code.

    Without any argument, `run` prints the help.
    """
    given = sys.argv[1:] if argv is None else argv
    whole, commands = parsers(given[:1] if given and given[0] in COMMANDS else ())
    arguments, unknown = whole.parse_known_args(argv)
    if unknown:  # reported by the command's own parser, so that its own usage is shown
        commands.get(arguments.command, whole).error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.command is None:
        arguments.run = lambda _: print(whole.format_help(), end="")
    return arguments


def parsers(names: Collection[str]) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of `tidegate`, and those of these commands by name."""
    whole = argparse.ArgumentParser(
        prog="tidegate",
        usage="tidegate [OPTIONS] COMMAND ...",
        description=DESCRIPTION,
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = whole.add_subparsers(metavar="COMMAND", dest="command", prog="tidegate", help=argparse.SUPPRESS)
    for command in names:
        module = import_module(f"tidegate.cli.{command}")
        parser = commands.add_parser(command, description=module.DESCRIPTION)
        parser.set_defaults(run=module.run)
        module.add(parser)
    for command in COMMANDS if not names else ():
        commands.add_parser(command)
    return whole, commands.choices


def _epilog() -> str:
    """Return the lists of commands below the options, and the exit codes."""
    lists = [
        f"{title}:\n" + "".join(f"  {name:<14} {told}\n" for name, told in group.items())
        for title, group in GROUPS.items()
    ]
    return "\n".join([*lists, EXIT_CODES])


class _Version(argparse.Action):
    """Prints the version and exits. The version is looked up only here, to keep other starts fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from tidegate import __version__  # 30 ms

        print(f"tidegate {__version__}")
        parser.exit()
