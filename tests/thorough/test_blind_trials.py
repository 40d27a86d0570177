"""Nothing that a trial can look at by itself says whether it is of base or of head."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES, NOTES, SCENARIO, SUITE

LOOK = """\
look() {
  env | sort
  pwd
  readlink /proc/self/fd/* /proc/$PPID/fd/* /proc/self/cwd
  for one in "$HOME" "$TMPDIR" "$PWD" "$(command -v notes)"; do readlink -f "$one"; done
  pid=$$
  while [ "$pid" -gt 1 ] && [ -r "/proc/$pid/stat" ]; do
    tr '\\0' ' ' < "/proc/$pid/cmdline"; readlink "/proc/$pid/cwd"
    case "$(tr '\\0' ' ' < "/proc/$pid/cmdline")" in *supervisor*) break ;; esac
    pid=$(cut -d ' ' -f 4 "/proc/$pid/stat")
  done
} 2>/dev/null
"""
SCRIPT = "#!/bin/sh\n" + LOOK + 'look > "seen-$1"\n'
SIDES = re.compile(r"\b(base|head)\b")


@pytest.fixture(scope="module")
def seen(shared_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the setup, the tool and a gate of one trial of each side have seen, as the trials' patches have it."""
    from tests.journeys.conftest import start

    repo = Repository(tmp_path_factory.mktemp("blind") / "repo")
    repo.commit(
        {
            **FILES,
            "tidegate.yaml": SUITE,
            "bin/look": SCRIPT,
            "bin/notes": NOTES.replace("#!/bin/sh\n", "#!/bin/sh\n" + LOOK).replace(
                "add) shift;", "add) look >> seen-tool; shift;"
            ),
            "scenarios/keep.yaml": "setup: {commands: [look setup]}\n"
            "scripts: {post: [{command: look post}]}\n"
            + SCENARIO
            + "    - {type: command_succeeds, command: look gate}\n",
        }
    )
    repo.branch("pr", {"AGENTS.md": FILES["AGENTS.md"] + "x\n"})
    ran = start(shared_path / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)
    assert ran.code == 0, ran.comment
    patches = {side: list((ran.out / "runs" / side).rglob("workspace.diff")) for side in ("base", "head")}
    assert [len(found) for found in patches.values()] == [1, 1]
    return {side: found[0].read_text(encoding="utf-8", errors="replace") for side, (*found,) in patches.items()}


@pytest.mark.parametrize("side", ["base", "head"])
def test_no_path_and_no_variable_tells_the_side(seen: dict[str, str], side: str) -> None:
    lines = [line[1:] for line in seen[side].splitlines() if line.startswith("+") and not line.startswith("+++")]

    assert len(lines) > 50  # of the environment, of links and of processes
    assert any("/workspace" in line for line in lines)
    assert [line for line in lines if SIDES.search(line)] == []


def test_both_sides_see_the_same_but_for_random_names(seen: dict[str, str]) -> None:
    names = [set(re.findall(r"^\+([A-Z_]+)=", text, re.M)) for text in seen.values()]

    assert names[0] == names[1]
    assert {"PATH", "HOME", "TMPDIR"} <= names[0]
    lengths = [len(re.findall(r"^\+PATH=(.*)", text, re.M)[0]) for text in seen.values()]
    assert lengths[0] == lengths[1]
