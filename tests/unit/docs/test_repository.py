"""Checks of the repository: packaging, the direction of imports, and documents that match the code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tidegate import errors

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program of this environment, with nothing else in its own."""
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8", **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def copy_of_the_tree(folder: Path) -> Path:
    """All that the package is made of, without what was built from it."""
    for name in ("src", "templates", "examples"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "recorder-program", "launcher-program")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "build_backend.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def test_every_pure_stage_is_guarded_against_io() -> None:
    """A module that starts no process and asks no clock is either guarded or in the half that may do so."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    _, forbidden, _ = pyproject["tool"]["importlinter"]["contracts"]
    guarded = {name.removeprefix("tidegate.") for name in forbidden["source_modules"]}
    rooms = {path.stem for path in (ROOT / "src/tidegate").glob("[a-z]*") if path.suffix != ".typed"}
    checks = {f"checks.{path.parent.name}" for path in (ROOT / "src/tidegate/checks").glob("*/__init__.py")}

    assert (rooms | checks) - guarded <= MAY_DO_IO


MAY_DO_IO = {
    *("authoring", "checks.judges", "cli", "executors", "history", "run", "trial", "vcs"),
    *("agents", "checks", "github", "lab", "suite"),  # but for those of their modules that are guarded one by one
    "errors",  # nothing but words
}


# Documents


def test_no_private_module_of_a_library_is_imported() -> None:
    """Ruff finds private attributes; it does not look at the names of modules."""
    private = re.compile(r"^\s*(?:from|import) ([a-z]\w*(?:\.\w+)*?\._\w+)", re.MULTILINE)
    found = {
        name for path in (ROOT / "src").rglob("*.py") for name in private.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_the_readme_stays_short() -> None:
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    assert lines <= 120, f"README.md has {lines} lines: join two rows of a table, or move something to docs/"


def test_every_link_inside_the_repository_leads_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_way_to_end_badly_has_its_heading() -> None:
    codes = {
        value.exit_code
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.TidegateError) and value is not errors.TidegateError
    }

    assert len(codes) >= 3
    assert codes <= set(map(int, re.findall(r"^## Exit code (\d+): ", _page("help.md"), re.MULTILINE)))


def test_every_target_of_make_that_the_documents_name_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    named = {
        name
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / ".pre-commit-config.yaml"]
        for name in re.findall(r"(?:`|entry: )make ([a-z-]+)", page.read_text(encoding="utf-8"))
    }

    assert named <= targets
    assert {"check", "demo", "docs", "lint", "types"} <= named


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


# The YAML that the documents tell people to paste


SUITE = "# tidegate.yaml\nversion: 1\nscenarios: [scenarios/*.yaml]\n"
SCENARIO = """\
# scenarios/first.yaml
name: first
description: The first.
target: {binary: taskmgr}
task: List the tasks.
gates: [{type: command_succeeds, command: taskmgr list}]
"""


def pasted() -> list[tuple[str, str]]:
    """Every block of every page whose first line names the file that it belongs to."""
    return [
        (page.name, block)
        for page in PAGES
        for block in re.findall(
            r"^```yaml\n(# [\w/.-]+\.yaml\n.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M
        )
    ]


def load(folder: Path, *blocks: str) -> object:
    """The suite that the blocks make, each written to the file that its first line names."""
    from tidegate.suite.load import load_suite

    for block in (SUITE, SCENARIO, *blocks):
        name = block.splitlines()[0].removeprefix("# ")
        if name.startswith("scenarios/") and block is not SCENARIO:
            (folder / "scenarios/first.yaml").unlink(missing_ok=True)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(block, encoding="utf-8")
    (folder / "fixtures/tasks").mkdir(parents=True, exist_ok=True)
    return load_suite(folder, "tidegate.yaml", environ={})


def test_there_are_blocks_to_paste() -> None:
    pages = [page for page, _ in pasted()]

    assert set(pages) == {"README.md", "configuration.md", "executors.md", "judges.md", "providers.md", "scenarios.md"}
    assert len(pages) >= 6


@pytest.mark.parametrize(("page", "block"), pasted())
def test_what_the_documents_tell_to_paste_loads(page: str, block: str, tmp_path: Path) -> None:
    load(tmp_path, block)


def test_the_defaults_in_the_documents_are_the_defaults(tmp_path: Path) -> None:
    everything = next(block for page, block in pasted() if page == "configuration.md")
    assert "report:" in everything

    assert load(tmp_path / "documented", everything) == load(tmp_path / "minimal")
