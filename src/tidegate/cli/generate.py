"""`tidegate generate rubrics`: drafts rubrics for an eval file from the expected outcomes of its cases."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.authoring.draft_rubrics import draft_rubrics
from tidegate.checks.judges import judge_of_model
from tidegate.cli import options
from tidegate.errors import ConfigurationError
from tidegate.model.judge import JudgeContext
from tidegate.suite.load import load_suite
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Drafts rubrics for an eval file: the judge writes three to seven rubrics for each case that has an expected_outcome
and no rubrics. The file keeps its comments and layout. Review the drafts before you commit them.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("what", choices=["rubrics"], help="what to draft")
    parser.add_argument("file", type=Path, metavar="FILE", help="an eval file of the suite")
    parser.add_argument(
        "--judge", metavar="MODEL", help="a model of Anthropic, OpenAI or Google (default: the suite's judge)"
    )
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Draft the rubrics, write them into the file, and print a summary."""

    root, environ = repository_root(args.repo), options.environ(args)
    suite = load_suite(root, args.config, environ=environ)
    judge = judge_of_model(args.judge) if args.judge else suite.judge and suite.judge.members[0]
    if judge is None:
        raise ConfigurationError(
            "no judge is configured.", "Name one with `--judge MODEL`, or set `judge` in tidegate.yaml."
        )
    path = args.file.resolve()
    name = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else str(path)
    cases = [scenario for scenario in suite.scenarios if scenario.file == name]
    if not cases:
        files = ", ".join(sorted({scenario.file for scenario in suite.scenarios}))
        raise ConfigurationError(f"{args.file} is not an eval file of the suite.", f"It has: {files}.")
    wanted = {
        number: scenario
        for number, scenario in enumerate(cases)
        if scenario.case.expected_outcome and not any(one.type == "rubrics" for one in scenario.evaluators)
    }
    place = JudgeContext(root, environ)
    drafts = options.run_until_stopped(lambda: draft_rubrics(path, wanted, judge, place))
    for draft in drafts:
        print(
            f"{draft.case}: {len(draft.rubrics)} rubrics" if draft.rubrics else f"{draft.case}: none: {draft.problem}"
        )
    print(f"{sum(bool(draft.rubrics) for draft in drafts)} of {len(cases)} cases have new rubrics: read them in {name}")
    return 0
