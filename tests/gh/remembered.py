"""Comparisons that are made once per session: the same commits, options and stored results give the same result."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tidegate.model.result import Result
from tidegate.run.checkouts import Commits
from tidegate.run.pipeline import pull_request
from tidegate.run.run_job import Options

# Of one step, and nothing that a comparison depends on.
OF_THE_STEP = ("GITHUB_", "INPUT_", "HOME", "RUNNER_TEMP")


@dataclass(frozen=True)
class Remembered:
    """The pipeline. What it has done in one repository, it copies into another with the same commits.

    A test of what becomes of a result on GitHub then takes no trials. `folder` is of all workers.
    """

    folder: Path

    @classmethod
    def of_the_session(cls, factory: pytest.TempPathFactory) -> Remembered:
        """Return that of all tests and workers."""
        folder = factory.getbasetemp()
        if "PYTEST_XDIST_WORKER" in os.environ:
            folder = folder.parent  # each worker has a folder of its own in it
        (folder / "comparisons").mkdir(exist_ok=True)
        return cls(folder / "comparisons")

    async def __call__(self, root: Path, commits: Commits, out: Path, options: Options) -> Result:
        """Return the result, with the files of a run."""
        if "[remote" in (root / ".git/config").read_text(encoding="utf-8"):  # what lies there can differ
            return await pull_request(root, commits, out, options)
        ours = root / ".tidegate"
        kept = self.folder / _key(ours, commits, options)
        if (kept / "result").exists():
            shutil.rmtree(ours)
            shutil.copytree(kept / "ours", ours, symlinks=True)
            return Result.model_validate_json((kept / "result").read_bytes())
        result = await pull_request(root, commits, out, options)
        new = Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(ours, new / "ours", symlinks=True)
        (new / "result").write_text(result.model_dump_json(), encoding="utf-8")
        try:
            new.rename(kept)
        except OSError:  # another worker has made it meanwhile
            shutil.rmtree(new)
        return result


def _key(ours: Path, commits: Commits, options: Options) -> str:
    environ = {name: value for name, value in options.environ.items() if not name.startswith(OF_THE_STEP)}
    told = [environ, options.config, options.instance, options.lenient_keys, options.links, options.shards]
    made = hashlib.sha256(repr([commits, told]).encode())
    for path in sorted(ours.rglob("*")):
        made.update(os.fsencode(path.relative_to(ours)) + b"\0")
        if path.is_file():
            made.update(hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()
