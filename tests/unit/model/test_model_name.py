"""Names of one model, as people and providers write them."""

from __future__ import annotations

import pytest

from tidegate.model.prices import bare_model, same_model


@pytest.mark.parametrize(
    "name",
    [
        "claude-haiku-4-5",
        "Claude-Haiku-4-5",
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5@20251001",
        "claude-haiku-4-5-latest",
        "anthropic/claude-haiku-4-5",
        "anthropic/claude-haiku-4.5",
        "openrouter/anthropic/claude-haiku-4.5:beta",
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
)
def test_a_claude_model_has_one_bare_name(name: str) -> None:
    assert bare_model(name) == "claude-haiku-4-5"


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("gpt-5.5-2026-01-31", "gpt-5.5"),
        ("openai/gpt-5.5", "gpt-5.5"),
        ("models/gemini-3.8-flash", "gemini-3.8-flash"),
        ("llama3.1:8b", "llama3.1:8b"),
        ("meta-llama/llama-4:free", "llama-4"),
        ("deepseek-v3", "deepseek-v3"),
    ],
)
def test_names_of_other_providers_keep_their_dots(name: str, bare: str) -> None:
    assert bare_model(name) == bare


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("haiku", "claude-haiku-4-5", True),
        ("claude-sonnet-5-5", "sonnet", True),
        ("haiku", "claude-sonnet-5-5", False),
        ("claude-sonnet-5", "claude-sonnet-5-5", False),
        ("gpt-5.5", "gpt-5.4", False),
        ("haiku", "haiku", True),
    ],
)
def test_an_alias_can_be_any_model_of_its_family(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same
    assert same_model(other, one) is same
