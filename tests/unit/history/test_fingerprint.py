"""Which changes invalidate the history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.make import DOCS, scenario, suite
from tidegate.history.fingerprint import agent_mark, fingerprint, template_files
from tidegate.history.fingerprint import test_key as key_of_test
from tidegate.model.plan import PlanRow, RowKey, Texts

SCENARIO = scenario(template="t")
ROW = PlanRow(key=RowKey(scenario="s", agent="docs"), scenario=SCENARIO, agent=DOCS, deterministic=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t/sub").mkdir(parents=True)
    (tmp_path / "t/inbox.md").write_text("mail")
    (tmp_path / "t/DOCSS.md").write_text("guide")
    (tmp_path / "t/sub/link").symlink_to("../inbox.md")
    return tmp_path


def printed(folder: Path, row: PlanRow = ROW, version: str | None = "1.0") -> str:
    return fingerprint(row, template_files(folder, row.scenario, ("DOCSS.md",)), agent_mark(row, version))


def test_another_version_of_the_agents_program_has_another(folder: Path) -> None:
    assert len({printed(folder, version=version) for version in ("1.0", "1.1", None)}) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda t: (t / "inbox.md").write_text("other mail"),
        lambda t: (t / "new").touch(),
        lambda t: (t / "inbox.md").rename(t / "letters.md"),
        lambda t: ((t / "sub/link").unlink(), (t / "sub/link").symlink_to("../new")),
    ],
)
def test_a_changed_template_has_another(change: Callable[[Path], object], folder: Path) -> None:
    before = printed(folder)
    change(folder / "t")
    assert printed(folder) != before


def test_guidance_and_the_file_s_place_do_not_matter(folder: Path) -> None:
    before = printed(folder)
    (folder / "t/DOCSS.md").write_text("a better guide")
    moved = ROW.model_copy(update={"scenario": SCENARIO.model_copy(update={"file": "other.yaml"})})
    assert printed(folder, moved) == before


@pytest.mark.parametrize(
    "own",
    [
        {"own_texts": Texts(prompt="Do it.", agent=DOCS)},
        {"own_texts": Texts(prompt=SCENARIO.prompt, agent=DOCS.model_copy(update={"timeout_secs": 9}))},
        {"own_target": SCENARIO.target.model_copy(update={"env": {"A": "1"}})},
    ],
)
def test_head_with_another_prompt_agent_or_start_is_another_test(own: dict[str, Any]) -> None:
    keys = {key_of_test("f", row, suite(SCENARIO), ("code",)) for row in (ROW, ROW.model_copy(update=own))}
    assert len(keys) == 2


def test_what_evaluators_and_agents_run_is_part_of_it(folder: Path) -> None:
    found = [printed(folder)]
    files = template_files(folder, SCENARIO, ("DOCSS.md",))
    found += [fingerprint(ROW, files, agent_mark(ROW, "1.0"), code=code) for code in (("a", ""), ("", "a"))]
    assert len(set(found)) == 3


def test_another_definition_agent_or_model_has_another(folder: Path) -> None:
    rows = [
        ROW,
        ROW.model_copy(update={"scenario": SCENARIO.model_copy(update={"prompt": "q"})}),
        ROW.model_copy(update={"agent": DOCS.model_copy(update={"model": "m"})}),
        ROW.model_copy(update={"agent": DOCS.model_copy(update={"max_turns": 3})}),
        ROW.model_copy(update={"key": RowKey(scenario="s", agent="other")}),
    ]
    assert len({printed(folder, row) for row in rows}) == len(rows)
