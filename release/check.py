"""`check.py VERSION NOTES`: may this version be released? Its part of CHANGELOG.md is written to the file NOTES."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
CHANGELOG = "CHANGELOG.md"


class NotReadyError(Exception):
    """Why the version cannot be released."""


def notes(version: str, root: Path) -> str:
    """What the changelog says of the version; NotReadyError if anything speaks against its release."""
    if VERSION.fullmatch(version) is None:
        raise NotReadyError(f"`{version}` is no version of the form 1.2.3")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if version != project["version"]:
        raise NotReadyError(f"pyproject.toml says {project['version']}, not {version}")
    source = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
    if project.get("urls", {}).get("Source") != source:
        raise NotReadyError(
            f'`[project]` of pyproject.toml lacks `urls = {{Source = "{source}"}}`, for `tidegate init`'
        )
    if _git(root, "ls-remote", "--tags", "origin", f"refs/tags/v{version}") and not _is_ours(root, version):
        raise NotReadyError(f"the tag v{version} is there already, of another commit")
    part = rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)"
    found = re.search(part, (root / CHANGELOG).read_text(encoding="utf-8"), re.M | re.S)
    if found is None or not found[1].strip():
        raise NotReadyError(f"{CHANGELOG} says nothing under `## [{version}]`")
    return found[1].strip() + "\n"


def _is_ours(root: Path, version: str) -> bool:
    """Return True if an earlier attempt has tagged this commit: the tag's commit comes right after it."""
    _git(root, "fetch", "--quiet", "--depth=2", "origin", f"refs/tags/v{version}")
    return _git(root, "cat-file", "commit", "FETCH_HEAD").split("parent ")[1][:40] == _git(root, "rev-parse", "HEAD")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def main(version: str, file: str) -> int:
    """Returns the exit code."""
    try:
        Path(file).write_text(notes(version, Path.cwd()), encoding="utf-8")
    except NotReadyError as error:
        print(f"not released: {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
