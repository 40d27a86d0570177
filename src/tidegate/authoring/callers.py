"""The workflows that `tidegate init` writes: those of examples/workflows, with Tidegate's place filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tidegate.authoring.scenario_text import flow
from tidegate.errors import ConfigurationError
from tidegate.vcs.git import git

_GITHUB = re.compile(r"(?:https://|ssh://git@|git@)(?:[^/@]*@)?github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PATIENCE_S = 10.0

FOLDER = ".github/workflows"
PULL_REQUEST = f"{FOLDER}/tidegate.yml"
UNKNOWN = "OWNER/tidegate"
UNKNOWN_COMMIT = "COMMIT"
USUAL_WORKFLOWS = ("pull-request", "rerun", "publish", "maintainer", "history")

_COMMIT = f"@{UNKNOWN_COMMIT}"
_BRANCHES = "branches: [main]"
_KEYS = """\
    secrets:
      ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }} # if an agent needs it; or OPENAI_API_KEY, GEMINI_API_KEY
"""
_NO_KEYS = """\
    # secrets: # no agent of the suite needs a key; for one that does (or OPENAI_API_KEY, GEMINI_API_KEY):
    #   ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}
"""
_NATIVE = """\
    with:
      native: true # without a container, so that the build has the runner's toolchains
"""
_WITH_AGENTS = ("pull-request", "maintainer", "history")


@dataclass(frozen=True)
class ActionSource:
    """The repository and commit of Tidegate that workflows call. `version`: if the commit is a release, its version."""

    repository: str = UNKNOWN
    commit: str = UNKNOWN_COMMIT
    version: str = ""

    @property
    def is_known(self) -> bool:
        """True unless `OWNER` and `COMMIT` stand for what the user has to fill in."""
        return self.commit != UNKNOWN_COMMIT

    def filled_in(self, text: str) -> str:
        """Return the text of a workflow with this place in each `uses:`."""
        version = f" # v{self.version}" if self.version else ""
        return text.replace(f"uses: {UNKNOWN}", f"uses: {self.repository}").replace(_COMMIT, f"@{self.commit}{version}")


class Needs(NamedTuple):
    """What the jobs need: the runner's toolchains, API keys, and GitHub's OIDC token, which a provider exchanges."""

    native: bool = False
    keys: bool = True
    identity: bool = False


USUAL = Needs()


class Workflow(NamedTuple):
    """A workflow's path in a repository, what it does, and its text."""

    path: str
    purpose: str
    text: str


def workflow_names() -> list[str]:
    """Return the names of all workflows."""
    folder = files("tidegate.examples") / "workflows"
    return sorted(file.name.removesuffix(".yml") for file in folder.iterdir() if file.name.endswith(".yml"))


def workflow(name: str, place: ActionSource, branch: str, needs: Needs = USUAL) -> Workflow:
    """Return the workflow with that name; ConfigurationError if there is none. `branch` is the default branch."""
    if name not in workflow_names():
        raise ConfigurationError(f"there is no workflow `{name}`.", f"There are: {', '.join(workflow_names())}.")
    file = files("tidegate.examples") / "workflows" / f"{name}.yml"
    first, _, text = place.filled_in(file.read_text(encoding="utf-8")).partition("\n")
    path, _, purpose = first.removeprefix("# ").partition(": ")
    text = text.replace(_BRANCHES, f"branches: {flow([branch])}")
    if not needs.keys:
        text = text.replace(_KEYS, _NO_KEYS)
    if name in _WITH_AGENTS:
        lines = text.splitlines(keepends=True)
        (at,) = (number for number, line in enumerate(lines) if line.startswith("    uses: "))
        lines.insert(at + 1, _NATIVE if needs.native else "")
        text = "".join(lines)
        text = text.replace("} # ", ", id-token: write} # ", 1) if needs.identity else text
    return Workflow(path, purpose, text)


def own_place() -> ActionSource:
    """Return the repository and commit of this installation; a Place that is not known if they cannot be found out."""
    try:
        installed = metadata.distribution("tidegate")
        origin = json.loads(installed.read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ActionSource()
    if origin:
        return place_of_origin(origin)
    sources = [url.partition(", ")[2] for url in installed.metadata.get_all("Project-URL") or ()]
    repository = next((found[1] for url in sources if (found := _GITHUB.fullmatch(url))), None)
    return place_of_release(repository, installed.version) if repository else ActionSource()


def place_of_origin(origin: Mapping[str, object]) -> ActionSource:
    """Return the place that `direct_url.json` names: a commit on GitHub, or a clone with a commit that is there."""
    url = str(origin.get("url", ""))
    vcs = origin.get("vcs_info")
    if isinstance(vcs, dict):
        found = _GITHUB.fullmatch(url)
        return ActionSource(found[1], str(vcs.get("commit_id"))) if found else ActionSource()
    if not url.startswith("file://"):
        return ActionSource()
    folder = Path(unquote(urlsplit(url).path))
    if not (folder / ".git").exists():
        return ActionSource()
    found = _GITHUB.fullmatch(git(folder, "remote", "get-url", "origin").stdout.strip())
    commit = git(folder, "rev-parse", "HEAD").stdout.strip()
    pushed = git(folder, "branch", "--remotes", "--contains", commit, "--list", "origin/*").stdout.strip()
    return ActionSource(found[1], commit) if found and pushed else ActionSource()


def place_of_release(repository: str, version: str) -> ActionSource:
    """Return the commit of the release's tag, as GitHub has it now; the tag itself if GitHub does not answer."""
    tag, url = f"refs/tags/v{version}", f"https://github.com/{repository}"
    listed = git(Path.cwd(), "ls-remote", url, tag, f"{tag}^{{}}", timeout_s=_PATIENCE_S).stdout.splitlines()
    if not listed:
        return ActionSource(repository, f"v{version}")
    return ActionSource(repository, listed[-1].partition("\t")[0], version)  # the commit of an annotated tag comes last
