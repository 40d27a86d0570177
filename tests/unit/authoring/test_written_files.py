"""Calls with binary results, such as compressed data and images."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.authoring.test_probing import probed
from tidegate.authoring.observed_gates import complaint
from tidegate.authoring.option_calls import Try
from tidegate.authoring.written_files import is_result, then_show
from tidegate.model.event import CommandResult

DATA = "\x1f\x00\x08"
PACKS = "usage: count [options] FILE\n\nOptions:\n  --best   Best\n"


def ended(code: int) -> CommandResult:
    return CommandResult(command="pack a", end="exited", exit_code=code)


def test_of_binary_files_the_digests_are_shown() -> None:
    assert then_show("pack a", ended(0), {"a.gz": DATA}) == "pack a && sha256sum a.gz"
    assert then_show("pack a", ended(0), {"a.b": "text\n", "c d": "\ufffd"}) == "pack a && sha256sum a.b 'c d'"
    assert then_show("pack a", ended(0), {"a.b": "text\n"}) == "pack a && cat a.b"
    assert then_show("pack a", ended(1), {"a.gz": DATA}) == "pack a; status=$?; sha256sum a.gz; (exit $status)"


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
