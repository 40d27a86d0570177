"""Valid files of AgentV and native evaluators with one value replaced by anything: a suite, or located lines."""

from __future__ import annotations

import copy
import re
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.errors import ConfigurationError
from tidegate.suite.load import load_suite

EVALUATORS: list[Any] = [
    {"type": "tool_trajectory", "mode": "exact", "expected": [{"tool": "a", "input": {"x": {"regex": "y"}}}]},
    {"type": "tool_trajectory", "mode": "any_order", "minimums": {"a": 1}, "forbidden": ["b"], "max_calls": {"a": 2}},
    {"type": "expected_state", "command": "x", "expected": {"a.b": 1}},
    {"type": "parameters", "schemas": {"a": {"type": "object"}}, "reference": {"a": {"b": 1}}},
    {"type": "plan", "from": "field", "path": "$.a", "expected": ["a"]},
    {
        "type": "composite",
        "evaluators": [{"type": "code_judge", "script": "x", "cwd": "."}, {"type": "tool_f1", "expected": ["a"]}],
        "aggregator": {"type": "weighted_average", "weights": {"tool_f1": 2}},
    },
]
FILES: dict[str, Any] = {
    "e.yaml": {
        "dataset": "d",
        "execution": {"target": "t", "evaluators": EVALUATORS},
        "evalcases": [
            {
                "id": "a",
                "expected_outcome": "x",
                "input_messages": [{"role": "user", "content": [{"type": "text", "value": "x"}]}],
                "expected_messages": [{"role": "assistant", "content": {"a": 1}}],
            }
        ],
    },
    "s.yaml": {
        "name": "n",
        "description": "d",
        "target": {"binary": "b"},
        "task": "t",
        "evaluation": {"evaluators": EVALUATORS},
    },
    "targets.yaml": {
        "targets": [
            {"name": "t", "provider": "cli", "command_template": "x {PROMPT}", "cwd": ".", "timeout_seconds": 5},
            {"name": "m", "provider": "mock", "response": "x"},
        ]
    },
    ".agentv/config.yaml": {"guideline_patterns": ["*.md"]},
}
LINE = re.compile(r"(tidegate|e|s|targets|\.agentv/config)\.yaml(:[1-9]\d*:[1-9]\d*)?: \S")
ODD = st.sampled_from([None, True, 5, -1, 0.5, "", " ", "(", "../x", "$[", "${{ A }}", [], {}, [None], {"regex": "("}])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in inner for place in places(child, (*path, key)))]


PLACES = [(file, place) for file, value in FILES.items() for place in places(value) if place]


@given(st.sampled_from(PLACES), ODD, st.booleans())
@example(("e.yaml", ("evalcases", 0, "expected_messages", 0, "content")), " ", False)
def test_one_value_replaced_or_one_key_misspelt(place: tuple[str, tuple[Any, ...]], odd: Any, misspelt: bool) -> None:
    file, path = place
    files = copy.deepcopy(FILES)
    parent = files[file]
    for key in path[:-1]:
        parent = parent[key]
    if misspelt and isinstance(parent, dict):
        parent[f"{path[-1]}x"] = parent.pop(path[-1])
    else:
        parent[path[-1]] = odd
    files["tidegate.yaml"] = {"version": 1, "scenarios": ["e.yaml", "s.yaml"]}
    with tempfile.TemporaryDirectory() as folder:
        for name, value in files.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(yaml.safe_dump(value), encoding="utf-8")
        said = ""
        try:
            load_suite(Path(folder), environ={})
        except ConfigurationError as error:
            said = error.message
    assert all(LINE.match(line) for line in said.splitlines()), said
