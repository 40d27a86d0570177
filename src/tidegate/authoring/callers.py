"""The workflows that `tidegate init` writes. Each calls one of Tidegate's reusable workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tidegate.authoring.scenario_text import flow

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
