"""The check of what people have to read (`docs/written.py`), and that the documents of today pass it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

SCRIPT = Path(__file__).parents[3] / "docs/written.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("written", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITTEN = loaded()
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"
YAML = "```yaml\nversion: 1\n```\n"


def found(**texts: str) -> list[str]:
    return list(WRITTEN.findings(texts))


def test_a_sentence_has_25_words_and_code_is_one() -> None:
    sentence = " ".join(["word"] * 24)
    assert found(page=f"{sentence} `one of many words`.\n") == []
    assert found(page=f"{sentence} and another.\n") == [f"page: 26 words: {sentence} and another."]


def test_a_long_sentence_is_found_in_lists_and_tables_and_not_in_code() -> None:
    long = " ".join(["word"] * 26)
    assert [line[:14] for line in found(list=f"- {long}\n- short\n", table=f"| a | {long} |\n")] == [
        "list: 26 words",
        "table: 26 word",
    ]
    assert found(page=f"```sh\n{long}\n```\n\n# {long}\n") == []


def test_a_table_or_a_block_of_yaml_that_comes_twice_is_found() -> None:
    assert [line[:16] for line in found(one=TABLE, two=f"text\n\n{TABLE}")] == ["two: also in one"]
    assert [line[:16] for line in found(one=YAML, two=YAML)] == ["two: also in one"]
    assert found(one=TABLE, two=TABLE.replace("2", "3")) == []


def test_a_long_page_is_found() -> None:
    assert found(page="line\n\n" * 125) == []
    assert found(page="line\n\n" * 126) == ["page: 252 lines: make two pages of it, or let a command write a part"]


def test_what_commands_write_does_not_count() -> None:
    pages = WRITTEN.pages()
    assert "docs/cli.md" not in pages
    assert "## `command_succeeds`" not in pages["docs/gates.md"]
    assert "# Gates" in pages["docs/gates.md"]
