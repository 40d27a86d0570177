"""`tidegate add`: writes a scenario from a stored trial or a transcript."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli import options

DESCRIPTION = """\
Writes a scenario from a stored trial (RUN/trials/SCENARIO/AGENT/N) or from the transcript of a real failure. The
scenario has the prompt, the initial workspace, the origin, and proposed gates to edit.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("add", help="write a scenario from a trial or a transcript", description=DESCRIPTION)
    parser.add_argument("source", type=Path, metavar="TRIAL|TRANSCRIPT", help="a stored trial's folder, or a file")
    parser.add_argument("--name", metavar="NAME", help="the scenario's name (default: derived from its origin)")
    parser.add_argument("--prompt", metavar="TEXT", help="the agent's prompt, if the transcript lacks it")
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="the initial workspace")
    parser.add_argument("--binary", metavar="NAME", help="the tool under test (default: the trial's, or the suite's)")
    parser.add_argument("--format", metavar="NAME", help="format of the transcript (default: detected)")
    options.add_repository(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the scenario, validate the suite with it, and print the next steps."""
    from tidegate.authoring.add_scenario import ScenarioRequest, add_scenario
    from tidegate.errors import ConfigurationError
    from tidegate.plan import did_you_mean
    from tidegate.streams import STREAMS
    from tidegate.suite.load import load_suite
    from tidegate.suite.uncommitted import uncommitted
    from tidegate.vcs.revisions import repository_root

    if args.workspace is not None and not args.workspace.is_dir():
        raise ConfigurationError(f"{args.workspace} is not a folder.", "Name the initial workspace.")
    if args.format not in (None, *STREAMS):
        hint = did_you_mean(args.format, STREAMS) or "."
        raise ConfigurationError(f"`{args.format}` is not a format{hint}", f"There are {', '.join(STREAMS)}.")
    root = repository_root(args.repo)
    suite = load_suite(root, args.config, environ=options.environ())
    wish = ScenarioRequest(args.source, args.name, args.prompt, args.workspace, args.binary, args.format)
    added = add_scenario(root, suite, wish)
    print(f"wrote {added.file}")
    if added.template:
        print(f"wrote {added.template}/, the workspace at the start")
    for warning in added.warnings:
        print(f"note: {warning}")
    suite = load_suite(root, args.config, environ=options.environ())
    known = {scenario.file for scenario in suite.scenarios}
    for note in uncommitted(root, suite):
        print(f"note: {note}")
    if added.file not in known:
        print(f"next: add {added.file} to `scenarios` in {args.config}, which does not name it")
    print(f"next: edit its gates, then `tidegate check` and `tidegate run --scenario {Path(added.file).stem}`")
    return 0
