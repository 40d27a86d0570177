"""Describes a stream: its format's name, and facts that the rest of the program needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tidegate.model.event import Event


class Stream(NamedTuple):
    """One format of agents' output.

    `is_transcript`: `tidegate add` may recognise a file in this format by its content. `names`: regular expressions of
    words that tell a judge which agent or model it reads.
    """

    parse: Callable[[str], tuple[Event, ...]]
    is_transcript: bool = False
    names: tuple[str, ...] = ()
