"""The executor `command`: what it starts, and how that can end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from tidegate.executors.command import CommandExecutor
from tidegate.model.executor import BatchJob, BatchLostError, EngineContext

BOTH = "test -f {bundle} && cat {bundle} > {out}/seen"


def carry(folder: Path, line: str, secs: float = 20, environ: Mapping[str, str] | None = None) -> Path:
    """Run one batch, with folders whose names need quotes; return the folder of its results."""
    bundle, out = folder / "my batch" / "bundle.zip", folder / "my batch" / "out"
    out.mkdir(parents=True, exist_ok=True)
    bundle.write_text("trials")

    async def run() -> None:
        executor = CommandExecutor(type="command", run=line)
        async with executor.opened(EngineContext(folder, environ or {"PATH": "/usr/bin:/bin"})) as carry_one:
            await carry_one(BatchJob("tidegate-1", bundle, out, secs))

    asyncio.run(run())
    return out


def test_the_line_runs_in_the_suite_s_checkout_with_both_folders_and_the_name_quoted(tmp_path: Path) -> None:
    out = carry(tmp_path, BOTH + "; pwd > {out}/where; echo {name} > {out}/name; echo '{{}}' > {out}/braces")
    texts = {path.name: path.read_text().strip() for path in out.iterdir()}
    assert texts == {"seen": "trials", "where": str(tmp_path), "name": "tidegate-1", "braces": "{}"}


def test_it_gets_tidegate_s_environment_without_the_job_s_tokens(tmp_path: Path) -> None:
    environ = {
        "PATH": "/usr/bin:/bin",
        "KUBECONFIG": "/k",
        "GITHUB_TOKEN": "t",
        "ACTIONS_ID_TOKEN": "t",
        "INPUT_X": "t",
    }
    out = carry(tmp_path, "env > {out}/env; : {bundle}", environ=environ)
    names = {line.partition("=")[0] for line in (out / "env").read_text().splitlines()}
    assert names & environ.keys() == {"PATH", "KUBECONFIG"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-engine {bundle} {out}", r"ended with 127: .*no-such-engine: not found"),
        ("echo quota exceeded >&2; exit 3; : {bundle} {out}", "ended with 3: quota exceeded"),
        ("exit 1; : {bundle} {out}", "ended with 1: it printed nothing"),
    ],
)
def test_a_failure_is_one_sentence_with_what_the_engine_printed(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BatchLostError, match=f"^the executor's command {said}$"):
        carry(tmp_path, line)


def test_an_engine_that_never_returns_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(BatchLostError, match=r"did not end within 0\.01 minutes"):
        carry(tmp_path, "echo $$ > {out}/pid; sleep 60 & echo $! > {out}/below; wait; : {bundle}", 0.6)
    assert time.monotonic() - started < 50
    for name in ("pid", "below"):
        process = Path("/proc", (tmp_path / "my batch" / "out" / name).read_text().strip(), "status")
        while process.exists() and "zombie" not in process.read_text():
            assert time.monotonic() - started < 50
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("worker {bundle}", "lacks the placeholder {out}"),
        ("worker {out}", "lacks the placeholder {bundle}"),
        ("worker {bundle} {out} {job}", "unknown placeholder {job}"),
        ("worker '{bundle}' {out}", "stands inside quotes"),
    ],
)
def test_a_line_that_cannot_work_is_refused(line: str, wrong: str) -> None:
    with pytest.raises(ValidationError) as error:
        CommandExecutor(type="command", run=line)
    assert wrong in str(error.value)
