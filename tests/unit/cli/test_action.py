"""What the entry point of the container sets up before it handles the event."""

from __future__ import annotations

from tidegate.cli.action import trusted_checkout

IMAGE = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory"}


def test_nothing_is_trusted_outside_of_the_image_or_without_the_input() -> None:
    assert trusted_checkout({"INPUT_PATH": "sub"}) == {}
    assert trusted_checkout({**IMAGE, "GIT_CONFIG_VALUE_0": "/github/workspace"}) == {}
