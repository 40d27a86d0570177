"""Names of files in the calls of an MCP server, as its errors want them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tidegate.authoring.server_example import Example
from tidegate.authoring.server_tools import FOLDER
from tidegate.authoring.server_values import FILES, HERE, LACKING

_SUFFIX = re.compile(r"(?<![\w.])\.([a-z][a-z0-9]{1,4})\b|\bone of:? \W?([a-z][a-z0-9]{1,4})\b")
_FORMATS = re.compile(r"(?i)\b(?:formats?|extensions?|suffix(?:es)?|file types?|must end)\b")
_NAMED_FORMAT = re.compile(r"\b(?:JSON|CSV|YAML|XML|TOML|HTML)\b")  # in an error about a file
_FILE = re.compile(r"((?:\d+-)?(?:sample|notes)|(?:[\w-]+-)?target)\.txt")
_FOLDER = re.compile(rf"(?:\d+-)?{FOLDER}(?:/inner)?")


def with_files(calls: Iterable[Example], errors: Iterable[str]) -> tuple[Example, ...]:
    """Return the calls with names of files as these errors want them: absolute, or with a suffix that they list."""
    told = "\n".join(errors)
    folder = HERE if re.search(r"(?i)\babsolute\b", told) else ""
    listed = ["".join(found) for found in _SUFFIX.findall(told)] if _FORMATS.search(told) else []
    listed += [found.lower() for found in _NAMED_FORMAT.findall(told)]
    suffix = next((f".{one}" for one in listed if one != "txt"), ".txt")
    named = partial(_FILE.sub, rf"{folder}\1{suffix}")
    return tuple(
        call._replace(input={key: _with_name(key, one, named, folder) for key, one in call.input.items()})
        for call in calls
    )


def samples_of(calls: Iterable[Example], errors: Sequence[str]) -> tuple[str, ...]:
    """Return the names of samples, of any kind, that these calls give for files of the workspace, if the errors are
    about files.
    """
    if not any(LACKING.search(one) or _NAMED_FORMAT.search(one) for one in errors):
        return ()
    given = (str(value).removeprefix(HERE) for call in calls for value in call.input.values())
    stems = {name.partition(".")[0] for name in FILES}
    return tuple(dict.fromkeys(name for name in given if name.count(".") == 1 and name.partition(".")[0] in stems))


def _with_name(key: str, value: Any, named: Callable[[str], str], folder: str) -> Any:
    if isinstance(value, list):
        return [_with_name(key, one, named, folder) for one in value]
    if not isinstance(value, str):
        return value
    if value == "." and folder and re.search(r"(?i)path|dir|folder", key):
        return folder.rstrip("/")
    return f"{folder}{value}" if _FOLDER.fullmatch(value) else named(value) if _FILE.fullmatch(value) else value
