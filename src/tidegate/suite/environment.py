"""`${NAME}` in a scenario's environment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidegate.plan import did_you_mean

_REFERENCE = re.compile(r"\$\{([^}]*)\}")


def expanded(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """The text with every `${NAME}` replaced; ValueError for a name that is not in `pass_env`, or not set."""
    return _REFERENCE.sub(lambda reference: variable(reference[1], pass_env, environ), text)


def withheld(text: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """The names in the text that may be passed and have no value: without secrets, GitHub gives empty ones."""
    return [name for name in _REFERENCE.findall(text) if name in pass_env and not environ.get(name)]


def variable(name: str, pass_env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """The variable's value; ValueError if it is not in `pass_env`, or not set."""
    if name not in pass_env:
        hint = did_you_mean(name, pass_env)
        raise ValueError(f"${{{name}}} is not in tidegate.yaml's `pass_env`{hint}")
    if name not in environ:
        raise ValueError(f"${{{name}}} is not set in the environment")
    return environ[name]
