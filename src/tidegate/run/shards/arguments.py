"""The arguments of `tidegate plan` and `tidegate shard`, on the command line and in the action's input `args`."""

from __future__ import annotations

import argparse

MOST_JOBS = 256  # of one matrix, GitHub's limit


def add_shards(parser: argparse.ArgumentParser) -> None:
    """Add `--shards` and `--minutes`."""
    parser.add_argument(
        "--shards",
        type=number_of_shards,
        metavar="N|auto",
        help="how many; auto: as many as --minutes needs (default: auto)",
    )
    parser.add_argument(
        "--minutes",
        type=_minutes,
        default=10.0,
        metavar="GOAL",
        help="with auto, the minutes within which the trials of every shard should end (default: %(default)g)",
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Add the positional argument `I/N`."""
    parser.add_argument("shard", type=shard, metavar="I/N", help="which shard, as in the matrix: 2/3")


def number_of_shards(text: str) -> int | None:
    """Parse a number from 1 to 256, or `auto`, which is None."""
    if text == "auto":
        return None
    if not (text.isdecimal() and 1 <= int(text) <= MOST_JOBS):
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor from 1 to {MOST_JOBS}, the jobs of a matrix")
    return int(text)


def shard(text: str) -> tuple[int, int]:
    """Parse `2/3`."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N, such as 2/3")
    return int(number), int(of)


def _minutes(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1440:
        raise argparse.ArgumentTypeError("must be above 0 and at most a day")
    return number
