"""What every command may read: installations that PATH leads to, and nothing of a home besides."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidegate.trial.sandbox.readable import is_within, parts_of_checkout, private_in, readable_folders


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with toolchains in it, as version managers leave them."""
    home = tmp_path / "home"
    for name in (
        *(".nvm/versions/node/v24/bin/node", ".nvm/versions/node/v24/lib/x.js"),
        *(".pyenv/shims/python", ".pyenv/libexec/pyenv", "jdk-21/bin/java"),
        *(".cargo/bin/cargo", ".cargo/credentials.toml", ".local/bin/tool", ".local/share/keyrings/login"),
        *(".local/share/pipx/venvs/tool/bin/tool", "bin/mine", ".ssh/id_rsa", "uv/python/bin/python3"),
        *("project/node_modules/.bin/tsc", "project/secret"),
    ):  # fmt: skip
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("")
    venv = home / ".local/share/pipx/venvs/tool"
    (venv / "pyvenv.cfg").write_text(f"home = {home}/uv/python/bin\nversion = 3.12\n")
    (home / "bin/linked").symlink_to(venv / "bin/tool")
    (home / "current").symlink_to(home / "jdk-21")
    return home


def readable(home: Path, path: str, passed: tuple[str, ...] = ()) -> list[str]:
    return readable_folders(":".join(f"{home}/{name}" for name in path.split(":")), passed, [str(home)], [str(home)])


@pytest.mark.parametrize(
    ("path", "needed", "kept_out"),
    [
        (".nvm/versions/node/v24/bin", [".nvm/versions/node/v24/lib/x.js"], [".ssh/id_rsa"]),
        (".pyenv/shims", [".pyenv/libexec/pyenv"], [".ssh/id_rsa"]),
        (".cargo/bin", [".cargo/bin/cargo"], [".cargo/credentials.toml"]),
        (".local/bin", [".local/bin/tool"], [".local/share/keyrings/login"]),
        ("bin", ["bin/mine", ".local/share/pipx/venvs/tool/pyvenv.cfg", "uv/python/bin/python3"], [".ssh/id_rsa"]),
        ("current/bin", ["jdk-21/bin/java", "current/bin/java"], ["project/secret"]),
        ("project/node_modules/.bin", ["project/node_modules/.bin/tsc"], ["project/secret"]),
    ],
)
def test_an_installation_on_path_is_readable_and_its_home_is_not(
    home: Path, path: str, needed: list[str], kept_out: list[str]
) -> None:
    found = readable(home, path)
    assert [name for name in needed if not is_within(f"{home}/{name}", found)] == []
    assert [name for name in [*kept_out, ".ssh"] if is_within(f"{home}/{name}", found)] == []


def test_the_folder_of_a_passed_variable_is_readable_and_a_home_is_not(home: Path) -> None:
    assert str(home / "project") in readable(home, "bin", (f"{home}/project",))
    assert str(home) not in readable(home, "bin", (str(home),))


def test_of_etc_only_what_all_users_may_read() -> None:
    found = readable_folders("", (), (), ())
    assert any(is_within("/etc/passwd", [path]) for path in found)
    assert os.geteuid() != 0 or not {"/etc", "/etc/shadow"} & set(found)
    assert "/etc" in readable_folders("", (), (), (), own_users=True)  # their rights decide


def test_downloads_of_packages_are_no_rules() -> None:
    """There can be thousands beside a private folder; each made every command 10 µs slower."""
    assert [path for path in readable_folders("", (), (), ()) if path.startswith("/var/cache/apt/archives/")] == []


def test_what_others_cannot_read_is_private(tmp_path: Path) -> None:
    for name, mode in (("all", 0o644), ("own", 0o600), ("group", 0o640), ("a/b/deep", 0o600), ("closed/x", 0o644)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    (tmp_path / "closed").chmod(0o700)
    (tmp_path / "link").symlink_to("own")
    assert sorted(private_in(str(tmp_path))) == [
        str(tmp_path / name) for name in ("a/b/deep", "closed", "group", "own")
    ]


def test_a_system_folder_with_a_protected_one_is_readable_around_it(home: Path) -> None:
    found = readable_folders("", (), (), ["/usr/lib"])
    assert "/usr/bin" in found
    assert not {"/usr", "/usr/lib"} & set(found)


def test_a_working_tree_is_readable_without_its_repository(tmp_path: Path) -> None:
    for name in (".git/config", ".tidegate/venv/bin/x", ".tidegate/runs/1/run.json", "tool", ".tidegate/store/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    names = {str(part.relative_to(tmp_path)) for part in parts_of_checkout(tmp_path)}
    assert names == {"tool", ".tidegate/venv"}
