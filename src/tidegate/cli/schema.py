"""`tidegate schema`: prints a JSON Schema for editors, or for scripts that read result.json."""

from __future__ import annotations

import argparse
import json

from tidegate.reports.result_json import result_schema
from tidegate.suite.json_schema import DIALECT, file_schema

DESCRIPTION = """\
Prints the JSON Schema of tidegate.yaml (suite), of a scenario or eval file, or of result.json. With it, editors
complete keys and mark errors while you type.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("kind", choices=("suite", "scenario", "eval", "result"), help="kind of file")


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    schema = {"$schema": DIALECT, **result_schema()} if args.kind == "result" else file_schema(args.kind)
    print(json.dumps(schema, indent=2))
    return 0
