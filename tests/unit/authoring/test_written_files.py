"""Calls with binary results, such as compressed data and images."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from tests.unit.authoring.test_probing import FakeSession, probed
from tidegate.authoring.found import read_found
from tidegate.authoring.observed_gates import complaint
from tidegate.authoring.option_calls import Try
from tidegate.authoring.probing import Prober
from tidegate.authoring.written_files import is_result, on_copies, then_show
from tidegate.decide.surface.parts import of_help
from tidegate.model.agent import Session
from tidegate.model.event import CommandResult, Message

DATA = "\x1f\x00\x08"
PACKS = "usage: count [options] FILE\n\nOptions:\n  --best   Best\n"


def ended(code: int) -> CommandResult:
    return CommandResult(command="pack a", end="exited", exit_code=code)


def test_of_binary_files_the_digests_are_shown() -> None:
    assert then_show("pack a", ended(0), {"a.gz": DATA}) == "pack a && sha256sum a.gz"
    assert then_show("pack a", ended(0), {"a.b": "text\n", "c d": "\ufffd"}) == "pack a && sha256sum a.b 'c d'"
    assert then_show("pack a", ended(0), {"a.b": "text\n"}) == "pack a && cat a.b"
    assert then_show("pack a", ended(1), {"a.gz": DATA}) == "pack a; status=$?; sha256sum a.gz; (exit $status)"


def test_what_changes_the_files_of_a_folder_is_called_on_a_copy_of_that() -> None:
    found = on_copies("pack -r in/ --best 'a  b'", ["in/a.txt", "in/b/c.txt"])
    line = "rm -rf copied && cp -r in/ copied && pack -r copied --best 'a  b'"
    assert found == (line, {"in/a.txt": "copied/a.txt", "in/b/c.txt": "copied/b/c.txt"})
    assert on_copies("pack in --best", ["in/a.txt"]) == (
        "rm -rf copied && cp -r in/ copied && pack copied --best",
        {"in/a.txt": "copied/a.txt"},
    )
    assert on_copies("pack in", ["in/a.txt", "b.txt"]) is None


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.gz", DATA, True),
        (".cache/a", "text", True),
        (".cache/a", DATA, False),
        ("in/.a", DATA, False),
        ("a.pyc", DATA, False),
    ],
)
def test_what_a_program_keeps_for_itself_is_no_result_unless_it_is_text(
    name: str, content: str, expected: bool
) -> None:
    assert is_result(name, content) == expected


def test_the_digest_of_printed_data_is_shown_with_each_option_on_the_call_alone(tmp_path: Path) -> None:
    def packing(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        if not texts or "sample.txt" not in words:
            return None
        printed = f"{len(texts[0])}{'best' * ('--best' in words)}"
        return f"{printed} output\n" if "sha256sum" in words else DATA + printed

    found = probed(packing, tmp_path, (Try(ways=("count sample.txt",)),), PACKS)
    assert "count sample.txt > output && sha256sum output" in found.of("call")
    assert found.of("option")[0] == "count --best sample.txt > output && sha256sum output"


def test_a_binary_file_is_shown_with_each_option_and_variation_on_the_call_alone(tmp_path: Path) -> None:
    def packing(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        if not texts or "&&" in words:
            return "digest\n" if texts else None
        (tmp_path / "packed.gz").write_text(f"{len(texts[0])}{words}", encoding="utf-8")
        files["packed.gz"] = f"{DATA}{len(texts[0])}{'--best' in words}"
        return ""

    found = probed(packing, tmp_path, (Try(ways=("count sample.txt",)),), PACKS)
    assert "count sample.txt && sha256sum packed.gz" in found.of("call")
    assert found.of("option")[0] == "count --best sample.txt && sha256sum packed.gz"
    assert all(line.count("sha256sum") == 1 for line in found.of("variation") if ";" not in line)


def test_a_request_for_a_file_is_no_result() -> None:
    printed = "Please provide filename\nFor help, type: zopfli -h\n"
    assert complaint(CommandResult(command="zopfli", end="exited", exit_code=0, stderr=printed))


class Packing(FakeSession):
    """Runs `count FILE`, which replaces the file by one with `.gz`, and `count --unpack FILE.gz`."""

    def read_text(self, path: str) -> str | None:
        file = self.workspace / path
        return file.read_text(encoding="utf-8") if file.is_file() else None

    def write_text(self, path: str, text: str) -> None:
        (self.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (self.workspace / path).write_text(text, encoding="utf-8")

    async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
        printed = ""
        for one in command.split(" && "):
            program, *words = one.split()
            files = [self.workspace / word for word in words if not word.startswith("-")]
            is_packed = bool(files) and files[0].suffix == ".gz"
            if program == "rm":
                for file in files:
                    file.unlink(missing_ok=True)
            elif not files or not files[0].is_file() or (program == "count" and is_packed != ("--unpack" in words)):
                return CommandResult(command=command, end="exited", exit_code=2, stderr=f"cannot read {words}")
            elif program == "cp":
                files[1].write_bytes(files[0].read_bytes())
            elif program == "count":
                files[0].rename(files[0].with_suffix("") if is_packed else files[0].with_name(f"{files[0].name}.gz"))
            else:
                printed += files[0].read_text(encoding="utf-8")
        return CommandResult(command=command, end="exited", exit_code=0, stdout=printed)


def test_a_tool_that_replaces_its_input_is_called_on_a_copy(tmp_path: Path) -> None:
    parts = of_help({"": "options:\n  --unpack  Undo it\n"}, "count")
    session = Packing(lambda words, files: None, tmp_path)
    prober = Prober(plans={"plan": (Try(ways=("count sample.txt",)),)}, parts=parts, inputs=("sample.txt",))
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert found.of("call")[0] == "cp sample.txt copy.txt && count copy.txt && cat copy.txt.gz && rm copy.txt.gz"
    assert not (tmp_path / "sample.txt.gz").exists(), "what the first call made is removed"
