"""Which Markdown is made of reStructuredText: the same examples, on the same rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.instructions import blocks
from tidegate.agents.restructured_text import as_markdown

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


def test_blocks_of_a_shell_are_found_with_their_heading_and_row() -> None:
    found = blocks(as_markdown(DOCUMENT), "tally")
    assert [(block.heading, line.text, line.row) for block in found for line in block.lines] == [
        ("Adding", "tally add milk", 13),
        ("Adding", "tally list", 14),
        ("Reading", "tally show 1", 21),
        ("Reading", "tally done 1", 34),
    ]
    assert [DOCUMENT.splitlines()[line.row - 1].strip(" $") for block in found for line in block.lines] == [
        line.text for block in found for line in block.lines
    ]


def test_titles_become_headings_whose_level_is_the_order_of_their_style() -> None:
    markdown = as_markdown(DOCUMENT).splitlines()
    assert (markdown[1], markdown[6], markdown[15]) == ("# tally", "## Adding", "## Reading")


@pytest.mark.parametrize("text", ["::", "a::\n", ".. code-block:: sh", "--\n--", "a::\nb\n", "=\n=\n=\n", "a\n=="])
def test_incomplete_markup_is_left_as_it_is(text: str) -> None:
    assert as_markdown(text) == text.rstrip("\n")


@given(st.text(alphabet="a:.= \n-`", max_size=60))
def test_no_row_is_lost(text: str) -> None:
    rows = len(text.splitlines())
    assert len(as_markdown(text).splitlines()) in range(rows - 1, rows + 2)
