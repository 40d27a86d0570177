"""Start-up time: no heavy module is imported before it is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.gh.emulated.runner import Step, load_event, pull_request_payload
from tests.journeys.conftest import FILES, NOTES
from tidegate.cli import COMMANDS, GROUPS

HEAVY = {"anthropic", "github", "requests", "cryptography", "scipy", "numpy"}
HEAVIER_THAN_HELP = {"pydantic", "jinja2", "rich", "yaml", "jsonpath_ng", "markdown_it", "tree_sitter", "asyncio"}
OF_TRIALS = {f"tidegate.{name}" for name in ("run.adaptive_run", "run.runner", "run.sharding", "run.replays")}
OF_TRIALS |= {"tidegate.trial.session"}
# `-X importtime` does not list what importlib.import_module imports.
LISTED = """
import atexit, runpy, sys
def found():
    return [name for name, module in sys.modules.items() if getattr(module, "__spec__", None)]
atexit.register(lambda: print("modules:", *found(), file=sys.stderr))
runpy.run_module("tidegate", run_name="__main__", alter_sys=True)
"""


def imported(*arguments: str, cwd: Path, environ: Mapping[str, str] | None = None) -> set[str]:
    """The packages that a call of tidegate imports; it has to end well."""
    return {name.partition(".")[0] for name in imported_modules(*arguments, cwd=cwd, environ=environ)}


def imported_modules(*arguments: str, cwd: Path, environ: Mapping[str, str] | None = None) -> set[str]:
    """The modules that a call of tidegate imports; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *arguments],
        cwd=cwd,
        env={**(environ or os.environ)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = set(done.stderr.rpartition("modules:")[2].split())
    assert "tidegate" in found
    return found


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["action", "--help"], ["pr", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert imported(*arguments, cwd=tmp_path) & (HEAVY | HEAVIER_THAN_HELP) == set()


@pytest.mark.parametrize("event", ["push", "a closed pull request"])
def test_where_nothing_is_to_be_run_nothing_heavy_is_imported(event: str, tmp_path: Path) -> None:
    step = Step(tmp_path / "step", tmp_path)
    if event == "push":
        payload = load_event("push")
        environ = step.environ("push", payload, {"github_token": "t"})
    else:
        payload = pull_request_payload("acme/tool", 1, "d" * 40, "b" * 40, action="closed")
        environ = step.environ("pull_request", payload, {"github_token": ""})

    assert imported("action", cwd=tmp_path, environ=environ) & HEAVY == set()
    assert step.outputs()["verdict"] == "not_run"


@pytest.mark.parametrize(
    ("suite", "changed", "inputs", "reason"),
    [
        ("agents: {a: {type: anthropic, model: claude-haiku-4-5}}\n", "bin/notes", {}, "fork_without_key"),
        ("watch: [bin/**]\n", "README.md", {"comment": "off"}, "nothing_to_do"),
    ],
    ids=["a fork without key", "nothing of the subject"],
)
def test_a_pull_request_without_a_trial_imports_nothing_heavy(
    suite: str,
    changed: str,
    inputs: dict[str, str],
    reason: str,
    make_repository: Callable[..., Repository],
    tmp_path: Path,
) -> None:
    """PyGithub comes when there is something to say to GitHub, and git is asked each question once."""
    repository = make_repository()
    repository.commit({**FILES, "tidegate.yaml": "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\n" + suite})
    repository.branch("pr", {changed: NOTES + "# more\n"})
    step = Step(tmp_path / "step", repository.root)
    head, base = repository.git("rev-parse", "pr"), repository.git("rev-parse", "main")
    payload = pull_request_payload("acme/tool", 1, head, base, head_ref="pr", action="opened", head_repo="mallory/tool")
    environ = step.environ("pull_request", payload, {"github_token": "t", **inputs})

    started = tmp_path / "git"
    modules = imported_modules("action", cwd=repository.root, environ={**environ, "GIT_TRACE2": str(started)})
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert reason != "nothing_to_do" or modules & OF_TRIALS == set()
    git = re.findall(r" start +git -c (.+)", started.read_text(encoding="utf-8"))
    assert sum("--show-toplevel" in command for command in git) <= 1
    assert len(git) <= 32, "each takes 2 ms: what is known is passed on"
    assert step.outputs()["reason"] == reason


def test_a_result_in_a_log_needs_no_markdown_for_terminals(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository()
    suite = "version: 1\nscenarios: [scenarios/*.yaml]\npath: [bin]\nwatch: [bin/**]\n"
    repository.commit({**FILES, "tidegate.yaml": suite})
    repository.branch("pr", {"README.md": "Notes\n"})

    modules = imported_modules("pr", "--base", "main", "--head", "pr", cwd=repository.root)

    assert "tidegate.reports.terminal" in modules
    assert "rich.markdown" not in modules


def test_a_check_imports_only_what_its_suite_uses(make_repository: Callable[..., Repository]) -> None:
    """Imports are nearly all of its time: it has no file of AgentV, no pattern, no executor and no comparison."""
    repository = make_repository()
    scenario = "name: add\ndescription: d\ntarget: {binary: notes}\ntask: Add a note.\n"
    repository.commit(
        {
            "tidegate.yaml": "version: 1\nscenarios: [s.yaml]\nagents: {a: {type: scripted, steps: {add: [notes]}}}\n",
            "s.yaml": f"{scenario}evaluation: {{gates: [{{type: file_exists, path: notes.txt}}]}}\n",
        }
    )

    unused = {
        "asyncio",
        "jsonschema",
        "regex",
        "ssl",
        "email",
        "http.client",
        "tarfile",
        "importlib.metadata",
        "tidegate.cli.pr",
    }
    unused |= {"tidegate.suite.agentv", "tidegate.agents.agentv_cli", "tidegate.suite.json_schema"}
    unused |= {"tidegate.model.comparison", "tidegate.decide.procedure.steps", "tidegate.trial.processes"}
    unused |= {"tidegate.checks.evaluators.matching", "tidegate.checks.gates.json_path"}
    unused |= {f"tidegate.agents.{name}" for name in ("doc_follower", "command", "coding", "anthropic")}
    unused |= {
        "tidegate.checks.judges.provider",
        "tidegate.agents.providers.keyed",
        "tidegate.executors.command",
        "logging",
    }
    unused |= {f"tidegate.model.{name}" for name in ("measurement", "trial", "session", "metrics")}
    assert imported_modules("check", cwd=repository.root) & unused == set()


_RUNS_TRIALS = r"asyncio|tidegate\.(run|suite|trial|history\.(store|branch|pushes|sessions)|agents\.[a-z]+_[a-z]+$)\b"


def test_comparing_stored_runs_loads_no_code_that_runs_trials() -> None:
    code = (
        "import sys, tidegate.decide.comparison.compare, tidegate.decide.causes.find, tidegate.history.report_files; "
    )
    code += "print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "tidegate.decide.comparison.compare" in modules
    assert not [name for name in modules if re.match(_RUNS_TRIALS, name)]


def test_a_single_run_loads_no_model_of_comparisons() -> None:
    code = "import sys, tidegate.run.single_run; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "tidegate.run.run_job" in modules
    assert not {"tidegate.model.result", "tidegate.model.comparison", "tidegate.agents.codex"} & {*modules}


def test_a_wrong_option_is_told_by_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    from tidegate.__main__ import main

    with pytest.raises(SystemExit):
        main(["pr", "--scenarios", "x"])

    said = capsys.readouterr().err
    assert said.startswith("usage: tidegate pr")
    assert "unrecognized arguments: --scenarios x" in said


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_changes_nothing(redirection: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m tidegate schema suite {redirection}"

    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_what_an_encoding_lacks_is_spelled_out(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "tidegate", "check", "--config", "tést.yaml"]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)

    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "t\\xe9st.yaml: no such file" in done.stderr


def printed(*arguments: str, cwd: Path) -> tuple[int, str]:
    """The exit code and all output of a call of tidegate."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_without_arguments_the_help_is_printed(tmp_path: Path) -> None:
    code, text = printed(cwd=tmp_path)
    assert code == 0
    assert "\n  demo " in text


def test_the_help_lists_all_commands_in_groups(tmp_path: Path) -> None:
    text = printed("--help", cwd=tmp_path)[1]

    assert [name for name in COMMANDS if f"\n  {name} " in text] == list(COMMANDS)
    assert [group for group in GROUPS if f"\n{group}:\n" in text] == list(GROUPS)
