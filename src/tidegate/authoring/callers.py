"""The workflows that `tidegate init` writes. Each calls one of Tidegate's reusable workflows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tidegate.authoring.scenario_text import flow
from tidegate.vcs.git import git

_GITHUB = re.compile(r"(?:https://|ssh://git@|git@)(?:[^/@]*@)?github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PATIENCE_S = 10.0

FOLDER = ".github/workflows"
PULL_REQUEST = f"{FOLDER}/tidegate.yml"
COMMANDS = f"{FOLDER}/tidegate-commands.yml"
UNKNOWN = "OWNER/tidegate"
UNKNOWN_COMMIT = "COMMIT"

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
_TEXTS = {
    PULL_REQUEST: """\
name: tidegate
on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review, edited, labeled]
  merge_group:
permissions: {}
jobs:
  call:
    name: call
    permissions: {contents: read, pull-requests: write<id-token>} # the checkout; the comment
    uses: <pull-request>
<native><keys>""",
    f"{FOLDER}/tidegate-publish.yml": """\
name: tidegate publish
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] nothing from the pull request is checked out or run here
    workflows: [tidegate]
    types: [completed]
permissions: {}
jobs:
  call:
    name: call
    permissions: {actions: read, pull-requests: write} # the other run's artifact; the comment
    uses: <publish>
""",
    f"{FOLDER}/tidegate-maintainer.yml": """\
name: tidegate for a fork
on:
  workflow_dispatch:
    inputs:
      pull_request: {description: Number of the pull request, required: true, type: string}
      sha: {description: Reviewed commit (full SHA), required: true, type: string}
permissions: {}
jobs:
  call:
    name: call
    permissions: {contents: read, pull-requests: write, statuses: write<id-token>} # checkout; comment; commit status
    uses: <maintainer>
<native>""",
    f"{FOLDER}/tidegate-history.yml": """\
name: tidegate history
on:
  push:
    branches: <branches> # the default branch
  schedule:
    - cron: "17 3 * * *"
  workflow_dispatch:
permissions: {}
jobs:
  call:
    name: call
    permissions: {actions: read, contents: read, pull-requests: read<id-token>} # artifact; checkout; pull request
    uses: <history>
<native><keys>""",
    COMMANDS: """\
name: tidegate commands
on:
  issue_comment: # zizmor: ignore[dangerous-triggers] nothing from the pull request is checked out or run here
    types: [created]
permissions: {}
jobs:
  call:
    name: call
    permissions: {actions: write, pull-requests: write} # start a run again, read its artifact; the answer, the label
    uses: <commands>
""",
}

PURPOSES = {
    PULL_REQUEST: "compares each pull request with its base",
    f"{FOLDER}/tidegate-publish.yml": "posts the comments on forks' pull requests",
    f"{FOLDER}/tidegate-maintainer.yml": "runs a reviewed commit of a fork with your keys, on demand",
    f"{FOLDER}/tidegate-history.yml": "records base's results, each night and on each push",
    COMMANDS: "answers `/tidegate ...` in comments",
}


@dataclass(frozen=True)
class Place:
    """The repository and commit of Tidegate that workflows call. `version`: if the commit is a release, its version."""

    repository: str = UNKNOWN
    commit: str = UNKNOWN_COMMIT
    version: str = ""

    @property
    def is_known(self) -> bool:
        """True unless `OWNER` and `COMMIT` stand for what the user has to fill in."""
        return self.commit != UNKNOWN_COMMIT

    def workflow(self, name: str) -> str:
        """Return the value of `uses:` for one of the reusable workflows."""
        comment = f" # v{self.version}" if self.version else ""
        return f"{self.repository}/{FOLDER}/reusable-{name}.yml@{self.commit}{comment}"


class Needs(NamedTuple):
    """What the jobs need: the runner's toolchains, API keys, and GitHub's OIDC token, which a provider exchanges."""

    native: bool = False
    keys: bool = True
    identity: bool = False


USUAL = Needs()


def workflow_files(place: Place, branch: str, needs: Needs = USUAL, *, commands: bool = False) -> dict[str, str]:
    """Return path and text of each workflow. `branch` is the default branch, which has the history.

    `commands`: also the workflow for `/tidegate …` in comments.
    """
    names = ("pull-request", "publish", "maintainer", "history", "commands")
    filled = {f"<{name}>": place.workflow(name) for name in names}
    filled |= {
        "<native>": _NATIVE if needs.native else "",
        "<keys>": _KEYS if needs.keys else _NO_KEYS,
        "<id-token>": ", id-token: write" if needs.identity else "",
        "<branches>": flow([branch]),
    }
    files = {}
    for path, text in _TEXTS.items():
        if path == COMMANDS and not commands:
            continue
        for mark, value in filled.items():
            text = text.replace(mark, value)
        files[path] = text
    return files


def own_place() -> Place:
    """Return the repository and commit of this installation; a Place that is not known if they cannot be found out."""
    try:
        installed = metadata.distribution("tidegate")
        origin = json.loads(installed.read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return Place()
    if origin:
        return place_of_origin(origin)
    sources = [url.partition(", ")[2] for url in installed.metadata.get_all("Project-URL") or ()]
    repository = next((found[1] for url in sources if (found := _GITHUB.fullmatch(url))), None)
    return place_of_release(repository, installed.version) if repository else Place()


def place_of_origin(origin: Mapping[str, object]) -> Place:
    """Return the place that `direct_url.json` names: a commit on GitHub, or a clone with a commit that is there."""
    url = str(origin.get("url", ""))
    vcs = origin.get("vcs_info")
    if isinstance(vcs, dict):
        found = _GITHUB.fullmatch(url)
        return Place(found[1], str(vcs.get("commit_id"))) if found else Place()
    if not url.startswith("file://"):
        return Place()
    folder = Path(unquote(urlsplit(url).path))
    if not (folder / ".git").exists():
        return Place()
    found = _GITHUB.fullmatch(git(folder, "remote", "get-url", "origin").stdout.strip())
    commit = git(folder, "rev-parse", "HEAD").stdout.strip()
    pushed = git(folder, "branch", "--remotes", "--contains", commit, "--list", "origin/*").stdout.strip()
    return Place(found[1], commit) if found and pushed else Place()


def place_of_release(repository: str, version: str) -> Place:
    """Return the commit of the release's tag, as GitHub has it now; the tag itself if GitHub does not answer."""
    tag, url = f"refs/tags/v{version}", f"https://github.com/{repository}"
    listed = git(Path.cwd(), "ls-remote", url, tag, f"{tag}^{{}}", timeout_s=_PATIENCE_S).stdout.splitlines()
    if not listed:
        return Place(repository, f"v{version}")
    return Place(repository, listed[-1].partition("\t")[0], version)  # the commit of an annotated tag comes last
