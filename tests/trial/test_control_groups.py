"""Control groups: which ones are used, on folders; and what they do, where this machine lets the tests make some."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.as_root import needs_root
from tests.trial.test_processes import DAEMON, PYTHON, alive, command_in
from tidegate.model.suite import Limits
from tidegate.trial.command_group import reached
from tidegate.trial.confinement import Confinement
from tidegate.trial.control_groups import ControlGroups, Place, home_of, place_of
from tidegate.trial.processes import Account, Command, Ended, Supervisor

with ControlGroups() as tried:
    here = bool(tried.folder)
needs_groups = pytest.mark.skipif(not here, reason=f"no control groups can be made here: {tried.lacking}")
both_starts = pytest.mark.usefixtures("start")

V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
OTHER = "22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw"
FILL = 'dd if=/dev/zero of="$0" bs=1M count=200; touch survived; sleep 60'
THREADS = "import threading, time\nfor _ in range(60): threading.Thread(target=time.sleep, args=(60,)).start()"
SWARM = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"


@pytest.mark.parametrize(
    ("own", "mount", "place"),
    [
        ("0::/system.slice/agent.service", V2, Place("/sys/fs/cgroup/system.slice/agent.service", "/sys/fs/cgroup")),
        ("0::/", V2, Place("/sys/fs/cgroup", "/sys/fs/cgroup")),
        ("1:pids:/\n0::/a", V2.replace("/sys/fs/cgroup", "/run/v2"), Place("/run/v2/a", "/run/v2")),
        ("0::/docker/1/b", V2.replace(" / ", " /docker/1 "), Place("/sys/fs/cgroup/b", "/sys/fs/cgroup")),
        ("0::/docker/1", V2.replace(" / ", " /docker/1 "), Place("/sys/fs/cgroup", "/sys/fs/cgroup")),
        ("0::/docker/12", V2.replace(" / ", " /docker/1 "), None),
        ("0::/../b", V2, None),
        ("1:memory:/a", V2, None),
        ("0::/a", OTHER, None),
    ],
)
def test_the_own_group_is_found_where_version_2_is_mounted(own: str, mount: str, place: Place | None) -> None:
    assert place_of(f"{own}\n", f"{OTHER}\n{mount}\n") == place


def group(folder: Path, enabled: str = "", **files: str) -> Path:
    """Make a folder that looks like a group."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"subtree_control": enabled, "procs": ""}.items():
        (folder / f"cgroup.{name}").write_text(f"{text}\n")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(f"{text}\n")
    return folder


def test_groups_are_made_below_the_nearest_group_that_passes_both_controllers_on(tmp_path: Path) -> None:
    top = group(tmp_path, "cpu memory pids")
    group(top / "a", "memory pids")
    own = group(top / "a/b/c", "memory", memory_max="max")
    group(top / "a/b", "cpu")
    assert home_of(Place(str(own), str(top))) == str(top / "a")
    assert home_of(Place(str(own), str(top / "a/b"))) is None


@pytest.mark.parametrize("file", ["memory_max", "memory_high"])
def test_a_group_whose_memory_is_limited_is_not_left(tmp_path: Path, file: str) -> None:
    top = group(tmp_path, "memory pids")
    own = group(top / "a", **{file: "1000000"})
    assert home_of(Place(str(own), str(top))) is None


@needs_root
def test_a_group_that_may_not_be_written_is_not_used(open_folder: Path) -> None:
    top = group(open_folder / "top", "memory pids")
    look = "import os, sys; from tidegate.trial.control_groups import *; os.setresuid(*[int(sys.argv[1])] * 3)"
    look += "; print(home_of(Place(sys.argv[2], sys.argv[2])))"
    found = [
        subprocess.run([sys.executable, "-c", look, uid, str(top)], capture_output=True, text=True, check=True).stdout
        for uid in ("0", "65534")
    ]
    assert found == [f"{top}\n", "None\n"]


@pytest.mark.parametrize(
    ("memory", "pids", "limit"),
    [
        ("low 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 1\n", "max 0\n", "memory"),
        ("low 0\nmax 9\noom 0\noom_kill 0\n", "max 4\n", "processes"),
        ("low 0\nmax 9\noom 1\noom_kill 3\n", "max 4\n", "memory"),
        ("low 0\nmax 9\noom 0\noom_kill 0\n", "max 0\n", None),  # caches were given up
        ("low 0\nmax 0\noom 0\noom_kill 1\n", "max 0\n", None),  # the machine had no memory left
        ("", "", None),
    ],
)
def test_the_kernel_s_counts_say_which_limit_was_reached(memory: str, pids: str, limit: str | None) -> None:
    assert reached(memory, pids) == limit


def test_where_no_group_can_be_made_the_reason_is_said_and_limits_are_sampled(tmp_path: Path) -> None:
    if here:
        pytest.skip("groups can be made here")
    assert tried.lacking
    assert tried.confinement == ("memory and processes sampled",)


def run(*commands: Command, account: Account | None = None) -> list[Ended]:
    """Run them one after another under one supervisor, each in a group of its own."""

    async def body() -> list[Ended]:
        with ControlGroups() as groups:
            async with await Supervisor.start(account, Confinement(group=groups.folder)) as supervisor:
                ended = [await supervisor.run(one) for one in commands]
            assert not [path for path in Path(groups.folder).iterdir() if path.is_dir()]
        assert not Path(groups.folder).exists()
        return ended

    return asyncio.run(body())


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Command]:
    return command_in(tmp_path)


@needs_groups
@both_starts
def test_a_command_is_in_a_group_of_its_own_from_its_start(command: Callable[..., Command], tmp_path: Path) -> None:
    look = "cat /proc/self/cgroup; g=/sys/fs/cgroup$(cut -c4- /proc/self/cgroup); cat $g/memory.max $g/pids.max; exit 3"
    first, second = run(
        command("sh", "-c", look, limits=Limits(memory_mb=4.096, processes=7)),
        command("sh", "-c", "exit 4", stdout=tmp_path / "2"),
    )
    assert (first.exit_code, second.exit_code) == (3, 4)
    where, *limits = (tmp_path / "out").read_text().split()
    assert "tidegate-" in where
    assert limits == ["4096000", "28"]


@needs_groups
@both_starts
def test_memory_in_files_counts_and_the_limit_is_named(command: Callable[..., Command], tmp_path: Path) -> None:
    """The supervisor's own look at processes does not see what they keep in memory without mapping it."""
    file = Path("/dev/shm", f"tidegate-test-{os.getpid()}")
    try:
        (ended,) = run(command("sh", "-c", FILL, str(file), limits=Limits(memory_mb=50)))
    finally:
        file.unlink(missing_ok=True)
    assert (ended.end, ended.limit) == ("limit", "memory")
    assert not (tmp_path / "survived").exists(), "all processes of a command end together"


@needs_groups
@pytest.mark.parametrize("account", [None, pytest.param(Account(61_001, 61_001), marks=needs_root)])
def test_threads_count_and_the_limit_is_named(command: Callable[..., Command], account: Account | None) -> None:
    """The supervisor's own look counts processes, and where a user's processes are limited, nothing tells."""
    python = ("/usr/bin/python3", *PYTHON[1:])  # other users can run it
    (ended,) = run(command(*python, THREADS, cwd=Path("/"), limits=Limits(processes=10)), account=account)
    assert (ended.end, ended.limit) == ("limit", "processes")


@needs_groups
def test_a_swarm_of_processes_is_stopped_and_others_go_on(command: Callable[..., Command], tmp_path: Path) -> None:
    swarm, other = run(command(*PYTHON, SWARM, str(tmp_path), limits=Limits(processes=20)), command("true"))
    assert (swarm.end, swarm.limit, other.exit_code) == ("limit", "processes", 0)
    assert alive(tmp_path) == []


@needs_groups
@both_starts
def test_no_daemon_stays_and_it_was_not_the_command(command: Callable[..., Command], tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    (ended,) = run(command(*PYTHON, DAEMON, str(flag), str(flag)))
    assert (ended.end, ended.exit_code) == ("exited", 0)
    assert (ended.left_behind, len(ended.killed)) == (1, 1)
    assert alive(flag) == []


@needs_groups
@both_starts
def test_a_program_that_cannot_be_started_is_told_apart(command: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("#!/nowhere/sh\n")
    (tmp_path / "odd").chmod(0o755)
    (ended,) = run(command("./odd"))
    assert (ended.end, ended.reason) == (
        "not_started",
        "cannot execute ./odd: the interpreter that its first line names is missing",
    )


@needs_groups
@needs_root
@both_starts
def test_it_works_for_a_user_of_its_own(command: Callable[..., Command], open_folder: Path) -> None:
    out = {"stdout": open_folder / "out", "stderr": open_folder / "err"}
    look = "id -u; echo max > /sys/fs/cgroup$(cut -c4- /proc/self/cgroup)/memory.max || echo refused"
    (ended,) = run(command("sh", "-c", look, cwd=open_folder, **out), account=Account(61_000, 61_000))
    assert ended.end == "exited"
    assert (open_folder / "out").read_text().split() == ["61000", "refused"]


@needs_groups
def test_groups_cost_little(command: Callable[..., Command]) -> None:
    """0.5 ms were the aim; the bound leaves room for a busy machine, and is below what it costs to move a process."""

    async def seconds(group: str) -> float:
        async with await Supervisor.start(None, Confinement(group=group)) as supervisor:
            return min([(await supervisor.run(command("true"))).duration_s for _ in range(20)])

    async def body() -> list[float]:
        with ControlGroups() as groups:
            return [await seconds(""), await seconds(groups.folder)]

    without, within = asyncio.run(body())
    assert within - without < 0.004


@contextmanager
def own_group(*, owner: int) -> Iterator[Path]:
    """A group that is delegated to a user, as systemd does it for `Delegate=yes`."""
    with ControlGroups() as groups:
        folder = Path(groups.folder, "delegated")
        folder.mkdir()
        for path in (folder, *(folder / f"cgroup.{name}" for name in ("procs", "subtree_control", "threads"))):
            os.chown(path, owner, owner)
        yield folder


REPORT = """
import os, sys
from tidegate.trial.control_groups import ControlGroups
def state():
    group = "/sys/fs/cgroup" + open("/proc/self/cgroup").read().strip()[3:]
    below = sorted(name for name in os.listdir(group) if os.path.isdir(f"{group}/{name}"))
    return group, below, open(f"{group}/cgroup.subtree_control").read().split()
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
before = state()
with ControlGroups() as groups:
    print(groups.folder or groups.lacking)
print(state() == before)
"""


@needs_groups
@needs_root
@pytest.mark.parametrize("has_stranger", [False, True], ids=["alone", "with a stranger"])
def test_in_a_delegated_group_tidegate_moves_itself_and_comes_back(has_stranger: bool) -> None:
    with own_group(owner=65_534) as folder:
        enter = f"echo 0 > {folder}/cgroup.procs; "
        stranger = subprocess.Popen(["sh", "-c", f"{enter} exec sleep 60"]) if has_stranger else None
        try:
            while stranger and not (folder / "cgroup.procs").read_text():
                time.sleep(0.01)
            done = subprocess.run(
                ["sh", "-c", f'{enter} "$@"; exit $?', "sh", sys.executable, "-c", REPORT],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        finally:
            if stranger:
                stranger.kill()
                stranger.wait()
        said, unchanged = done.stdout.splitlines() or (done.stderr, "")
    if stranger:
        assert said.endswith(f"{folder} has other processes, such as {stranger.pid}")
    else:
        assert said.startswith(f"{folder}/tidegate-")
    assert unchanged == "True"


@needs_groups
def test_the_groups_of_a_run_that_was_killed_are_removed() -> None:
    left = Path(tried.folder).with_name(f"tidegate-{Path('/proc/self/ns/pid').stat().st_ino}-{2**22 + 1}")
    (left / "1-2").mkdir(parents=True)
    with ControlGroups() as groups:
        assert Path(groups.folder).parent == left.parent
        assert not left.exists()
