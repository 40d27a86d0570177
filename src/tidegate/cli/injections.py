"""`tidegate injections`: tests the judge for prompt injection."""

from __future__ import annotations

import argparse
import time

from tidegate.cli import options
from tidegate.errors import ConfigurationError
from tidegate.history.known_results import open_answers
from tidegate.lab.judge_injections import Injected, inject
from tidegate.run.judge_client import PanelClient
from tidegate.suite.load import load_suite
from tidegate.vcs.revisions import repository_root

PATIENCE_SECS = 3600.0
TALKED_ROUND = 1  # exit code
NOT_JUDGED = 4  # exit code

DESCRIPTION = """\
Tests the judge for prompt injection: sends it bad work that contains instructions, in every field that it reads, and
lists the attempts that raised the score. About 700 calls; answers are cached. Stops if the judge gives no answers.
Exits with 1 if an attempt succeeded, with 4 if none did but some could not be judged.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Test the judge with all attacks, print those that raised the score, and return the exit code."""

    root, environ = repository_root(args.repo), options.environ(args)
    suite = load_suite(root, args.config, environ=environ)
    judge = suite.judge
    if judge is None:
        raise ConfigurationError("tidegate.yaml has no `judge`.", "Add the judge to test.")
    deadline = time.monotonic() + PATIENCE_SECS

    async def tried() -> Injected:
        async with PanelClient.of(suite, root, environ, open_answers(root, suite), deadline) as judge_client:
            return await inject(judge_client.carry)

    found = options.run_until_stopped(tried)
    for one in found.through:
        print(f"got through: {one.attack} in {one.field} ({one.kind}): {one.plain:.2f} → {one.score:.2f}")
    for kind, score in found.generous:
        print(f"nothing can be told ({kind}): it gives the bad work {score:.2f} without any attack")
    print(f"{judge.model}: {len(found.through)} of {found.tried} got through", end="")
    print(f"; {found.lost} could not be judged" if found.lost else "")
    if found.dead:
        print(f"stopped, since the judge gave no answers: {found.dead}")
        return NOT_JUDGED
    if found.through:
        return TALKED_ROUND
    return NOT_JUDGED if found.lost else 0
