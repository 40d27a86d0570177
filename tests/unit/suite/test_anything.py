"""Any content of the files gives a suite, or one line that says what is wrong; never a traceback."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.suite.document import parse
from tidegate.suite.load import load_suite
from tidegate.suite.scenario_file import ScenarioFile
from tidegate.suite.suite_file import SuiteFile

SUITE = "version: 1\nscenarios: [s.yaml]\n"
SCENARIO = "name: first\ndescription: The first.\ntarget: {binary: taskmgr}\ntask: List the tasks.\n"
WORDS = sorted(
    {*SuiteFile.model_fields, *ScenarioFile.model_fields}
    | {"type", "docs", "doc-follower", "scripted", "command", "steps", "file_exists", "path", "min", "max", "models"}
    | {"env", "binary", "prompt", "commands", "post", "enabled", "tool", "from_config", "**", "../x", "${A}", "", "\0"}
)
LEAVES = st.sampled_from(WORDS) | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
LINE = re.compile(r"(tidegate\.yaml|s\.yaml)(:[1-9]\d*:[1-9]\d*)?: \S")


def loads_or_says_what_is_wrong(suite: str, scenario: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tidegate.yaml").write_text(suite, encoding="utf-8", errors="surrogatepass")
        (Path(folder) / "s.yaml").write_text(scenario, encoding="utf-8", errors="surrogatepass")
        said = ""
        try:
            load_suite(Path(folder), environ={})
        except (ConfigurationError, NothingToRunError) as error:
            said = error.message
    assert all(LINE.match(line) for line in said.splitlines()), said


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    loads_or_says_what_is_wrong(text, SCENARIO + text)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%?,<~ \n\t01", max_size=60))
def test_anything_that_looks_like_yaml(text: str) -> None:
    loads_or_says_what_is_wrong(SUITE + text, text)


@given(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5))
def test_any_yaml_made_of_our_words(values: dict[str, object]) -> None:
    text = yaml.safe_dump(values, allow_unicode=True)
    loads_or_says_what_is_wrong(text, text)
    values = {key: value for key, value in values.items() if f"{key}:" not in SUITE + SCENARIO}
    more = yaml.safe_dump(values) if values else ""
    loads_or_says_what_is_wrong(SUITE + more, SCENARIO + more)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(-1e18, 1e18) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, min_size=1))
def test_what_another_program_writes_is_read_as_it_was(values: dict[str, object]) -> None:
    """Any JSON-like data without NUL comes back from YAML unchanged."""
    if "\0" in repr(values).replace("\\x00", "\0"):
        return

    document = parse(yaml.safe_dump(values), "f.yaml")

    assert document.problems == ()
    assert document.data == values
