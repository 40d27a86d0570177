"""`tidegate import-config`: writes a tidegate.yaml from llm-tool-test's configuration."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.authoring.import_config import suite_of_config
from tidegate.errors import ConfigurationError

DESCRIPTION = """\
Writes a tidegate.yaml from llm-tool-test's TOML configuration: its target, its tools as agents with their models, and a
command for each profile. Scenario files need no changes.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("source", type=Path, metavar="FILE", help="llm-tool-test-config.toml")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", default=Path("tidegate.yaml"), help="default: tidegate.yaml"
    )


def run(args: argparse.Namespace) -> int:
    """Write the suite file. Never overwrites one."""
    try:
        text = args.source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{args.source} cannot be read: {error}", "Name a TOML file.") from None
    suite = suite_of_config(text, args.source.name)
    try:
        with args.out.open("x", encoding="utf-8") as written:
            written.write(suite)
    except OSError as error:
        raise ConfigurationError(f"{args.out} cannot be written: {error}", "Name another file with --out.") from None
    print(f"wrote {args.out}\nnext: tidegate check")
    return 0
