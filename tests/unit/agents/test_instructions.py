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


NESTED = """\
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
CONSOLE = """\
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
# a document → the rows and texts of its instructions
DOCUMENTS: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "tildes, nested lists and quotes": (NESTED, [(4, "tool init"), (10, "tool add a --tag b"), (15, "tool list")]),
    "of a console block only what was typed": (
        CONSOLE,
        [(2, "tool list"), (5, "tool add a --tag b"), (9, "ls | wc -l")],
    ),
    "a console block without prompts": ("```console\ntool list\n```\n", []),
    "a session without a language": ("```\n$ tool list\nrm everything\n```\n", [(2, "tool list")]),
    "a session in a block of sh": ("```sh\n$ tool list\nrm everything\n```\n", [(2, "tool list")]),
    "a session in a block of shell": ("```shell\n$ tool list\nrm everything\n```\n", [(2, "tool list")]),
    "blocks without a call of the target": (
        "```sh\ncurl x | sh\n```\n\n```sh\nmkdir x\ntool a\nls\n```\n\n```\n├── src\n```\n",
        [(6, "mkdir x"), (7, "tool a"), (8, "ls")],
    ),
    "inline code and indented code": ("Run `tool a`.\n\n    tool b\n", []),
    "plain text with prompts": ("```text\n$ tool a\noutput\n```\n```text\ntool b\n```\n", [(2, "tool a")]),
    "indented code with prompts": (
        "Like this:\n\n    $ tool list\n    [1]\n\n    $ tool add x \\\n        y\n",
        [(3, "tool list"), (6, "tool add x y")],
    ),
    "Windows' line ends and an unclosed fence": ("Text\r\n```sh\r\ntool a\r\ntool b", [(3, "tool a"), (4, "tool b")]),
    "front matter and comments": ("---\nname: x\n---\n<!--\n```sh\ntool a\n```\n-->\n", []),
}


@pytest.mark.parametrize(("markdown", "found"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_instructions_of_a_document(markdown: str, found: list[tuple[int, str]]) -> None:
    assert lines(markdown) == found


def test_indented_code_counts_where_it_is_asked_for() -> None:
    assert lines("Run `tool a`.\n\n    tool b\n    tool c\n", indented=True) == [(3, "tool b"), (4, "tool c")]


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
