"""Replaces `${NAME}` in the environment of a target."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidegate.plan import did_you_mean

_REFERENCE = re.compile(r"\$\{([^}]*)\}")


def expanded(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the text with every `${NAME}` replaced by its value.

    Raises ValueError if a name is not in `pass_env` or is not set.
    """
    return _REFERENCE.sub(lambda reference: variable(reference[1], pass_env, environ), text)


def withheld(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """Return the names in the text that `pass_env` allows but that have no value.

    GitHub passes secrets as empty strings to workflows of forks, so an empty value counts as missing.
    """
    return [name for name in _REFERENCE.findall(text) if name in pass_env and not environ.get(name)]


def variable(name: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the variable's value. Raises ValueError if it is not in `pass_env` or is not set."""
    if name not in pass_env:
        hint = did_you_mean(name, pass_env)
        raise ValueError(f"${{{name}}} is not in tidegate.yaml's `pass_env`{hint}")
    if name not in environ:
        raise ValueError(f"${{{name}}} is not set in the environment")
    return environ[name]
