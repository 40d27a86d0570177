"""Fetches the result that a workflow run on GitHub has uploaded."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping

from pydantic import SecretStr

from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.github.api import PublishError
from tidegate.github.artifact import MAX_ARCHIVE, PoisonedError, read_result
from tidegate.github.client import connect
from tidegate.github.workflow_run import artifact_name, newest_artifact
from tidegate.model.result import Result

RUN_URL = re.compile(
    r"(?P<server>https?://(?P<host>[^/]+))/(?P<repository>[^/]+/[^/]+)/actions/runs/(?P<run>\d+)(/.*)?"
)
TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")


def uploaded_result(url: str, instance: str, environ: Mapping[str, str]) -> Result:
    """Return the result of the run at this address. It is untrusted, and safe to show.

    Raises ConfigurationError if there is none or no token to read it with, CannotRunError if GitHub does not answer.
    """
    asked = RUN_URL.fullmatch(url)
    if asked is None:
        raise ConfigurationError(
            f"{url} is not the address of a workflow run.",
            "It looks like https://github.com/OWNER/NAME/actions/runs/123.",
        )
    api = environ.get("GITHUB_API_URL") or _api(asked["server"])
    repository = connect(api, SecretStr(_token(asked["host"], environ)), asked["repository"])
    name = artifact_name(instance)
    try:
        found = newest_artifact(int(asked["run"]), name, repository)
        archive = repository.download(found.id, MAX_ARCHIVE) if found else b""
    except PublishError as error:
        raise CannotRunError(f"the result of {url} could not be fetched: {error.message}", error.advice) from error
    if found is None:
        raise ConfigurationError(
            f"{url} has no artifact `{name}`.",
            "It was never uploaded, or has expired. `--instance NAME` looks for that of another suite.",
        )
    try:
        return read_result(archive, instance, ours=found.own)
    except PoisonedError as error:
        raise ConfigurationError(f"the artifact `{name}` of {url} is not shown: {error}.", "") from None


def _api(server: str) -> str:
    return "https://api.github.com" if server == "https://github.com" else f"{server}/api/v3"


def _token(host: str, environ: Mapping[str, str]) -> str:
    """Return the token in the environment, else that of GitHub's own command-line tool."""
    for name in TOKENS:
        if token := environ.get(name):
            return token
    if program := shutil.which("gh"):
        asked = subprocess.run(
            [program, "auth", "token", "--hostname", host], capture_output=True, text=True, timeout=30
        )
        if asked.returncode == 0:
            return asked.stdout.strip()
    raise ConfigurationError(
        "GitHub gives artifacts only to those who are signed in.",
        "Run `gh auth login`, or set GH_TOKEN to a token that may read the repository's actions.",
    )
