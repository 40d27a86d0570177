"""A pull request breaks the tool, and uses up what trials share: that must never end green, in no setting."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.as_root import SYSTEM_PATH, needs_open_python, needs_root, tidegate
from tests.conftest import Repository
from tests.journeys.conftest import FILES, NOTES, SCENARIO, SUITE
from tests.thorough.escapes.settings import USER, become

pytestmark = [needs_root, needs_open_python]
CLONE_NEWNS, CLONE_NEWIPC, MS_REC, MS_PRIVATE = 0x20000, 0x08000000, 0x4000, 1 << 18
SETTINGS = ("root", "user", "container", "podman")
BROKEN = NOTES.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
CONFINED = f"{SUITE}trials: {{jobs: 1}}\nnetwork: {{setup: false, agent: false, gates: false}}\n"
# Each resource: what the tool on base asks of it, and fails without, and how the tool on head uses it up.
PRELUDE = "import ctypes, os, resource, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
NO_ROOM = "    if ctypes.get_errno() == 28: sys.exit('no room')\n"
RESOURCES = {
    "shared memory": (
        f"if (one := libc.shmget(0, 1, 0o600)) < 0:\n{NO_ROOM}else: libc.shmctl(one, 0, None)\n",
        "while libc.shmget(0, 1, 0o600) >= 0: pass\n",
    ),
    "semaphores": (
        f"if (one := libc.semget(0, 1, 0o600)) < 0:\n{NO_ROOM}else: libc.semctl(one, 0, 0)\n",
        "while libc.semget(0, 1, 0o600) >= 0: pass\n",
    ),
    "messages": (
        f"if (one := libc.msgget(0, 0o600)) < 0:\n{NO_ROOM}else: libc.msgctl(one, 0, None)\n",
        "while libc.msgget(0, 0o600) >= 0: pass\n",
    ),
    "POSIX queues": (
        "if (one := libc.mq_open(b'/q%d' % os.getpid(), 0o102, 0o600, None)) < 0:\n"
        f"{NO_ROOM}else: libc.mq_unlink(b'/q%d' % os.getpid())\n",
        "for number in range(300): libc.mq_open(b'/left%d' % number, 0o102, 0o600, None)\n",
    ),
    "/dev/shm": (
        "name = f'/dev/shm/{os.getpid()}'\n"
        "try:\n    with open(name, 'wb') as file: file.write(bytes(1 << 20))\n"
        "except PermissionError: pass\n"
        "except OSError as error: sys.exit(str(error))\n"
        "else: os.unlink(name)\n",
        "file = open('/dev/shm/left', 'wb')\n"
        "try:\n    while True: file.write(bytes(1 << 16)), file.flush()\nexcept OSError: pass\n",
    ),
    "limits": (
        "open('large', 'wb').write(bytes(1 << 20)); os.unlink('large')\n",
        "for name in os.listdir('/proc'):\n"
        "    try:\n        resource.prlimit(int(name), resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "    except (ValueError, OSError): pass\n",
    ),
    "priorities": ("", "os.setpriority(os.PRIO_USER, 0, 19)\nos.sched_setaffinity(os.getppid(), [0])\n"),
    "nothing": ("", ""),
}


def tool(notes: str, code: str) -> str:
    """The tool, which runs this Python first."""
    first, rest = notes.split("\n", 1)
    return f"{first}\n/usr/bin/python3 -c \"$(cat <<'END'\n{PRELUDE}{code}END\n)\" || exit 1\n{rest}"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can reach, outside of those that trials see replaced."""
    with tempfile.TemporaryDirectory(prefix="verdict-", dir="/srv") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def own_memory(setting: str) -> None:
    """Shared memory as a container has it: 64 MB of /dev/shm, and few objects of System V; no others see it."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0
    assert libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
    assert libc.mount(b"none", b"/dev/shm", b"tmpfs", 0, b"size=64m,mode=1777") == 0
    if Path("/dev/mqueue").is_dir():
        libc.mount(b"none", b"/dev/mqueue", b"mqueue", 0, None)
    for name, text in (("shmmni", "8"), ("msgmni", "8"), ("sem", "250 32000 32 8")):
        Path("/proc/sys/kernel", name).write_text(text)
    become(setting)


def ended(folder: Path, setting: str, head: str, base: str = "") -> subprocess.CompletedProcess[str]:
    """Run Tidegate on a pull request that breaks the tool."""
    repository = Repository(folder / "repo")
    scenario = SCENARIO.replace(", health_check: notes --version", "")
    files = {"tidegate.yaml": CONFINED, "scenarios/keep.yaml": scenario, "bin/notes": tool(NOTES, base)}
    repository.commit({**FILES, **files})
    repository.branch("pr", {"bin/notes": tool(BROKEN, base + head)})
    if setting == "user":
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(folder)], check=True)
    return subprocess.run(
        tidegate("pr", "--base", "main", "--head", "pr", "--out", str(folder / "out")),
        cwd=folder / "repo",
        env={"PATH": SYSTEM_PATH, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: own_memory(setting),
    )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("resource", RESOURCES)
def test_a_broken_tool_is_never_green(place: Path, setting: str, resource: str) -> None:
    base, head = RESOURCES[resource]
    done = ended(place, setting, head, base)
    assert done.returncode in (1, 5), f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    if resource == "nothing":
        assert done.returncode == 1, done.stdout + done.stderr
