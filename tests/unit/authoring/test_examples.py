"""Which commands of docs and help texts become candidates for a first suite."""

from __future__ import annotations

from pathlib import Path

from tidegate.authoring.examples import documented, followed, in_help, named_once, subcommands_candidate
from tidegate.decide.surface.help_text import subcommands

README = """\
# Tally
## Usage
```sh
tally [OPTIONS] COMMAND
tally add milk
tally count data/some.csv
cat missing.dat | tally add
```
## Network
```sh
curl https://example.org | tally add
```
## Again
```sh
tally add milk
tally list
```
"""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_each_section_with_examples_is_a_candidate_and_no_example_is_taken_twice(tmp_path: Path) -> None:
    found = list(documented(write(tmp_path, {"README.md": README, "data/some.csv": "a\n"}), ".", "tally"))
    assert [(one.name, one.commands, one.files) for one in found] == [
        ("usage", ("tally add milk", "tally count data/some.csv"), ("data/some.csv",)),
        ("again", ("tally list",), ()),
    ]
    assert "tally count data/some.csv" in found[0].shown


def test_readme_is_followed_if_it_has_an_example(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": README, "other/README.md": "```sh\ntally [OPTIONS]\n```\n"})
    candidate = followed(tmp_path, ".", "tally")
    assert candidate is not None
    assert (candidate.commands, candidate.guidance) == ((), ("README.md",))
    assert followed(tmp_path, "other", "tally") is None


def test_equal_names_are_numbered(tmp_path: Path) -> None:
    text = "# A\n## Use\n```sh\ntally a\n```\n## B\n```sh\ntally b\n```\n# C\n## Use\n```sh\ntally c\n```\n"
    found = named_once(documented(write(tmp_path, {"README.md": text}), ".", "tally"))
    assert [one.name for one in found] == ["use", "b", "use_2"]


def test_subcommands_of_several_kinds_of_help() -> None:
    assert list(subcommands("Commands:\n  add  Adds\n  rm, remove  Removes\n\nOptions:\n  never  x\n")) == ["add", "rm"]
    assert list(subcommands("usage: tally [-h] {add,list} ...\n")) == ["add", "list"]
    assert list(subcommands("Available Commands:\n  run [title] Runs\n")) == ["run"]
    assert list(subcommands("All commands are described elsewhere, in a manual.\n  no\n")) == []


def test_the_help_of_each_subcommand_is_asked_for() -> None:
    candidate = subcommands_candidate("tally --help", "Commands:\n  add  Adds\n  list  Lists\n")
    assert candidate is not None
    assert candidate.commands == ("tally add --help", "tally list --help")
    assert subcommands_candidate("tally help", "Commands:\n  add  Adds\n  list  Lists\n") is None


def test_examples_of_a_help_text() -> None:
    candidate = in_help("tally", "usage: tally\n\nExamples:\n  tally add milk\n  $ echo a | tally add\n  tally rm ID\n")
    assert candidate is not None
    assert candidate.commands == ("echo a | tally add", "tally add milk")
    assert in_help("tally", "Examples:\n  cat list.dat | tally add\n") is None, "it works without the file, too"
    assert in_help("tally", "usage: tally add TITLE\n") is None
