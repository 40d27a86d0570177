"""Any program as a judge."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tidegate.judges.command import CommandJudge
from tidegate.model.judge import JudgePlace
from tidegate.model.question import AskModel, Reply

QUESTION = AskModel(system="You judge.", before="How was it?", answer_schema={"type": "object"})


def ask(command: str, folder: Path, credentials: dict[str, str] | None = None, **fields: object) -> Reply:
    judge = CommandJudge.model_validate({"type": "command", "command": command, **fields})

    async def run() -> Reply:
        async with judge.opened(JudgePlace(folder, "/usr/bin:/bin", credentials or {})) as carry:
            return await carry(QUESTION, 2)

    return asyncio.run(run())


def test_it_reads_the_prompt_and_its_output_is_the_answer(tmp_path: Path) -> None:
    reply = ask("cat", tmp_path)
    assert (reply.end, reply.sample) == ("answered", 2)
    for words in ("You judge.", "How was it?", '"type": "object"'):
        assert words in reply.text


def test_it_runs_in_the_checkout_with_its_secrets_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "not-for-judges")
    reply = ask("cat > /dev/null; pwd; env", tmp_path, {"OPENAI_API_KEY": "abc"})
    assert reply.text.startswith(str(tmp_path))
    assert "OPENAI_API_KEY=abc" in reply.text
    assert "not-for-judges" not in reply.text


@pytest.mark.parametrize(
    ("command", "end", "message"),
    [
        ("echo no >&2; exit 3", "failed", "ended with 3: no"),
        ("kill -9 $$", "failed", "ended with -9"),
        ("true", "failed", "printed nothing"),
        ("exec cat nowhere", "failed", "No such file"),
        ("sleep 60 & wait", "timeout", "no answer within 0.2 s"),
    ],
)
def test_no_answer_is_said_why(command: str, end: str, message: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    reply = ask(command, tmp_path, timeout_secs=0.2 if end == "timeout" else 60)
    assert reply.end == end
    assert message in reply.message
    assert time.monotonic() - begun < 30
