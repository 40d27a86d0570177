"""The text of a generated scenario: it loads as the values that it was made from."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tidegate.authoring.scenario_text import Story, file_name, flow, free_name, item, scenario_text
from tidegate.checks.gates.text_gates import FileContains
from tidegate.model.target import Target
from tidegate.suite.load import load_suite

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(TEXT, TEXT, TEXT)
def test_every_text_comes_back(prompt: str, source: str, description: str) -> None:
    story = Story(
        name="a",
        description=description,
        source=source,
        prompt=prompt,
        target=Target(binary="t"),
        commands=(prompt, source),
    )
    loaded = yaml.safe_load(scenario_text(story, "scenarios/a.yaml"))
    assert (loaded["task"]["prompt"], loaded["source"], loaded["description"]) == (prompt, source, description)


@given(TEXT, st.booleans())
def test_gates_come_back(text: str, required: bool) -> None:
    gate = FileContains(type="file_contains", path="x", substring=text, required=required, timeout_secs=5)
    story = Story(name="a", description="d", source="s", prompt="p", target=Target(binary="t"), gates=(gate,))
    (loaded,) = yaml.safe_load(scenario_text(story, "scenarios/a.yaml"))["evaluation"]["gates"]
    assert FileContains.model_validate(loaded, strict=True) == gate


def test_it_is_a_scenario_that_loads(tmp_path: Path) -> None:
    story = Story(name="yes", description="a: b", source="#1", prompt="  x\n", target=Target(binary="no"), setup=("a",))
    (tmp_path / "tidegate.yaml").write_text("version: 1\nscenarios: [first.yaml]\n")
    (tmp_path / "first.yaml").write_text(scenario_text(story, "first.yaml"))
    (scenario,) = load_suite(tmp_path, environ={}).scenarios
    assert (scenario.name, scenario.prompt, scenario.target.binary, scenario.setup) == ("yes", "  x\n", "no", ("a",))


def test_names() -> None:
    assert free_name("a", []) == "a"
    assert free_name("a", ["a", "a_2", "a_4"]) == "a_3"
    assert file_name("research/what now?") == "research_what_now"
    assert file_name("..") == "scenario"


def test_a_long_list_of_words_is_wrapped_and_comes_back() -> None:
    gate = {"type": "command_output_words", "command": "t --help", "words": [f"--option-{n}" for n in range(40)]}
    text = f"gates:\n    - {item(gate)}\n"
    assert yaml.safe_load(text) == {"gates": [gate]}
    assert max(map(len, text.splitlines())) <= 120


def test_a_value_that_is_there_twice_is_written_twice() -> None:
    task = {"title": "first"}
    assert flow({"tasks": [task, task]}) == "{tasks: [{title: first}, {title: first}]}"
