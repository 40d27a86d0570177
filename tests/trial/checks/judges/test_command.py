"""Any program as a judge."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path

import pytest

from tidegate.checks.judges.command import CommandJudge
from tidegate.checks.rubrics.reading import read_scores
from tidegate.model.judge import AskModel, JudgeContext, Reply

QUESTION = AskModel(system="You judge.", before="How was it?", answer_schema={"type": "object"})


def ask(command: str, folder: Path, credentials: dict[str, str] | None = None, **fields: object) -> Reply:
    judge = CommandJudge.model_validate({"type": "command", "command": command, **fields})

    async def run() -> Reply:
        async with judge.opened(JudgeContext(folder, {"PATH": "/usr/bin:/bin", **(credentials or {})})) as carry:
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
    environ = {"OPENAI_API_KEY": "abc", "GEMINI_API_KEY": "not-for-judges"}
    reply = ask("cat > /dev/null; pwd; env", tmp_path, environ, secrets=["OPENAI_API_KEY"])
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


@pytest.mark.parametrize("command", ["python3 judge.py", "cat|python3 './judge.py'; true", "sh -c 'x' judge.py \"odd"])
def test_an_edited_program_is_another_judge(command: str, tmp_path: Path) -> None:
    judge = CommandJudge(type="command", command=command)
    program = tmp_path / "judge.py"
    program.write_text("print(1)")
    before = judge.identity(tmp_path)
    (tmp_path / "other.py").write_text("print(1)")
    assert judge.identity(tmp_path) == before
    program.write_text("print(2)")
    assert judge.identity(tmp_path) != before


def test_an_edited_package_is_another_judge(tmp_path: Path) -> None:
    judge = CommandJudge(type="command", command="python3 -m judge.main")
    (tmp_path / "judge").mkdir()
    before = judge.identity(tmp_path)
    (tmp_path / "judge/data.json").write_text("1")
    assert judge.identity(tmp_path) != before


def test_of_what_is_not_in_the_checkout_only_the_place_counts(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "folder").mkdir(parents=True)
    (tmp_path / "outside").write_text("x")
    (checkout / "link").symlink_to(tmp_path / "outside")
    (checkout / "in").write_text("x")
    command = f"cat in folder link ../outside {tmp_path}/outside nowhere {'x' * 5000}"
    judge = CommandJudge(type="command", command=command)
    before = judge.identity(checkout)
    (tmp_path / "outside").write_text("y")
    assert judge.identity(checkout) == before
    (checkout / "link").unlink()
    assert judge.identity(checkout) != before


def test_the_examples_of_the_docs_are_answers(tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs/judges.md").read_text().partition("## What it answers")[2]
    answer, program = re.findall(r"```(?:json|python)\n(.*?)```", page, re.DOTALL)[:2]
    assert read_scores(answer, ["complete", "clear"]).scores == {"complete": 0.6, "clear": 1}
    (tmp_path / "judge.py").write_text(program)
    reply = ask(f"{sys.executable} judge.py", tmp_path)
    assert read_scores(reply.text, ["complete", "clear"]).scores == {"complete": 0, "clear": 0}


def test_who_prints_something_else_is_shown_the_form() -> None:
    with pytest.raises(ValueError, match=r'no list of `scores`; expected {"scores": \[{"id": "…", "reason"'):
        read_scores('{"score": 1}', ["complete"])


def test_a_judge_that_does_not_read_a_long_prompt_answers_all_the_same(tmp_path: Path) -> None:
    judge = CommandJudge.model_validate({"type": "command", "command": "exec <&-; sleep 0.2; echo '{}'"})
    question = QUESTION.model_copy(update={"before": "long " * 200_000})

    async def run() -> Reply:
        async with judge.opened(JudgeContext(tmp_path, {"PATH": "/usr/bin:/bin"})) as carry:
            return await carry(question, 1)

    assert asyncio.run(run()).text == "{}\n"
