"""Keys of the native dialect, each run for real, with what it does seen in the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import AGENTS_MD, NOTES
from tests.packed import page_data

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
target: {binary: notes, command_pattern: "notes (\\\\S+)", health_check: notes --version, env: {NOTES_MODE: plain}}
agents:
  docs: {type: doc-follower}
  echo: {type: command, command: "echo {prompt}", model: small}
"""
SCENARIO = """\
name: NAME
description: Two notes are kept.
target: from_config
task: {prompt: Add two notes as AGENTS.md says., max_turns: 3}
tool_matrix: [{tool: docs}]
"""
GATE = "evaluation: {gates: [{type: file_contains, path: notes.txt, substring: first}]}\n"
BASE = {"bin/notes": NOTES, "AGENTS.md": AGENTS_MD, "tidegate.yaml": SUITE}


def scenario(name: str, more: str = "", evaluation: str = GATE) -> str:
    return SCENARIO.replace("NAME", name) + more + evaluation


@pytest.fixture
def run(make_repository: Make, tidegate: Make) -> Callable[..., list[dict[str, Any]]]:
    """Runs the suite with these files and options; its trials."""

    def run(files: dict[str, str], *options: str) -> list[dict[str, Any]]:
        repo = make_repository()
        repo.commit(BASE | files)
        ran = tidegate("run", "--json", *options, cwd=repo.root)
        assert ran.code in (0, 1), ran.stderr
        trials: list[dict[str, Any]] = json.loads(ran.stdout)["trials"]
        return trials

    return run


Run = Callable[..., list[dict[str, Any]]]


def test_target_from_config_with_keys_of_its_own(run: Run) -> None:
    own = SCENARIO.replace("NAME", "own").replace("from_config", "{binary: notes, env: {NOTES_MODE: fancy}}")
    gate = 'evaluation: {gates: [{type: command_output_contains, command: "echo $NOTES_MODE", substring: %s}]}\n'
    shared, fancy = run(
        {"scenarios/a.yaml": scenario("shared", "", gate % "plain"), "scenarios/b.yaml": own + gate % "fancy"}
    )
    assert (shared["outcome"], fancy["outcome"]) == ("pass", "pass")
    assert list(shared["subcommands"]) == ["add"]  # by the pattern of tidegate.yaml


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ((), ["a", "b", "c"]),
        (("--tags", "smoke,slow"), ["a", "b"]),
        (("--tags", "slow"), ["b"]),
        (("--tier", "0"), ["a"]),
        (("--tier", "1"), ["a", "b"]),
        (("--tier", "1", "--tags", "slow"), ["b"]),
    ],
)
def test_tags_and_tiers_choose(run: Run, options: tuple[str, ...], chosen: list[str]) -> None:
    files = {
        "scenarios/a.yaml": scenario("a", "tags: [smoke]\n"),
        "scenarios/b.yaml": scenario("b", "tags: [smoke, slow]\ntier: 1\n"),
        "scenarios/c.yaml": scenario("c", "tier: 2\n"),
    }
    assert [trial["scenario"] for trial in run(files, *options)] == chosen


def test_post_scripts_evaluators_and_the_variables_of_llm_tool_test(run: Run) -> None:
    scripts = (
        "scripts:\n"
        "  post: [{command: 'echo $LLM_TOOL_TEST_SCENARIO > $TIDEGATE_FIXTURE_DIR/name.txt'}, {command: 'false'}]\n"
        """  evaluators: [{command: 'echo "{\\"score\\": 0.25, \\"metrics\\": {\\"lines\\": 2}}"', name: lines}]\n"""
    )
    gate = "evaluation: {gates: [{type: file_matches, path: name.txt, pattern: '^a$'}]}\n"
    (trial,) = run({"scenarios/a.yaml": scenario("a", scripts, gate)})
    assert trial["outcome"] == "pass"  # neither the script that failed nor the low score decides
    (lines,) = trial["evaluators"]
    assert (lines["name"], lines["score"], lines["metrics"], lines["weight"]) == ("lines", 0.25, {"lines": 2}, 0)
    assert any("post script `false` failed" in warning for warning in trial["warnings"])


def test_setup_and_a_time_limit(run: Run) -> None:
    slow = SUITE.replace('"echo {prompt}"', "sleep 30")
    text = scenario("slow", "setup: {commands: [notes add zero]}\nrun: {timeout_secs: 1}\n")
    gate = "evaluation: {gates: [{type: file_contains, path: notes.txt, substring: zero}]}\n"
    text = text.replace("{tool: docs}", "{tool: echo}").replace(GATE, gate)
    (trial,) = run({"tidegate.yaml": slow, "scenarios/a.yaml": text}, "--trials", "1")
    assert (trial["end"], trial["outcome"]) == ("timeout", "pass")  # outcomes are what was left behind


def test_where_a_case_comes_from_and_a_capability_are_shown(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    files = {
        "scenarios/a.yaml": scenario("a", 'source: "incident 2026-04-12"\n'),
        "scenarios/b.yaml": scenario("b", "purpose: capability\n"),
    }
    repo.commit(BASE | files)
    repo.branch("break", {"bin/notes": NOTES.replace("add) shift", "append) shift")})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert ran.code == 1
    assert "Source: incident 2026-04-12" in ran.comment
    assert (ran.row("a")["source"], ran.row("b")["purpose"]) == ("incident 2026-04-12", "capability")
    page = json.dumps(page_data((ran.out / "report.html").read_text()))
    assert "the case comes from: incident 2026-04-12" in page
    assert "a capability: measured, never blocks" in page


def test_a_port_is_free_and_the_same_in_all_steps_of_a_trial(run: Run) -> None:
    target = "{binary: notes, env: {PORT: '{port}', ADDRESS: 'localhost:{port}'}}"
    written = SCENARIO.replace("NAME", "port").replace("from_config", target)
    written += "setup: {commands: ['echo $PORT > port']}\n"
    written += "evaluation: {gates: [{type: command_output_matches, command: 'echo $ADDRESS-$(cat port)', "
    written += "pattern: '^localhost:([0-9]+)-\\1$'}]}\n"
    (trial,) = run({"scenarios/a.yaml": written})
    assert trial["outcome"] == "pass", trial["reason"]


def test_the_port_of_a_trial_is_in_its_prompt_and_its_scripts(run: Run) -> None:
    written = SCENARIO.replace("NAME", "port").replace("Add two notes as AGENTS.md says.", "'Use port {port} here'")
    written = written.replace("{tool: docs}", "{tool: echo}")
    written += "setup: {commands: ['echo {port} > port']}\nscripts: {post: [{command: 'echo {port} >> port'}]}\n"
    pattern = "pattern: '^Use port ([0-9]+) here \\1 \\1 \\1$'"
    written += "evaluation: {gates: [{type: command_output_matches, "
    written += f"command: 'echo $(cat said) $(cat port) {{port}}', {pattern}}}]}}\n"
    suite = SUITE.replace('"echo {prompt}"', '"echo {prompt} > said"')
    (trial,) = run({"scenarios/a.yaml": written, "tidegate.yaml": suite}, "--trials", "1")
    assert trial["outcome"] == "pass", trial["reason"]


def test_trials_of_a_serial_scenario_run_alone(make_repository: Make, tidegate: Make) -> None:
    agent = "  slow: {type: command, command: sleep 0.4}\n"
    repo = make_repository()
    files = {f"scenarios/{name}.yaml": scenario(name).replace("docs", "slow") for name in "abc"}
    files["scenarios/b.yaml"] += "serial: true\n"
    repo.commit(BASE | files | {"tidegate.yaml": SUITE + agent + "trials: {min: 2, jobs: 4}\n"})
    assert tidegate("run", "--out", "out", cwd=repo.root).code in (0, 1)
    times = {}
    for record in repo.root.glob("out/trials/*/slow/*/trial.json"):
        trial = json.loads(record.read_text())
        times[trial["spec"]["scenario"], trial["spec"]["index"]] = (
            trial["agent_started_at"],
            trial["agent_started_at"] + trial["duration_s"],
        )
    assert len(times) == 6
    alone = {key: span for key, span in times.items() if key[0] == "b"}
    for key, (start, end) in alone.items():
        assert all(e <= start or end <= s for other, (s, e) in times.items() if other != key)


def test_scenarios_of_one_suite_have_tools_of_their_own(run: Run) -> None:
    """Each trial's calls are those of its own scenario's target."""
    agent = "  two: {type: command, command: 'notes add first; other count; other list'}\n"
    other = SCENARIO.replace("NAME", "other").replace("from_config", "{binary: other}").replace("docs", "two")
    files = {"tidegate.yaml": SUITE + agent, "bin/other": NOTES, "scenarios/b.yaml": other + GATE}
    notes, another, *_ = run(files | {"scenarios/a.yaml": scenario("notes").replace("docs", "two")}, "--trials", "1")
    assert [call["command"].split()[0] for call in notes["calls"]] == ["notes"]
    assert [call["command"].split()[0] for call in another["calls"]] == ["other", "other"]
