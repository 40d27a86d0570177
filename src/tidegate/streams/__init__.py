"""The family of streams: an agent's raw output → events. No parser ever raises; what it cannot read is a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from tidegate.model.event import Event
from tidegate.streams import agentv, events, text

PARSERS: Mapping[Literal["text", "events", "agentv"], Callable[[str], tuple[Event, ...]]] = {
    "text": text.parse,
    "events": events.parse,
    "agentv": agentv.parse,
}
