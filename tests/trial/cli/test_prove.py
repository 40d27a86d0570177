"""`tidegate prove` says why it refuses options, and why it exits with 1."""

from __future__ import annotations

from pathlib import Path

from tests.trial.run.test_prove import SCENARIO, SUITE, TOOL, commit
from tests.warm import Finished, run_tidegate


def ran(repo: Path, *options: str) -> Finished:
    return run_tidegate("prove", "-q", *options, cwd=repo)


def prove(repo: Path, *options: str) -> tuple[int, str]:
    """Return the exit code and what is printed to stderr."""
    done = ran(repo, *options)
    return done.returncode, done.stderr


def test_a_share_below_min_is_said_and_surface_alone_runs(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, text in {"bin/t": TOOL, "tidegate.yaml": SUITE, "s.yaml": SCENARIO}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin/t").chmod(0o755)
    commit(tmp_path)
    done = ran(tmp_path, "--mutants", "2", "--min", "0.9")
    assert done.returncode == 1
    assert "% of the mutants are caught, less than --min 0.9." in done.stderr
    assert done.stdout.endswith("next:   `tidegate prove --draft` writes checks for some of what is alive\n")
    assert prove(tmp_path, "--surface") == (0, "")


def test_the_help_that_lists_most_counts_for_a_tool_that_does_not_know_the_usual_option(tmp_path: Path) -> None:
    tool = """\
#!/bin/sh
usage="usage: t [-q] ACTION"
case "$1" in
  -h) printf '%s\\n\\nactions:\\n  add    Adds\\n  list   Lists\\n' "$usage" ;;
  --help) printf '%s\\ntry -h\\n' "$usage"; exit 1 ;;
esac
"""
    (tmp_path / "bin").mkdir()
    for name, text in {"bin/t": tool, "tidegate.yaml": SUITE, "s.yaml": SCENARIO}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin/t").chmod(0o755)
    commit(tmp_path)
    done = ran(tmp_path, "--surface")
    assert "of 2 subcommands" in done.stdout, done.stdout + done.stderr
