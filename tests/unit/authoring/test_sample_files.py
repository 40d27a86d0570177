"""Samples for examples that read a file which the repository does not have."""

from __future__ import annotations

import ast
import json
import tomllib
from xml.etree import ElementTree

import pytest
import yaml

from tidegate.authoring.samples import SAMPLES, sample


def test_samples_are_what_their_names_say() -> None:
    assert json.loads(sample("x.json"))["name"] == "Ada"
    assert tomllib.loads(sample("x.toml"))["city"] == "London"
    assert yaml.safe_load(sample("x.yml"))["items"][0]["price"] == 7.125
    assert len(ElementTree.fromstring(sample("x.xml"))) == 2
    assert ast.parse(sample("x.py")).body
    assert all(text.endswith("\n") for text in SAMPLES.values())


def test_a_second_sample_has_other_values() -> None:
    assert json.loads(sample("x.json", 1))["name"] == "Bea"
    assert sample("x.unknown") == SAMPLES[".txt"]


@pytest.mark.parametrize("name", ["content", "sidebar", "entry", "footer", "title", "main", "header"])
def test_the_html_has_the_classes_that_examples_select(name: str) -> None:
    page = ElementTree.fromstring(sample("x.html").partition("\n")[2])
    (found,) = [one for one in page.iter() if name in one.get("class", "").split()]
    assert "".join(found.itertext()).strip()
