"""The types of the values that users write, with their validation rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from tidegate.model.trial_spec import encoded

LONGEST_NAME = 200  # bytes of the percent-encoded name, since it becomes the name of a folder
ALPHAS = (0.01, 0.02, 0.05)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
HOST = re.compile(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?\Z")
_SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}\Z")
_SECRET_OF_THE_WORKFLOW = re.compile(r"(GITHUB_TOKEN|ACTIONS_.*|INPUT_.*)\Z")


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


def matching(pattern: str, what: str) -> Callable[[str], str]:
    """Return a validator for texts of the pattern; `what` is the error for all others."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise wrong(what)
        return text

    return check


def _not_blank(text: str) -> str:
    if not text.strip():
        raise wrong("must not be empty")
    return text


def _name(name: str) -> str:
    if name != name.strip() or not name.isprintable():
        raise wrong("must be one line without spaces around it")
    if len(encoded(name)) > LONGEST_NAME:
        raise wrong("is too long for the name of a folder")
    return name


def _folder_of_path(path: str) -> str:
    if ":" in path:
        raise wrong("must not contain a colon, which separates the folders of PATH")
    return path


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


def _host(text: str) -> str:
    if not HOST.match(text):
        raise wrong("must be a host such as `pypi.org`, `*.npmjs.org`, or with its port `example.org:8080`")
    return text


def _variable(name: str) -> str:
    if not _VARIABLE.match(name):
        raise wrong("must be the name of a variable: letters, digits and underscores")
    return name


def _server_name(name: str) -> str:
    if not _SERVER_NAME.match(name):
        raise wrong("must be letters, digits and dashes, 32 at most: agents make it a part of the tools' names")
    return name


def passable(name: str) -> str:
    """Return the name of a variable that trials, or the tool's servers, may get; raise an error for others."""
    if _SECRET_OF_THE_WORKFLOW.match(name):
        raise wrong("never reaches a trial, since it steers the workflow")
    return name


def _program(text: str) -> str:
    if text.rpartition("/")[2] in ("", ".", ".."):
        raise wrong("must be the name of a program, or the path of one")
    return text


def _branch(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_./-]*", text) or re.search(r"\.\.|//|/\.|\./|[./]$|\.lock(/|$)", text):
        raise wrong("is not a branch name")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_not_blank)]
Host = Annotated[str, AfterValidator(_host)]
Name = Annotated[Text, AfterValidator(_name)]
BranchName = Annotated[Text, AfterValidator(_branch)]
InsidePath = Annotated[Text, AfterValidator(_inside)]
FolderOfPath = Annotated[InsidePath, AfterValidator(_folder_of_path)]
MachinePath = Annotated[Text, AfterValidator(_machine_path)]
ProgramName = Annotated[Text, AfterValidator(_program)]
VariableName = Annotated[str, AfterValidator(_variable)]
PassedVariable = Annotated[VariableName, AfterValidator(passable)]
ServerName = Annotated[str, AfterValidator(_server_name)]
Alpha = Annotated[float, only(*ALPHAS, what="must be one of 0.01, 0.02, 0.05")]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]
ExitStatus = Annotated[int, Field(ge=0, le=255)]
ExitStatuses = Annotated[tuple[ExitStatus, ...], Field(min_length=1)]
Trials = Annotated[int, Field(ge=1, le=10_000)]  # per row; a larger number is most likely a typo
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
