"""A free port for the tool under test."""

from __future__ import annotations

import socket
from collections.abc import Mapping

_PLACEHOLDER = "{port}"


def with_port(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with `{port}` replaced by the number of a free TCP port, the same one in all of them."""
    if not any(_PLACEHOLDER in value for value in environment.values()):
        return dict(environment)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    return {name: value.replace(_PLACEHOLDER, port) for name, value in environment.items()}
