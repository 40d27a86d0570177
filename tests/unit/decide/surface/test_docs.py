"""Names that a pull request writes into the docs, and that the tool does not offer."""

from __future__ import annotations

import pytest

from tidegate.decide.surface.docs import misnamed, renamed_variables
from tidegate.model.result import FileChange
from tidegate.model.surface import Part

OPTIONS = ("--dryrun", "--add", "--literal", "--summarize", "-f", "-m", "--imports", "--color", "--verbose", "--from")
PARTS = (
    *(Part(kind="option", name=name) for name in OPTIONS),
    *(Part(kind="subcommand", name=name) for name in ("del", "add")),
    *(Part(kind="tool", name=name) for name in ("sqlite_execute", "mean")),
    *(Part(kind="parameter", name=name, command="mean") for name in ("filename", "sql")),
)


def found(old: str, new: str, tool: str = "git-note") -> list[str]:
    """The names found where README's line 1 changes like this."""
    change = FileChange(path="README.md", role="watched", diff=f"@@ -1 +1 @@\n-{old}\n+{new}")
    return [f"{one.part}: {one.detail}" for one in misnamed(tool, PARTS, [change])]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("Use the `--dryrun` option to look.", "Use the `--check` option to look.", "--check"),
        (" -m --summarize   what was found", " -m --stats       what was found", "--stats"),
        ("    git note --add --literal 'a+b'", "    git note --add --fixed 'a+b'", "--fixed"),
        ("$ git-note --imports=a,b <file>", "$ git-note --modules=a,b <file>", "--modules"),
        ("$ git-note del HELLO -f .env", "$ git-note del HELLO --file .env", "--file"),
        ("cat a | ./git-note.pl | b --color=x", "cat a | ./git-note.pl --all | b --color=x", "--all"),
        ("  $ git-note start cats +dogs", "  $ git-note start cats --tag dogs", "--tag"),
        ("- Of a date: `$ git-note report 2018`", "- Of a date: `$ git-note report --date 2018`", "--date"),
        ("- **sqlite_execute(sql)**: runs SQL", "- **sqlite_query(sql)**: runs SQL", "sqlite_query"),
        ("| `mean` | The mean of `numbers`", "| `average` | The mean of `numbers`", "average"),
        ("- Input: `filename` (string)", "- Input: `name` (string)", "name"),
    ],
)
def test_a_name_in_place_of_one_that_the_tool_offers_is_found(old: str, new: str, name: str) -> None:
    assert found(old, new) == [f"`{name}`: new in README.md:1, but not offered"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use `--dryrun` to look.", "Use `--dryrun` first, to look."),
        ("Use `--dryrun` to look.", "Use `--verbose` to look."),
        ("Use it to add notes.", "Use it to insert notes."),  # prose
        ("Returns `add` rows.", "Returns `more` rows."),
        ("- `filename`, `mean` and `sql`", "- `folder`, `median` and `code`"),  # another line
        ("git-note --add a", "git-note --add a | jq --raw-output ."),
        ("git-note --add a", "git-note --add a # see `other --help-me`"),
        ("pip install git-note", "pip install git-note --user"),
        ("git-note --add a", "git-note --no-color --verb --add -fm a --help"),
        ("git-note --hidden a", "git-note --secret a"),  # help does not list all
        ("other --unknown x", "other --unheard x"),
        ("a line", "git-note --unknown\n+another line"),  # new lines
    ],
)
def test_what_the_tool_offers_or_nothing_is_known_of_is_not_found(old: str, new: str) -> None:
    assert found(old, new) == []


def test_nothing_is_found_where_help_lists_no_option() -> None:
    change = FileChange(path="README.md", role="watched", diff="@@ -1 +1 @@\n-note --add a\n+note --put a")
    assert [*misnamed("note", (), [change])] == []


def test_a_variable_in_place_of_another_one_is_found_if_only_the_docs_name_it() -> None:
    diff = "@@ -1 +1 @@\n-export NOTE_DIR=~/notes # the folder\n+export NOTES_DIR=~/notes # the folder"
    changes = [FileChange(path="README.md", role="watched", diff=diff)]
    assert renamed_variables(changes) == {("NOTE_DIR", "NOTES_DIR")}
    (found,) = misnamed("note", (), changes, {"NOTES_DIR"})
    assert f"{found.part} {found.detail}" == "`NOTES_DIR` new in README.md:1, but nothing reads it"
    assert [*misnamed("note", (), changes)] == []
