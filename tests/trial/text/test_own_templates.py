"""Compiled templates are kept, and nothing but a template's text and its environment decides what they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from tidegate.checks.rubrics import prompts
from tidegate.reports import comment, html

# Jinja makes a lexer at the first template that it compiles. A suite's own template is compiled when `own` is given.
RENDER = """
import sys
from jinja2 import lexer
from tidegate.reports.comment import environment, own_template
if "own" in sys.argv:
    own_template("{{ 1 + 1 }}").render()
environment().get_template("fix.md.j2")
print(environment().get_template("rows.md.j2").blocks, len(lexer._lexer_cache))
"""


def rendered(cache: Path, *arguments: str, **environ: str) -> str:
    """What a new process prints that keeps its compiled code in that folder."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-X", f"pycache_prefix={cache}", "-c", RENDER, *arguments],
        env={**clean, **environ},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    assert rendered(tmp_path) == "{} 1"
    kept = sorted(tmp_path.rglob("*.jinja"))
    assert len(kept) == 2
    assert rendered(tmp_path) == "{} 0"

    kept[0].write_bytes(kept[0].read_bytes()[:20])
    assert rendered(tmp_path) == "{} 1", "a damaged file is written again"
    assert rendered(tmp_path) == "{} 0"

    rendered(tmp_path, "own")
    assert sorted(tmp_path.rglob("*.jinja")) == kept, "a suite's own template is never kept"


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path) -> None:
    assert rendered(tmp_path, PYTHONDONTWRITEBYTECODE="1") == "{} 1"
    assert list(tmp_path.rglob("*.jinja")) == []


@pytest.mark.parametrize(
    ("environment", "folder"),
    [(comment.environment(), ""), (html.environment(), "page"), (prompts.environment(), "judge")],
    ids=["comment", "page", "judge"],
)
def test_no_filter_is_computed_when_a_template_is_compiled(environment: Environment, folder: str) -> None:
    """Kept code would else be out of date when the filter changes."""
    assert environment.loader is not None
    names = [name for name in environment.list_templates(["j2"]) if name.rpartition("/")[0] == folder]
    assert names
    for name in names:
        tree = environment.parse(environment.loader.get_source(environment, name)[0])
        for used in tree.find_all((nodes.Filter, nodes.Test)):
            with pytest.raises(nodes.Impossible):
                used.as_const(nodes.EvalContext(environment, name))
