"""`tidegate fix`: applies the edit that a run of `tidegate pr` has tried."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli import options
from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import OUR_FOLDER
from tidegate.history.report_files import FIX
from tidegate.vcs.git import git
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Applies the edit of docs that `tidegate pr` has tried on head, and with which the regressed scenarios pass. RUN is the
folder with its fix.patch, or the patch. It changes the files in the working tree, and commits nothing.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("stored", type=Path, nargs="?", metavar="RUN", help="default: .tidegate/pr")
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Apply the patch with git, all of it or nothing, and list the files."""
    root = repository_root(args.repo)
    place = args.stored or root / OUR_FOLDER / "pr"
    patch = (place / FIX if place.is_dir() else place).resolve()
    if not patch.is_file():
        advice = "Only a regression that an edit of the docs fixes has one; see the run's comment."
        raise ConfigurationError(f"there is no patch at {patch}.", advice)
    done = git(root, "apply", str(patch))
    if done.returncode != 0:
        advice = "The files have changed since it was tried: apply it by hand, or run `tidegate pr` again."
        raise ConfigurationError(f"{patch} does not apply: {done.stderr.strip()}", advice)
    print(git(root, "apply", "--stat", "--reverse", str(patch)).stdout.strip())
    return 0
