"""`tidegate add`: writes a scenario from a stored trial or a transcript."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.agents.streams import STREAMS
from tidegate.authoring.add_scenario import ScenarioRequest, add_scenario, list_scenario
from tidegate.cli import options
from tidegate.errors import ConfigurationError
from tidegate.suite.folders import uncommitted
from tidegate.suite.load import load_suite
from tidegate.suite.plan import did_you_mean
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Writes a scenario from each stored trial (RUN/trials/SCENARIO/AGENT/N), or from the transcript of a real failure. A
trial's scenario keeps everything that its file says: gates, evaluators, judge, scripts. It has the prompt, the initial
workspace, the origin, and proposed gates to edit, and is added to `scenarios`.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "sources", nargs="+", type=Path, metavar="TRIAL|TRANSCRIPT", help="stored trials' folders, or files"
    )
    parser.add_argument("--name", metavar="NAME", help="the scenario's name (default: derived from its origin)")
    parser.add_argument("--prompt", metavar="TEXT", help="the agent's prompt, if the transcript lacks it")
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="the initial workspace")
    parser.add_argument("--binary", metavar="NAME", help="the tool under test (default: the trial's, or the suite's)")
    parser.add_argument("--format", metavar="NAME", help="format of the transcript (default: detected)")
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Write the scenarios, validate the suite with them, and print the next steps."""

    if args.workspace is not None and not args.workspace.is_dir():
        raise ConfigurationError(f"{args.workspace} is not a folder.", "Name the initial workspace.")
    if args.format not in (None, *STREAMS):
        hint = did_you_mean(args.format, STREAMS) or "."
        raise ConfigurationError(f"`{args.format}` is not a format{hint}", f"There are {', '.join(STREAMS)}.")
    if len(args.sources) > 1 and (args.name or args.prompt or args.workspace):
        raise ConfigurationError(
            "--name, --prompt and --workspace are for one source.", "Add the sources one after the other."
        )
    root = repository_root(args.repo)
    for source in args.sources:
        suite = load_suite(root, args.config, environ=options.environ(args))
        wish = ScenarioRequest(source, args.name, args.prompt, args.workspace, args.binary, args.format)
        added = add_scenario(root, suite, wish)
        print(f"wrote {added.file}")
        if added.template:
            print(f"wrote {added.template}/, the workspace at the start")
        for note in added.notes:
            print(f"note: {note}")
        if list_scenario(root, args.config, added.file):
            print(f"added it to `scenarios` in {args.config}")
    suite = load_suite(root, args.config, environ=options.environ(args))
    for note in uncommitted(root, suite):
        print(f"note: {note}")
    print("next: edit the gates, then `tidegate check` and `tidegate run --scenario NAME`")
    return 0
