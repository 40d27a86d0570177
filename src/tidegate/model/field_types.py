"""The types of the values that users write, with their validation rules."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from tidegate.model.trial_spec import encoded

LONGEST_NAME = 200  # bytes of the percent-encoded name, since it becomes the name of a folder
ALPHAS = (0.01, 0.02, 0.05)
HOST = re.compile(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?\Z")
_BRANCH = r"(?!.*(?:\.\.|//|/\.|\./|[./]$|\.lock(?:/|$)))[A-Za-z0-9][A-Za-z0-9_./-]*"
_SECRET_OF_THE_WORKFLOW = re.compile(r"(GITHUB_TOKEN|ACTIONS_.*|INPUT_.*)\Z")
_HOW_PROGRAMS_ARE_RUN = re.compile(  # by the loader, shells, git, and Python, which Tidegate itself is run by
    r"((LD|DYLD|GIT|BASH)_.*|PYTHON.*|PATH|HOME|TMPDIR|ENV|IFS|PS4|CDPATH|BASHOPTS|SHELLOPTS)\Z"
)


def wrong(what: str) -> PydanticCustomError:
    """Return a validation error. Its text follows the key in the message: `must not be empty`."""
    return PydanticCustomError("wrong", "{what}", {"what": what})


def only(*allowed: object, what: str) -> AfterValidator:
    """Return a validator that accepts only these values; `what` is the error for all others."""

    def check(value: object) -> object:
        if value not in allowed:
            raise wrong(what)
        return value

    return AfterValidator(check)


def matching(pattern: str, what: str) -> AfterValidator:
    """Return a validator that accepts only texts of the pattern; `what` is the error for all others."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise wrong(what)
        return text

    return AfterValidator(check)


def _name(name: str) -> str:
    if name != name.strip() or not name.isprintable():
        raise wrong("must be one line without spaces around it")
    if len(encoded(name)) > LONGEST_NAME:
        raise wrong("is too long for the name of a folder")
    return name


def _inside(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise wrong("must stay in the repository: a relative path without `..`")
    return path


def _machine_path(path: str) -> str:
    pure = PurePosixPath(path)
    if not (pure.is_absolute() or pure.parts[:1] == ("~",)) or ".." in pure.parts:
        raise wrong("must be an absolute path, or begin with `~/`, without `..`")
    return path


def passable(name: str) -> str:
    """Return the name of a variable that trials, or the tool's servers, may get; raise an error for others."""
    if _SECRET_OF_THE_WORKFLOW.match(name):
        raise wrong("never reaches a trial, since it steers the workflow")
    if _HOW_PROGRAMS_ARE_RUN.match(name):
        raise wrong("changes how programs are run; `target.env` can set it for the tool")
    return name


def _program(text: str) -> str:
    if text.rpartition("/")[2] in ("", ".", ".."):
        raise wrong("must be the name of a program, or the path of one")
    return text


Text = Annotated[str, Field(min_length=1), matching(r"(?s).*\S.*", "must not be empty")]
Host = Annotated[
    str, matching(HOST.pattern, "must be a host such as `pypi.org`, `*.npmjs.org`, or with its port `example.org:8080`")
]
Name = Annotated[Text, AfterValidator(_name)]
BranchName = Annotated[Text, matching(_BRANCH, "is not a branch name")]
InsidePath = Annotated[Text, AfterValidator(_inside)]
FolderOfPath = Annotated[InsidePath, matching("[^:]*", "must not contain a colon, which separates the folders of PATH")]
MachinePath = Annotated[Text, AfterValidator(_machine_path)]
ProgramName = Annotated[Text, AfterValidator(_program)]
VariableName = Annotated[
    str, matching("[A-Za-z_][A-Za-z0-9_]*", "must be the name of a variable: letters, digits and underscores")
]
PassedVariable = Annotated[VariableName, AfterValidator(passable)]
ServerName = Annotated[
    str,
    matching(
        "[A-Za-z0-9][A-Za-z0-9-]{0,31}",
        "must be letters, digits and dashes, 32 at most: agents make it a part of the tools' names",
    ),
]
Alpha = Annotated[float, only(*ALPHAS, what="must be one of 0.01, 0.02, 0.05")]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]
ExitStatus = Annotated[int, Field(ge=0, le=255)]
ExitStatuses = Annotated[tuple[ExitStatus, ...], Field(min_length=1)]
Trials = Annotated[int, Field(ge=1, le=10_000)]  # per row; a larger number is most likely a typo
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
