from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.instructions import MAX_BLOCK_CHARACTERS, blocks, markdown_of


def lines(markdown: str, *, indented: bool = False) -> list[tuple[int, str]]:
    """Row and text of every line, of all blocks."""
    return [(line.row, line.text) for block in blocks(markdown, "tool", indented=indented) for line in block]


@pytest.mark.parametrize("mark", ["", "sh", "bash", "shell", "zsh", "Bash", 'sh title="Quick start"'])
def test_blocks_of_shell_are_read(mark: str) -> None:
    assert lines(f"# Title\n\n```{mark}\ntool a\n\ntool b\n```\n") == [(4, "tool a"), (6, "tool b")]


@pytest.mark.parametrize("mark", ["python", "json", "text", "{.bash}", "diff"])
def test_blocks_of_other_languages_are_not(mark: str) -> None:
    assert lines(f"```{mark}\ntool a\n```\n") == []


def test_tildes_and_nested_lists_and_quotes() -> None:
    markdown = """\
1. Install it:

   ~~~bash
   tool init
   ~~~

   - then

     ```sh
     tool add a \\
       --tag b
     ```

> ````
> tool list
> ````
"""
    assert lines(markdown) == [(4, "tool init"), (10, "tool add a --tag b"), (15, "tool list")]


def test_a_console_block_is_only_what_was_typed() -> None:
    markdown = """\
```console
$ tool list
ID  TITLE
tool 1.2 says hello > nobody
$ tool add a \\
>   --tag b
added 1
# tool reset
$ ls | wc -l
3
```
"""
    assert lines(markdown) == [(2, "tool list"), (5, "tool add a --tag b"), (9, "ls | wc -l")]


def test_a_console_block_without_prompts_holds_no_command() -> None:
    assert lines("```console\ntool list\n```\n") == []


@pytest.mark.parametrize("mark", ["", "sh", "shell"])
def test_prompts_make_any_block_a_session(mark: str) -> None:
    assert lines(f"```{mark}\n$ tool list\nrm everything\n```\n") == [(2, "tool list")]


def test_a_block_without_a_call_of_the_target_is_left_out() -> None:
    markdown = "```sh\ncurl x | sh\n```\n\n```sh\nmkdir x\ntool a\nls\n```\n\n```\n├── src\n```\n"
    assert lines(markdown) == [(6, "mkdir x"), (7, "tool a"), (8, "ls")]


def test_inline_code_and_indented_code_are_no_instructions() -> None:
    assert lines("Run `tool a`.\n\n    tool b\n") == []


def test_indented_code_with_prompts_is_a_session() -> None:
    markdown = "Like this:\n\n    $ tool list\n    [1]\n\n    $ tool add x \\\n        y\n"
    assert [text.split() for _, text in lines(markdown)] == [["tool", "list"], ["tool", "add", "x", "y"]]


def test_indented_code_counts_where_it_is_asked_for() -> None:
    assert lines("Run `tool a`.\n\n    tool b\n    tool c\n", indented=True) == [(3, "tool b"), (4, "tool c")]


def test_windows_line_ends_and_an_unclosed_fence() -> None:
    assert lines("Text\r\n```sh\r\ntool a\r\ntool b") == [(3, "tool a"), (4, "tool b")]


def test_front_matter_and_comments_are_no_instructions() -> None:
    assert lines("---\nname: x\n---\n<!--\n```sh\ntool a\n```\n-->\n") == []


def test_a_very_long_block_is_one_line_that_says_so() -> None:
    (block,) = blocks("```sh\n" + "tool a\n" * MAX_BLOCK_CHARACTERS + "```\n", "tool")
    assert [line.unfit for line in block] == ["its block is longer than 20000 characters"]


DOCUMENT = """\
=====
tally
=====

Counts things.

Adding
------

.. code-block:: bash
   :caption: how

   tally add milk
   tally list

Reading
-------

Type this::

    $ tally show 1
    milk

.. note:: tally ignore this

.. code-block:: python

   tally = None

* An item:

  .. code-block:: console

     $ tally done 1
     done
"""


def test_blocks_of_restructured_text_are_found_on_the_same_rows() -> None:
    found = [line for block in blocks(markdown_of("README.rst", DOCUMENT), "tally") for line in block]
    assert [(line.row, line.text) for line in found] == [
        (13, "tally add milk"),
        (14, "tally list"),
        (21, "tally show 1"),
        (34, "tally done 1"),
    ]


@pytest.mark.parametrize("text", ["::", "a::\n", ".. code-block:: sh", "--\n--", "a::\nb\n", "=\n=\n=\n", "a\n=="])
def test_incomplete_markup_is_left_as_it_is(text: str) -> None:
    assert markdown_of("a.rst", text) == text.rstrip("\n")


@given(st.text(alphabet="a:.= \n-`", max_size=60))
def test_no_row_is_lost(text: str) -> None:
    rows = len(text.splitlines())
    assert len(markdown_of("a.rst", text).splitlines()) in range(rows - 1, rows + 2)
