"""Which tool a repository makes, and which of its files are scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.authoring.build_systems import find_tools
from tidegate.authoring.starter import bare_files, suite_text
from tidegate.authoring.survey import (
    find_binary,
    find_cases,
    find_inputs,
    find_programs,
    find_scenarios,
    find_scripts,
    find_test_code,
    missing_toolchain,
    named_like,
    tool_at,
)
from tidegate.authoring.tool import Tool
from tidegate.suite.document import parse

PYTHON = '[project]\nname = "task-manager"\n[project.scripts]\nother = "a:b"\ntask-manager = "a:b"\n'


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def test_finds_programs_by_name_those_nearest_to_the_root_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        dict.fromkeys(("a/b/greet", "z/greet", "greet", "node_modules/greet", "greet.d/x", "y/greet"), "#!x\n"),
    )
    (tmp_path / "y" / "greet").chmod(0o644)

    assert find_programs(tmp_path, "greet") == ("greet", "z/greet", "a/b/greet")
    assert tool_at("greet").path == (".",)
    assert tool_at("a/b/greet").path == ("a/b",)


@pytest.mark.parametrize(
    ("build", "toolchain"),
    [
        (("npm ci", "npm install --global --prefix .tidegate/npm ."), "npm"),
        (("cargo build --release",), "cargo"),
        (("cd tool && make tool",), "make"),
        (("python3 -m venv .tidegate/venv", ".tidegate/venv/bin/pip install --quiet ."), None),
        (("python3 make.py", "./go", "cp make bin"), None),
        ((), None),
    ],
)
def test_a_toolchain_that_the_image_has_not(build: tuple[str, ...], toolchain: str | None) -> None:
    assert missing_toolchain(build) == toolchain


def test_the_first_scenario_of_a_python_tool_is_no_second_package_for_setuptools(tmp_path: Path) -> None:
    discovery = pytest.importorskip("setuptools.discovery", reason="setuptools is not in this environment")
    write(tmp_path, {"pyproject.toml": PYTHON, "task_manager/__init__.py": "", "scenarios/x.yaml": ""})
    assert set(discovery.FlatLayoutPackageFinder.find(tmp_path)) == {"task_manager", "scenarios"}
    (tmp_path / "scenarios" / "x.yaml").unlink()
    (tmp_path / "scenarios").rmdir()
    tool = find_tools(tmp_path)[0]
    write(tmp_path, bare_files(tool))
    assert discovery.FlatLayoutPackageFinder.find(tmp_path) == ["task_manager"]
    assert find_scenarios(tmp_path) == ("tests/scenarios/first_steps.yaml",)
    assert "scenarios: [tests/scenarios/*.yaml]" in suite_text(tool, find_scenarios(tmp_path))


def test_scenarios_of_both_dialects_are_found_and_nothing_else(tmp_path: Path) -> None:
    native = "name: a\ndescription: d\ntask: {prompt: p}\nevaluation: {gates: []}\n"
    write(
        tmp_path,
        {
            "evals/b.yml": "description: x\nevalcases: []\n",
            "evals/a.yaml": native,
            "evals/rubric.yaml": "criteria: []\n",
            "node_modules/x/c.yaml": native,
            ".hidden/d.yaml": native,
        },
    )
    assert find_scenarios(tmp_path) == ("evals/a.yaml", "evals/b.yml")


@pytest.mark.parametrize("name", ["yes", "12", "a b", "it's", "task-manager", "-x"])
def test_a_strange_name_stays_text_in_the_suite(name: str) -> None:
    document = parse(suite_text(Tool(name, ("npm ci",), ("x/bin",)), ["scenarios/a.yaml", "e/b.yaml"]), "t")
    binary, globs = document.node(("target", "binary")), document.node(("scenarios",))
    assert binary is not None
    assert globs is not None
    assert (document.problems, binary.value, globs.data()) == ((), name, ["scenarios/*.yaml", "e/b.yaml"])


def test_a_configuration_is_a_file_of_the_same_name_or_a_sample_of_it(tmp_path: Path) -> None:
    for name in ("tests/deep/tally.cfg", "etc/tally.cfg.example", "other.cfg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert named_like(tmp_path, "tally.cfg") == tmp_path / "etc/tally.cfg.example"
    assert named_like(tmp_path, "other.cfg") == tmp_path / "other.cfg"
    assert named_like(tmp_path, "absent.cfg") is None


def test_a_link_to_nothing_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("case.sh", "case.py"):
        (tmp_path / "tests" / name).symlink_to("gone")
    assert (find_scripts(tmp_path), find_test_code(tmp_path), find_inputs(tmp_path, [".py"])) == ((), (), ())


def test_data_of_tests_comes_after_their_code(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.json": "[]\n", "tests/b.py": "\n", "tests.json": "[]\n", "other.json": "[]\n"})
    assert [path.name for path in find_test_code(tmp_path)] == ["b.py", "a.json", "tests.json"]


def test_a_script_of_the_root_is_a_test_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"run-tests.sh": "#!/bin/sh\ntally a\n", "install.sh": "#!/bin/sh\ncp tally /usr/bin\n"})
    assert [path.name for path in find_scripts(tmp_path)] == ["run-tests.sh"]


def test_inputs_of_different_folders_come_first_and_cases_of_one_name_are_named_by_their_folder(tmp_path: Path) -> None:
    write(
        tmp_path, {f"tests/{folder}/{name}.txt": f"{folder} {name}\n" for folder in "abc" for name in ("one", folder)}
    )
    assert {Path(name).parent.name for name in find_inputs(tmp_path, [".txt"])[:3]} == {"a", "b", "c"}
    assert sorted(find_cases(tmp_path)) == ["a-one.txt", "a.txt", "b-one.txt", "b.txt", "c-one.txt", "c.txt"]


def test_a_name_that_is_no_word_of_a_shell_is_that_of_a_case_alone_with_other_characters(tmp_path: Path) -> None:
    write(tmp_path, {"tests/Auto links (old).md": "a\n", "tests/plain.md": "b\n", "tests/it's.bin": "\0"})
    assert find_inputs(tmp_path, [".md"]) == ("tests/plain.md",)
    assert find_cases(tmp_path) == {"Auto_links_old_.md": "a\n", "plain.md": "b\n"}
    assert find_binary(tmp_path, ["a bin file"]) == ()


def test_files_that_are_no_texts_are_found_if_the_docs_name_their_kind(tmp_path: Path) -> None:
    for name in ("tests/a/x.PNG", "tests/a/y.png", "tests/b/z.png", "tests/a/x.mp3", "docs/logo.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"\x89\0")
    assert find_binary(tmp_path, ["It reads JPEG and PNG."]) == ("tests/a/x.PNG", "tests/b/z.png", "tests/a/y.png")
    found = find_binary(tmp_path, ["It reads mp3 and png: `tally a.png`, or `tally a.mp3 b.mp3`."])
    assert found == ("tests/a/x.mp3", "tests/b/z.png", "tests/a/x.PNG", "tests/a/y.png")


def test_a_folder_t_has_tests_as_perl_and_git_name_it(tmp_path: Path) -> None:
    (tmp_path / "t/images").mkdir(parents=True)
    (tmp_path / "t/images/x.png").write_bytes(b"\x89\0")
    assert find_binary(tmp_path, ["It reads PNG."]) == ("t/images/x.png",)
