"""Finds the GitHub repository and commit that this Tidegate was installed from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tidegate.authoring.callers import Place
from tidegate.vcs.git import git

_GITHUB = re.compile(r"(?:https://|ssh://git@|git@)(?:[^/@]*@)?github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PATIENCE_S = 10.0


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
