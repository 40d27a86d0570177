"""The lines of docs that still name what is gone, and the patch of their edit, in a real checkout."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Repository
from tests.make import scenario, suite
from tidegate.checks.gates.command_gate import CommandSucceeds
from tidegate.model.cause import Cause, CauseKind, Place
from tidegate.model.plan import RowKey
from tidegate.run.tried_fix import MOST_PLACES, checks_name, edited, explained, nearest, with_docs
from tidegate.vcs.git import git
from tidegate.vcs.revisions import resolve

GUIDE = "# Notes\n$ notes add --tag a\n$ notes list\n\nSee README.md.\n"


@pytest.mark.parametrize(
    "guide",
    [
        pytest.param(GUIDE.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(GUIDE.replace("$ notes list\n", "$ notes list\n\n"), id="the last line of the patch is blank"),
    ],
)
def test_the_patch_applies_to_the_same_file(make_repository: Callable[..., Repository], guide: str) -> None:
    repo = make_repository()
    file = repo.root / "AGENTS.md"
    file.write_bytes(guide.encode())
    repo.commit({})
    place = Place(side="head", path="AGENTS.md", line=2, text="$ notes add --tag a")
    cause = Cause(kind="option", rows=(), names=("--tag",), new=("--label",), still_named=(place,))
    patch = edited(repo.root, [cause])
    assert file.read_bytes() == guide.replace("--tag", "--label").encode()
    git(repo.root, "checkout", "--", ".")
    applied = git(repo.root, "apply", "-", given=patch)
    assert (applied.returncode, applied.stderr) == (0, "")
    assert file.read_bytes() == guide.replace("--tag", "--label").encode()


def test_a_new_name_with_a_dash_is_no_roff(make_repository: Callable[..., Repository]) -> None:
    repo = make_repository()
    repo.commit({"README.md": "$ tool get\n"})
    place = Place(side="head", path="README.md", line=1, text="")
    edited(
        repo.root,
        [Cause(kind="subcommand", rows=(), about=("tool",), names=("get",), new=("get-one",), still_named=(place,))],
    )
    assert (repo.root / "README.md").read_text() == "$ tool get-one\n"


@pytest.mark.parametrize(("tool", "lines"), [("find_tasks", [1, 3]), ("find", [])])
def test_a_tool_that_is_gone_is_named_wherever_it_cannot_be_prose(
    make_repository: Callable[..., Repository], tool: str, lines: list[int]
) -> None:
    repo = make_repository()
    repo.commit({"README.md": f"Call `{tool}`.\n\nThen {tool} what is left.\n"})
    cause = Cause(kind="tool", rows=(), about=("tasks",), names=(tool,))
    (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(scenario()), [cause])
    assert [place.line for place in found.still_named] == lines


DOCS = {
    "README.rst": "Tool\n====\nUse ``--show-all``.\n",
    "docs/cli.rst": ".. option:: --show-all\n",
    "docs/LIESMICH.md": "#### mit `--show-all`\n\nNicht --show-allowed.\n",
    "man/tool.1": '.BR \\-a ", " \\fB\\-\\-show\\-all\\fR\n',
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("OPTIONS = ['--show-each']\n", [*sorted(DOCS)], id="gone"),
        pytest.param("OPTIONS = ['--show-all']\n", [], id="another subcommand's"),
    ],
)
def test_an_option_that_no_code_has_is_found_and_replaced_in_docs_of_every_kind(
    make_repository: Callable[..., Repository], code: str, expected: list[str]
) -> None:
    repo = make_repository()
    others = {"tool.py": code, "tests/README.md": "--show-all\n", "CHANGES.md": "--show-all\n"}
    repo.commit({**DOCS, **others, "demo/run": "cat x | ../tool add --show-all\n"})
    cause = Cause(kind="option", rows=(), about=("tool add",), names=("--show-all",), new=("--show-each",))
    (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(scenario()), [cause])
    assert sorted(place.path for place in found.still_named) == expected
    edited(repo.root, [found])
    for path in expected:
        text = DOCS[path]
        new = text.replace("--show-all`", "--show-each`").replace("--show-all\n", "--show-each\n")
        assert (repo.root / path).read_text() == new.replace("\\-\\-show\\-all", "\\-\\-show\\-each")


@pytest.mark.parametrize(
    ("kind", "name", "command", "expected"),
    [
        ("option", "--tag", r"tool add \-\-tag a", True),
        ("option", "--tag", "tool add --tags a", False),
        ("subcommand", "add", "tool add x", True),
        ("subcommand", "add", "tool list  # what was added by add", False),
        ("json_key", "name", "tool list | jq .name", True),
        ("json_key", "command", "tool list", False),
        ("tool", "read_file", "call server read_file", True),
    ],
)
def test_a_row_whose_checks_name_what_is_gone_is_told_apart(
    kind: CauseKind, name: str, command: str, *, expected: bool
) -> None:
    checked = scenario(gates=(CommandSucceeds(type="command_succeeds", command=command),))
    cause = Cause(kind=kind, rows=(), about=("tool",), names=(name,))
    assert checks_name(checked, cause) is expected


@pytest.mark.parametrize(
    ("kind", "about", "name", "text", "expected"),
    [
        ("subcommand", ("tool",), "add", "To add one: `tool --quiet add x`", "To add one: `tool --quiet NEW x`"),
        ("subcommand", ("tool",), "add", "With tool you can add more.", ""),
        ("value", ("tool add", "--level"), "high", 'tool add "high" --level=high', 'tool add "high" --level=NEW'),
        ("value", ("tool add", "--level"), "high", "tool add: a high level", ""),
        ("parameter", ("target put",), "title", 'A title: put {"title": 1}', 'A title: put {"NEW": 1}'),
        (
            "json_key",
            ("tool list",),
            "name",
            "name: tool list | jq .name > name.txt",
            "name: tool list | jq .NEW > name.txt",
        ),
        (
            "name",
            ("tool",),
            "name",
            'name: tool list name | cut "name.txt"',
            'name: tool list NEW | cut "name.txt"',
        ),
        ("name", ("tool",), "a.txt", "See a.txt.", "See NEW."),
    ],
)
def test_a_plain_word_is_replaced_only_where_it_cannot_be_prose(
    make_repository: Callable[..., Repository],
    kind: CauseKind,
    about: tuple[str, ...],
    name: str,
    text: str,
    expected: str,
) -> None:
    repo = make_repository()
    repo.commit({"AGENTS.md": f"{text}\n"})
    tested = scenario()
    tested = tested.model_copy(update={"target": tested.target.model_copy(update={"binary": "tool"})})
    cause = Cause(kind=kind, rows=(), about=about, names=(name,), new=("NEW",))
    (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(tested), [cause])
    edited(repo.root, [found])
    assert (repo.root / "AGENTS.md").read_text() == f"{expected or text}\n"


def test_a_plain_word_of_an_unknown_kind_is_searched_for_only_in_what_agents_read(
    make_repository: Callable[..., Repository],
) -> None:
    repo = make_repository()
    repo.commit({"README.md": "tool name\nA_FILE\n", "AGENTS.md": "tool name\nA_FILE\n"})
    for name, expected in (("name", ["AGENTS.md"]), ("A_FILE", ["AGENTS.md", "README.md"])):
        cause = Cause(kind="name", rows=(), about=("tool",), names=(name,), new=("other",))
        (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(scenario()), [cause])
        assert sorted(place.path for place in found.still_named) == expected


def test_only_whole_files_are_edited_and_the_nearest_first() -> None:
    places = tuple(
        Place(side="head", path=path, line=line, text="")
        for path, lines in (("README.md", MOST_PLACES - 1), ("docs/cli.md", 2))
        for line in range(lines)
    )
    cause = Cause(kind="option", rows=(), names=("--a",), new=("--b",), still_named=places)
    assert {place.path for place in nearest(cause).still_named} == {"README.md"}
    more = cause.model_copy(update={"still_named": (*places[:1], *places)})
    assert nearest(more).still_named[-1].path == "README.md"
    assert nearest(cause.model_copy(update={"still_named": places * 2})).still_named == places[:-2]


def test_the_only_edited_name_explains_the_rows_that_pass_with_it() -> None:
    one, two = (RowKey(scenario=name, agent="docs") for name in ("one", "two"))
    renamed = Cause(kind="json_key", rows=(one,), names=("title",), new=("name",))
    symptom = Cause(kind="file", rows=(two,), base="a", head="b")
    found = explained([renamed, symptom], [renamed], [two])
    assert [(cause.kind, set(cause.rows)) for cause in found] == [("json_key", {one, two})]
    new = Cause(kind="name", rows=(one, two), names=("A_B",), new=("A_C",))
    found = explained([symptom], [new], [two])
    assert [(cause.kind, cause.rows) for cause in found] == [("name", (two,))]
    assert explained([renamed, symptom], [renamed, new], [two]) == (renamed, symptom)


def test_a_short_option_of_another_program_is_left_alone(make_repository: Callable[..., Repository]) -> None:
    repo = make_repository()
    lines = [
        "$ npm install -g tool",
        "Install it: `npm install -g tool`",
        "cat a | tool -x -g",
        "  -g, --group",
        "`-g` groups",
    ]
    repo.commit({"README.md": "\n".join(lines) + "\n"})
    cause = Cause(kind="option", rows=(), about=("tool",), names=("-g",))
    (found,) = with_docs(repo.root, resolve(repo.root, "HEAD"), suite(), (cause,))
    assert [place.line for place in found.still_named] == [3]
