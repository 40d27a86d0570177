"""What gates do not see: files that stand in for what they use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.trial.what_checks_see import without_stand_ins

MAKEFILE = {"Makefile": "test:\n\tsh check.sh\n"}
CHECK = {"check.py": "import json, pathlib\nassert json.loads(pathlib.Path('out.json').read_text())\n"}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def moved(tmp_path: Path, command: str, template: dict[str, str], made: dict[str, str]) -> list[str]:
    write_files(tmp_path / "template", template)
    write_files(tmp_path / "workspace", {**template, **made})
    before = sorted(tmp_path.joinpath("workspace").rglob("*"))
    folders = (tmp_path / "template", tmp_path / "workspace", tmp_path / "aside")
    with without_stand_ins(command, *folders, f"{tmp_path}/python/bin:/usr/bin:/bin") as names:
        assert not any((tmp_path / "workspace" / name).exists() for name in names)
    assert sorted(tmp_path.joinpath("workspace").rglob("*")) == before
    return list(names)


def test_make_uses_the_template_s_makefile(tmp_path: Path) -> None:
    made = {"GNUmakefile": "test:\n", "makefile": "test:\n", "notes.txt": "x\n"}
    assert moved(tmp_path, "make -s test", MAKEFILE, made) == ["GNUmakefile", "makefile"]


def test_a_makefile_that_is_the_result_is_seen(tmp_path: Path) -> None:
    assert moved(tmp_path, "make test", {"readme": "x"}, MAKEFILE) == []


@pytest.mark.parametrize(
    "command", ["python3 check.py", "python3.11 ./check.py", "sh -c 'python3 check.py'", "./check.py"]
)
def test_a_script_imports_python_s_own_modules(tmp_path: Path, command: str) -> None:
    made = {"json.py": "", "re/__init__.py": "", "__pycache__/check.cpython-311.pyc": "", "out.json": "1", "own.py": ""}
    assert moved(tmp_path, command, CHECK, made) == ["__pycache__", "json.py", "re"]


def test_a_script_that_starts_python_is_searched(tmp_path: Path) -> None:
    check = {"t/check.sh": "python3 - < t/check.txt\n"}
    assert moved(tmp_path, "sh t/check.sh", check, {"t/ast.py": "", "ast.py": ""}) == ["ast.py", "t/ast.py"]


def test_pytest_obeys_the_template_s_settings(tmp_path: Path) -> None:
    made = {"conftest.py": "", "pyproject.toml": "", "t/conftest.py": "", "notes.py": ""}
    tests = {"t/test_notes.py": "def test_notes(): ...\n"}
    assert moved(tmp_path, "pytest -q t/test_notes.py", tests, made) == [
        "conftest.py",
        "pyproject.toml",
        "t/conftest.py",
    ]
    assert moved(tmp_path / "again", "python3 t/test_notes.py", tests, made) == []


def test_npm_obeys_the_template_s_settings(tmp_path: Path) -> None:
    made = {".npmrc": "script-shell=/bin/true\n", "web/.yarnrc.yml": "", "notes.txt": ""}
    package = {"package.json": '{"scripts": {"test": "grep -q milk notes.txt"}}', "web/package.json": "{}"}
    assert moved(tmp_path, "npm test --silent", package, made) == [".npmrc", "web/.yarnrc.yml"]
    assert moved(tmp_path / "again", "grep milk notes.txt", package, made) == []


def test_code_of_the_command_itself_imports_python_s_own_modules(tmp_path: Path) -> None:
    assert moved(tmp_path, "python3 -c 'import json'", {"readme": "x"}, {"json.py": ""}) == ["json.py"]


def test_what_a_script_names_is_a_result(tmp_path: Path) -> None:
    check = {"check.py": "assert open('calendar.py').read()\n"}
    assert moved(tmp_path, "python3 check.py", check, {"calendar.py": "x"}) == []


UNIT = {"test_n.py": "import unittest\n", "pkg/one.py": "", "data/a.txt": ""}


@pytest.mark.parametrize(
    "command",
    ["python3 -m unittest -q test_n", "python3 test_n.py", "pytest -q test_n.py", "cd . && python3 -m test_n"],
)
def test_a_package_does_not_replace_a_module_of_the_template(tmp_path: Path, command: str) -> None:
    made = {"test_n/__init__.py": "", "pkg.py": "", "pkg/one/__init__.pyc": "", "pkg/two.py": "", "data.py": ""}
    assert moved(tmp_path, command, UNIT, made) == ["pkg.py", "test_n", "pkg/one"]


@pytest.mark.parametrize("command", ["python3 check.py", "python3 -m unittest check", "sh -c 'python3 check.py'"])
def test_a_script_imports_installed_modules(tmp_path: Path, command: str) -> None:
    """What the task was to write is imported by its name, too: it is seen, since nothing else has that name."""
    write_files(
        tmp_path / "python",
        {f"lib/python3.11/site-packages/{name}": "" for name in ("shelf/__init__.py", "six_.py", "fast.cp311.so")},
    )
    write_files(tmp_path / "python", {"bin/python3": "#!/bin/sh\n"})
    (tmp_path / "python/bin/python3").chmod(0o755)
    made = {"shelf.py": "", "six_/__init__.py": "", "fast.py": "", "written.py": "", "pack/__init__.py": ""}
    check = {"check.py": "import shelf, written, pack\n"}
    assert moved(tmp_path, command, check, made) == ["fast.py", "shelf.py", "six_"]


def test_a_program_that_the_agent_wrote_has_its_modules(tmp_path: Path) -> None:
    assert moved(tmp_path, "python3 main.py", {"readme": "x"}, {"main.py": "", "json.py": ""}) == []


def test_other_gates_see_everything(tmp_path: Path) -> None:
    assert moved(tmp_path, "grep -q x json.py", CHECK, {"json.py": "x"}) == []


def test_nothing_is_moved_out_of_a_folder_that_a_link_leads_to(tmp_path: Path) -> None:
    write_files(tmp_path / "template", {"t/check.py": "import json\n"})
    write_files(tmp_path / "elsewhere", {"json.py": ""})
    tmp_path.joinpath("workspace").mkdir()
    tmp_path.joinpath("workspace/t").symlink_to(tmp_path / "elsewhere")
    with without_stand_ins("python3 t/check.py", tmp_path / "template", tmp_path / "workspace", tmp_path / "aside"):
        assert (tmp_path / "elsewhere/json.py").exists()
