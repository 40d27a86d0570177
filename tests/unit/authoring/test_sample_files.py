"""Samples for examples that read a file which the repository does not have."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from xml.etree import ElementTree

import pytest
import yaml

from tidegate.authoring.samples import HISTORY, SAMPLES, sample


def test_samples_are_what_their_names_say() -> None:
    assert json.loads(sample("x.json"))["name"] == "Ada"
    assert tomllib.loads(sample("x.toml"))["city"] == "London"
    assert yaml.safe_load(sample("x.yml"))["items"][0]["price"] == 7.125
    assert [one.tag for one in ElementTree.fromstring(sample("x.xml"))] == ["person", "person", "note", "empty", "v"]
    assert ast.parse(sample("x.py")).body
    assert ast.parse(sample("more.py")).body
    assert json.loads(sample("more.json"))[0]["name"] == "Ada"
    assert all(text.endswith("\n") for text in SAMPLES.values())


def test_a_second_sample_has_other_values() -> None:
    assert json.loads(sample("x.json", 1))["name"] == "Bea"
    assert sample("x.unknown") == SAMPLES[".txt"]


def test_the_sample_of_a_compressed_file_is_that_of_its_content() -> None:
    assert sample("reads.fa.gz") == SAMPLES[".fa"]
    assert sample(HISTORY).startswith("#!/bin/sh")


@pytest.mark.parametrize("name", ["content", "sidebar", "entry", "footer", "title", "main", "header"])
def test_the_html_has_the_classes_that_examples_select(name: str) -> None:
    assert len(re.findall(rf"class='(?:\w+ )*{name}(?: \w+)*'[^>]*>\s*\S", sample("x.html"))) == 1
