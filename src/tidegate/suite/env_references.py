"""Checks `${NAME}` in the environment of a target."""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.target import REFERENCE, TRIAL_VARIABLES
from tidegate.suite.plan import did_you_mean


def checked(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the text. Raises ValueError if it refers to a name that is not in `pass_env` or is not set.

    Variables that each trial has of its own need neither.
    """
    for name in REFERENCE.findall(text):
        if name not in TRIAL_VARIABLES:
            variable(name, pass_env, environ)
    return text


def withheld(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """Return the names in the text that `pass_env` allows but that have no value.

    GitHub passes secrets as empty strings to workflows of forks, so an empty value counts as missing.
    """
    return [name for name in REFERENCE.findall(text) if name in pass_env and not environ.get(name)]


def variable(name: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the variable's value. Raises ValueError if it is not in `pass_env` or is not set."""
    if name not in pass_env:
        hint = did_you_mean(name, pass_env)
        raise ValueError(f"${{{name}}} is not in tidegate.yaml's `pass_env`{hint}")
    if name not in environ:
        raise ValueError(f"${{{name}}} is not set in the environment")
    return environ[name]
