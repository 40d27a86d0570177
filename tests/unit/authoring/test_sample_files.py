"""Samples for examples that read a file which the repository does not have."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tidegate.authoring.examples import SAMPLES, in_help, sample, samples
from tidegate.authoring.starter import template_files
from tidegate.authoring.tool import Tool


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cat input.html | tally", ("input.html",)),
        ("tally < list.csv > out.csv", ("list.csv",)),
        ("tally -i a.json --input=b.yaml", ("a.json", "b.yaml")),
        ("tally create notes.md", ()),  # it may refuse to write over a file
        ("tally -o out.html", ()),
        ("cat input.xyz | tally", ()),
        ("cat ../input.html | tally", ()),
    ],
)
def test_only_files_that_are_surely_read_get_a_sample(line: str, found: tuple[str, ...]) -> None:
    assert samples(line) == found


def test_samples_are_what_their_names_say() -> None:
    assert json.loads(sample("x.json"))["name"] == "Ada"
    assert tomllib.loads(sample("x.toml").decode())["city"] == "London"
    assert len(ElementTree.fromstring(sample("x.xml"))) == 2
    assert all(text.endswith("\n") for text in SAMPLES.values())


@pytest.mark.parametrize("name", ["content", "sidebar", "entry", "footer", "title", "main", "header"])
def test_the_html_has_the_classes_that_examples_select(name: str) -> None:
    page = ElementTree.fromstring(sample("x.html").decode().partition("\n")[2])
    (found,) = [one for one in page.iter() if name in one.get("class", "").split()]
    assert "".join(found.itertext()).strip()


def test_a_file_of_the_repository_comes_before_a_sample(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("mine\n")
    candidate = in_help("tally", "Examples:\n  cat own.csv | tally\n  cat other.csv | tally\n")
    assert candidate is not None
    files = template_files(tmp_path, Tool("tally", (), ("bin",), "setup.py"), candidate)
    assert {name.rpartition("/")[2]: text for name, text in files.items()} == {
        "own.csv": b"mine\n",
        "other.csv": sample("other.csv"),
    }
