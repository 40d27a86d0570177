"""Users of trials: each trial has one of its own, without access to Tidegate's files."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.as_root import SYSTEM_PATH, needs_open_python, needs_root, open_python, tidegate
from tests.conftest import Repository
from tidegate.trial.sandbox.users import BUILDERS, UIDS, NoLockError, Users, give, give_back, make_private, why_not


@needs_root
def test_no_user_is_handed_out_twice_even_by_another_pool() -> None:
    with Users() as some, Users() as others:
        taken = [some.take(), others.take(), some.take(BUILDERS), others.take()]

    assert len({account.uid for account in taken}) == 4
    assert all(account.uid in UIDS for account in taken)
    assert [account.gid == account.uid for account in taken] == [True, True, False, True]


@needs_root
def test_another_user_of_the_machine_cannot_take_one() -> None:
    """A trial that shares the machine's network could take all of them."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresuid(65534, 65534, 65534)
        with suppress(NoLockError):
            Users().take()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@needs_root
@needs_open_python
def test_a_folder_that_others_cannot_reach_is_named(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", open_python())
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)

    assert asyncio.run(why_not([open_folder], SYSTEM_PATH)) is None
    assert asyncio.run(why_not([open_folder, closed], SYSTEM_PATH)) == f"another user cannot reach {closed}"
    assert str(closed) in str(asyncio.run(why_not([], f"{SYSTEM_PATH}:{closed}")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root can")
def test_without_root_trials_run_as_before(tmp_path: Path) -> None:
    assert asyncio.run(why_not([tmp_path], SYSTEM_PATH)) == "only root can choose users"


@needs_root
def test_files_are_given_without_following_links(open_folder: Path) -> None:
    (open_folder / "ours").touch()
    (open_folder / "theirs").mkdir()
    (open_folder / "theirs/link").symlink_to("../ours")
    with Users() as users:
        account = users.take()
    give(account, open_folder / "theirs")
    make_private(account, open_folder)

    assert (open_folder / "theirs").stat().st_uid == account.uid
    assert (open_folder / "theirs/link").lstat().st_uid == account.uid
    assert (open_folder / "ours").stat().st_uid == 0
    assert open_folder.stat().st_mode & 0o777 == 0o750


@needs_root
def test_what_root_left_in_somebodys_repository_goes_back_to_its_owner(open_folder: Path) -> None:
    (open_folder / ".tidegate/pr").mkdir(parents=True)
    (open_folder / "untouched").touch()
    os.chown(open_folder, 1001, 121)
    give_back(open_folder, (".tidegate", ".git"))

    assert (open_folder / ".tidegate/pr").stat().st_uid == 1001
    assert (open_folder / ".tidegate/pr").stat().st_gid == 121
    assert (open_folder / "untouched").stat().st_uid == 0


HOSTILE = """#!/bin/sh
# The target of a pull request: it tries what it must not do, and tells what worked.
try() { if "$@" >/dev/null 2>&1; then echo "WORKED: $*"; fi; }
pid=$(cat PID)
try cat /proc/$pid/environ
try cat SECRETS/event.json
try sh -c 'echo verdict=passed >> SECRETS/output'
try ls SECRETS
try sh -c 'echo x > CHECKOUT_OF_TARGET/bin/target'
try sh -c 'echo x > "$TIDEGATE_RESULTS_DIR/../events.jsonl"'
try ln -s SECRETS/output "$TIDEGATE_RESULTS_DIR/../transcript.txt"
try sh -c 'echo fine > "$TIDEGATE_RESULTS_DIR/mine"'
echo "uid $(id -u)"
"""
SUITE = """\
version: 1
scenarios: [s.yaml]
watch: [bin/**]
path: [bin]
build: ["id -u > built-by", "echo changed >> tracked"]
target: {binary: target}
agents: {docs: {type: doc-follower}}
"""
SCENARIO = """\
name: hostile
description: A target that wants more than it may have.
task: "Run it:\\n\\n```sh\\ntarget go\\n```"
scripts: {post: [{command: target post}]}
gates: [{type: command_succeeds, command: target gate}]
"""


@needs_root
@needs_open_python
def test_a_hostile_target_gets_nothing_of_ours(open_folder: Path) -> None:
    """Neither our environment, nor the runner's files, nor what other trials use, nor its own record.

    The scenario's template is then the build's own, as all of the checkout is.
    """
    secrets = open_folder / "github"
    secrets.mkdir(mode=0o710)
    os.chown(secrets, 0, BUILDERS)
    for name in ("event.json", "output"):
        (secrets / name).touch(0o666)
    target = HOSTILE.replace("SECRETS", str(secrets)).replace("PID", str(open_folder / "pid"))
    target = target.replace("CHECKOUT_OF_TARGET", '"$(dirname "$(command -v target)")/.."')
    repository = Repository(open_folder / "repo")
    repository.commit(
        {"tidegate.yaml": SUITE, "s.yaml": SCENARIO, "bin/target": target, "tracked": "once\n", "s/in": ""}
    )
    own_pid = f"import os; open({str(open_folder / 'pid')!r}, 'w').write(str(os.getpid()))"
    arguments = ("run", "--rev", "HEAD", "--trials", "1", "--out", str(open_folder / "run"))
    command = tidegate(*arguments, first=own_pid)
    environment = {"PATH": SYSTEM_PATH, "GITHUB_TOKEN": "secret", "INPUT_GITHUB_TOKEN": "secret", "HOME": "/root"}

    done = subprocess.run(
        command, cwd=repository.root, env=environment, capture_output=True, text=True, check=False, umask=0o022
    )

    assert "isolation of trials: own user" in done.stderr, done.stderr
    assert (open_folder / "run/run.json").exists(), done.stderr
    run = json.loads((open_folder / "run/run.json").read_text())
    assert "own user" in run["confinement"]
    (record,) = (open_folder / "run").glob("trials/*/*/*")
    outputs = [path.read_text() for path in sorted(record.glob("*.stdout"))]
    assert [line for text in outputs for line in text.splitlines() if line.startswith("WORKED")] == [
        # the one folder of the record that scripts may write
        """WORKED: sh -c echo fine > "$TIDEGATE_RESULTS_DIR/mine\""""
    ]
    uids = {line for text in outputs for line in text.splitlines() if line.startswith("uid")}
    assert len(uids) == 1
    assert uids.pop().removeprefix("uid ") != "0"
    assert (record / "results/mine").read_text() == "fine\n"
    assert "target go" in (record / "transcript.txt").read_text()
    assert b"tidegate-call" in (record / "invocations.log").read_bytes()
    assert (secrets / "output").read_text() == ""
    assert (repository.root / "tracked").read_text() == "once\n"
    assert {path.stat().st_uid for path in record.rglob("*")} == {0}


async def _without_file_descriptors(asked: Callable[[], Awaitable[str | None]]) -> str | None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))  # all that are left are in use
    try:
        return await asked()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@needs_root
def test_without_a_lock_trials_run_as_the_user_of_tidegate(tmp_path: Path) -> None:
    """A system that refuses the lock is no reason to run nothing, and it is not said that all users are taken."""
    reason = asyncio.run(_without_file_descriptors(lambda: why_not([tmp_path], "")))
    assert reason == "no user can be locked: Too many open files"
