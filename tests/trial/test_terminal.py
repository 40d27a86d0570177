"""`tty: true`: what the target sees of its terminal, and that its output and its end arrive as they are."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tidegate.trial import lifecycle

TOOL = r"""#!/bin/sh
case "$1" in
  where) for stream in 0 1 2; do [ -t $stream ] && echo "$stream is a terminal"; done
    stty size; echo "$TERM $COLUMNS" ;;
  bytes) printf 'one\r\ntwo\n\033[1mthree\t\342\202\254'; printf 'apart\n' >&2 ;;
  many) seq 20000 ;;
  read) while read -r line; do echo "got $line"; done; echo end ;;
  ask) printf 'sure? ' > /dev/tty; read -r answer < /dev/tty; echo "answer $answer" ;;
  key) stty -icanon min 1; key=$(dd bs=1 count=1 2>/dev/null); echo "key $key" ;;
  exit) exit 7 ;;
  kill) kill -TERM $$ ;;
  leave) sleep 30 & echo left ;;
esac
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tty")
    tool = folder / "real" / "tool"
    tool.parent.mkdir()
    tool.write_text(TOOL)
    tool.chmod(0o755)
    plain = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "TERM": "dumb"}
    return lifecycle.install(folder / "front", "tool", plain)


def run(env: dict[str, str], line: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the line; without `stdin`, it has nothing to read."""
    line = line if stdin is not None else f"{{ {line}; }} < /dev/null"
    return subprocess.run(
        ["/bin/sh", "-c", line], env=env, input=stdin or b"", capture_output=True, timeout=20, check=False
    )


def test_all_streams_are_a_terminal_of_a_fixed_size(env: dict[str, str]) -> None:
    done = run(env, "tool where")
    expected = "0 is a terminal\n1 is a terminal\n2 is a terminal\n24 80\nxterm-256color 80\n"
    assert (done.stdout.decode(), done.stderr, done.returncode) == (expected, b"", 0)


def test_output_arrives_byte_by_byte_and_the_streams_stay_apart(env: dict[str, str]) -> None:
    done = run(env, "tool bytes")
    assert (done.stdout, done.stderr) == ("one\r\ntwo\n\033[1mthree\t€".encode(), b"apart\n")
    assert run(env, "tool many").stdout == b"".join(b"%d\n" % number for number in range(1, 20001))


@pytest.mark.parametrize(
    ("line", "stdin", "output"),
    [
        ("tool read", None, b"end\n"),
        ("tool read", b"a\nb\n", b"got a\ngot b\nend\n"),
        ("tool ask", b"yes\n", b"sure? answer yes\n"),
        ("printf q | tool key", None, b"key q\n"),
    ],
)
def test_input_is_typed_and_ends(env: dict[str, str], line: str, stdin: bytes | None, output: bytes) -> None:
    assert run(env, line, stdin).stdout == output


@pytest.mark.parametrize(("line", "status"), [("tool exit", 7), ("exec tool kill", -15)])
def test_the_end_is_the_targets(env: dict[str, str], line: str, status: int) -> None:
    assert run(env, line).returncode == status


def test_a_process_left_behind_does_not_hold_the_call(env: dict[str, str]) -> None:
    assert run(env, "tool leave").stdout == b"left\n"


def test_a_signal_reaches_the_target(env: dict[str, str], tmp_path: Path) -> None:
    trap = f"trap 'echo stopped > {shlex.quote(str(tmp_path / 'seen'))}; exit 3' TERM"
    (tmp_path / "tool").write_text(f"#!/bin/sh\n{trap}; echo up; while :; do sleep 0.05; done\n")
    (tmp_path / "tool").chmod(0o755)
    own = lifecycle.install(tmp_path / "front", "tool", env | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with subprocess.Popen(
        [str(tmp_path / "front" / "tool")], env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as tool:
        assert tool.stdout is not None
        assert tool.stdout.readline() == b"up\n"
        tool.terminate()
        assert tool.wait(10) == 3
    assert (tmp_path / "seen").read_text() == "stopped\n"
