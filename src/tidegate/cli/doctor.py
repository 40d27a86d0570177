"""`tidegate doctor`: reports what this machine can do for a run, and what is missing."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options
from tidegate.run.machine_check import examine
from tidegate.suite.load import load_suite

if TYPE_CHECKING:
    from tidegate.model.suite import Suite

DESCRIPTION = """\
Checks this machine: the system, git, disk space, the suite's agents and judges with their programs and keys, and what
isolates trials from you and from each other. Starts a few processes, but no agent; asks each `provider` for a
credential. Without a suite, agents and judges are left out. Exits with 0 if a run has all it needs, with 2 if the suite
is invalid, with 4 if something is missing.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line for each finding, with advice below. Return 4 if something is missing."""
    return asyncio.run(_examine(args.repo.resolve(), args.config, options.environ(args)))


async def _examine(repo: Path, config: str, environ: Mapping[str, str]) -> int:
    code = 0
    async for finding in examine(_suite(repo, config, environ), environ, repo):
        print(f"{finding.state:8} {finding.what}: {finding.found}", flush=True)
        if finding.advice:
            print(f"{'':8} {finding.advice}")
        if finding.state == "missing":
            code = 4
    return code


def _suite(repo: Path, config: str, environ: Mapping[str, str]) -> Suite | None:
    if not (repo / config).exists():
        print(f"no {config} here: agents and judges are not looked at; `tidegate init` writes one")
        return None
    return load_suite(repo, config, environ=environ)
