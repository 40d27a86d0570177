"""What judges a trial, and the program of an agent, are not what the pull request brings; on real processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tidegate.trial.program_lookup import Built, find_target, program_words, system_path, untested, write_front

Make = Callable[..., Any]
TOOL = '#!/bin/sh\n[ "$1" = add ] && echo "$2" >> titles; exit 0\n'
BROKEN = "#!/bin/sh\nexit 0\n"
SUITE = "version: 1\nscenarios: [s.yaml]\npath: [bin]\ntarget: {binary: tk}\nagents: {docs: {type: doc-follower}}\n"
SCENARIO = """\
name: s
description: A title is kept.
task: |
  ```sh
  tk add Emma
  ```
gates: [{type: command_succeeds, command: "CHECK"}]
"""
FILES = {"tidegate.yaml": SUITE, "s.yaml": SCENARIO.replace("CHECK", "grep -q Emma titles"), "bin/tk": TOOL}


def on_head(ran: Any) -> set[str]:
    """The outcomes of head's trials."""
    return {trial["outcome"] for trial in ran.result["trials"] if trial["side"] == "head"}


@pytest.mark.attempt("brings a shell of its own in `path`", "regression")
def test_a_shell_that_the_pull_request_brings_is_not_used(pull_request: Make) -> None:
    ran = pull_request(FILES, {"bin/tk": BROKEN, "bin/sh": "#!/bin/dash\nexit 0\n"})
    assert (ran.code, on_head(ran)) == (1, {"fail"})


@pytest.mark.attempt("brings a `grep` of its own in `path`", "regression")
def test_a_program_that_hides_the_systems_is_not_seen_by_gates(pull_request: Make) -> None:
    ran = pull_request(FILES, {"bin/tk": BROKEN, "bin/grep": "#!/bin/sh\nexit 0\n"})
    assert (ran.code, on_head(ran)) == (1, {"fail"})


def test_a_program_that_both_sides_bring_stays_in_front(pull_request: Make) -> None:
    """As the `python` of a virtual environment, which suites rely on."""
    own = '#!/bin/sh\n[ "$1" = -q ] || exit 9\n[ -e titles ]\n'
    ran = pull_request({**FILES, "bin/grep": own}, {"README.md": "x", "bin/grep": own + "# changed\n"})
    assert ran.code == 0


@pytest.mark.attempt("brings a program of its own that the setup runs", "regression")
def test_setup_does_not_see_it_either(pull_request: Make) -> None:
    """A `touch` of head's that writes what the gate looks for."""
    setup = "setup: {commands: [touch made]}\n"
    files = {**FILES, "s.yaml": FILES["s.yaml"] + setup}
    ran = pull_request(files, {"bin/tk": BROKEN, "bin/touch": "#!/bin/sh\necho Emma > titles\n"})
    assert (ran.code, on_head(ran)) == (1, {"fail"})


CODEX = """#!/bin/sh
[ "$1" = --version ] && { echo "codex-cli 0.169.0"; exit 0; }
[ -z "$OPENAI_API_KEY" ] || echo "$OPENAI_API_KEY" > MARK
exit 1
"""


def test_an_agents_program_is_never_the_pull_requests(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    """Without the model proxy it would get the key."""
    system, marks = tmp_path / "system", tmp_path / "marks"
    system.mkdir()
    marks.mkdir()
    (system / "codex").write_text(CODEX.replace("MARK", str(marks / "right")))
    (system / "codex").chmod(0o755)
    suite = SUITE.replace("{docs: {type: doc-follower}}", "{codex: {type: codex}}")
    suite += f"model_proxy: false\nfiles: {{write: ['{marks}']}}\n"
    repo: Repository = make_repository()
    repo.commit({**FILES, "tidegate.yaml": suite})
    stolen = marks / "stolen"
    fakes = {f"bin/{name}": CODEX.replace("MARK", str(stolen)) for name in ("codex", "sh", "env", "bash")}
    repo.branch("pr", {"bin/tk": BROKEN, **fakes, "tools/codex": fakes["bin/codex"]})
    # The workflow may have put a folder of the repository in PATH as well.
    path = f"{repo.root}/tools:{system}:{os.environ['PATH']}"
    env = {"PATH": path, "OPENAI_API_KEY": "dummy-key"}
    tidegate("pr", "--base", "main", "--head", "pr", cwd=repo.root, env=env)
    assert (marks / "right").exists()
    assert not stolen.exists()


def test_the_interpreter_of_an_agents_script_is_the_systems(tmp_path: Path) -> None:
    for name, text in (
        ("node", "#!/bin/sh\n"),
        ("codex", "#!/usr/bin/env node\n"),
        ("x", "#!/usr/bin/env -S node -v\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    path = str(tmp_path)
    assert program_words("codex", path) == (f"{path}/node", f"{path}/codex")
    assert program_words("x", path) == (f"{path}/node", "-v", f"{path}/x")
    assert program_words("node", path) == (f"{path}/node",)
    assert program_words("gone", path) is None


def test_folders_of_the_repository_are_not_the_systems(tmp_path: Path) -> None:
    (tmp_path / "repo/bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "repo/bin")
    path = f"{tmp_path}/repo/bin:{tmp_path}/link:relative::/usr/bin"
    assert system_path(path, [tmp_path / "repo"]) == "/usr/bin"


def test_the_target_is_started_with_its_own_variables_whatever_comes_first(tmp_path: Path) -> None:
    tool = tmp_path / "own/tk"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "$PATH" "$@"; env\n')
    tool.chmod(0o755)
    own = f"{tool.parent}:/usr/bin:/bin"
    variables = {"PATH": own, "KEPT": "it's\nhead's", "LOST": None, "SHELLOPTS": "noexec"}
    write_front(tmp_path / "front", "tk", str(tool), variables)
    write_front(tmp_path / "other", "gone", None, variables)

    def run(program: Path) -> tuple[int, str]:
        env = {"PATH": "/bin", "LOST": "1"}
        done = subprocess.run([program, "a b"], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    status, printed = run(tmp_path / "front/tk")
    assert (status, printed.splitlines()[0]) == (0, f"{own} a b")
    assert "KEPT=it's\nhead's\n" in printed
    assert "SHELLOPTS=noexec\n" in printed
    assert "LOST" not in printed
    assert run(tmp_path / "other/gone") == (127, "gone: not found\n")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (["bin/tk"], ["bin/tk"], "bin/tk"),
        (["bin/tk"], ["new/tk"], "new/tk"),
        (["bin/tk"], ["bin/tk", "new/tk"], "bin/tk"),
        (["bin/tk"], ["bin/tk=", "new/tk="], "new/tk"),
        (["bin/tk"], ["bin/tk", "old/tk"], "bin/tk"),
        (["bin/tk", "old/tk"], ["old/tk"], None),
        (["bin/tk", "old/tk"], ["bin/tk/readme", "old/tk"], None),
        (["bin/tk"], [], None),
        ([], ["bin/tk"], None),
    ],
    ids=[
        "same place",
        "moved",
        "another in front",
        "a copy in front",
        "another behind",
        "an older copy",
        "a folder",
        "gone",
        "of the system",
    ],
)
def test_the_target_of_head_is_in_base_s_place_or_in_a_new_one(
    tmp_path: Path, before: list[str], after: list[str], found: str | None
) -> None:
    for side, names in (("base", before), ("head", after)):
        (tmp_path / side).mkdir()
        for name in names:
            file = tmp_path / side / name.rstrip("=")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#!/bin/sh\n" if name.endswith("=") else f"#!/bin/sh\necho {name}\n")
            file.chmod(0o755)
    base, head = (
        Built(tmp_path / side, path) for side, path in (("base", ["bin", "old"]), ("head", ["new", "bin", "old"]))
    )

    assert find_target("tk", base, head) == (None if found is None else tmp_path / "head" / found)


SECOND = ("new/tk", "bin/tk")


@pytest.mark.parametrize(
    ("files", "own", "said"),
    [
        ({"bin/tk": "old", "new/tk": "new"}, ["new", "bin"], SECOND),
        ({"bin/tk": "old", "new/tk": "new"}, ["bin", "new"], ()),
        ({"bin/tk": "old"}, ["new"], ("", "bin/tk")),
        ({"bin/tk": "old", "new/tk": "old"}, ["new", "bin"], ()),
        ({"bin/tk": "old", "bin/lib": "1", "new/tk": "old", "new/lib": "2"}, ["new", "bin"], SECOND),
        ({"bin/tk": "", "bin/x": "old", "new/x": "new"}, ["new", "bin"], ("new/x", "bin/x")),
        ({"bin/tk": "", "bin/x": "old"}, ["new"], ("", "bin/tk")),
        ({"bin/tk": "-> ../new/tk", "new/tk": "new"}, ["new"], ()),
    ],
    ids=[
        "another in front",
        "another behind",
        "none",
        "a copy",
        "beside another library",
        "another program",
        "a folder that is gone",
        "a link",
    ],
)
def test_another_program_than_the_tested_one_is_named(
    tmp_path: Path, files: dict[str, str], own: list[str], said: tuple[str, ...]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        if text.startswith("-> "):
            (tmp_path / name).symlink_to(text.removeprefix("-> "))
        else:
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o644 if name.endswith("lib") else 0o755)

    assert untested("tk", Built(tmp_path, ["bin", *own]), Built(tmp_path, own)) == said


def test_a_file_that_scripts_read_by_its_name_alone_is_one_of_them(tmp_path: Path) -> None:
    for name in ("bin", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes-lib.sh").write_text(name)

    found = untested("tk", Built(tmp_path, ["bin", "new"]), Built(tmp_path, ["new", "bin"]))
    assert found == ("new/notes-lib.sh", "bin/notes-lib.sh")


def test_a_pipe_instead_of_a_program_is_not_read(tmp_path: Path) -> None:
    for name in ("bin", "new"):
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / name / "tk", 0o755)

    assert untested("tk", Built(tmp_path, ["bin", "new"]), Built(tmp_path, ["new"])) == SECOND
