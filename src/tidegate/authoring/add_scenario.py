"""Creates a scenario from a stored trial or from a transcript, with the workspace that the agent started with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from tidegate.agents.invocations.from_log import logged_calls
from tidegate.agents.streams import STREAMS, TRANSCRIPTS, StreamName, recognized
from tidegate.authoring.scenario_text import (
    Story,
    file_name,
    flow,
    free_name,
    proposed_gates,
    repeated_text,
    scenario_text,
)
from tidegate.checks.evaluators.assess import gate_answers
from tidegate.checks.measure import measure_trial
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import RESULT_FILE, RUN_FILE, RunFolder, load_run
from tidegate.model.event import Event, Message, ToolCall
from tidegate.model.measurement import TrialResult
from tidegate.model.suite import Scenario, Suite
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.suite.files import read_file
from tidegate.suite.folders import matching_files
from tidegate.trial.environment import PLACEHOLDER
from tidegate.trial.workspace import copy_workspace, initial_state, prepare
from tidegate.trial.workspace_diff import apply_diff

MOST_COMMANDS = 20


@dataclass(frozen=True)
class ScenarioRequest:
    """The arguments of `tidegate add`. None means that the value is taken from the source."""

    source: Path
    name: str | None = None
    prompt: str | None = None
    workspace: Path | None = None
    binary: str | None = None
    format: StreamName | None = None


@dataclass(frozen=True)
class Added:
    """The scenario file that was written, its template folder if it has one, and notes for the user."""

    file: str
    template: str | None
    notes: tuple[str, ...] = ()


def add_scenario(root: Path, suite: Suite, wish: ScenarioRequest) -> Added:
    """Write the scenario below `root` without overwriting any file.

    Raises ConfigurationError if the source is not a measured trial or a readable transcript, or lacks a prompt.
    """
    warnings: tuple[str, ...] = ()
    template, scenario = None, None
    if (wish.source / RESULT_FILE).is_file():
        story, scenario, warnings = _of_trial(root, suite, wish)
    else:
        story = _of_transcript(suite, wish)
    folder = _folder(suite)
    if scenario is not None:
        folder = PurePosixPath(scenario.file).parent.as_posix()
        template = None if scenario.template is None else initial_state(root, scenario.template)
    else:
        story = story.model_copy(update={"target": _tool(suite, story, wish)})
    file = free_name(f"{folder}/{file_name(story.name)}", _stems(root, folder)) + ".yaml"
    start = wish.workspace or template
    own = file.removesuffix(".yaml")
    if start is not None and any(start.iterdir()):
        shutil.copytree(start, root / own, symlinks=True)
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as written:
        written.write(scenario_text(story, file) if scenario is None else _again(root, scenario, story, wish, file))
    return Added(file, own if (root / own).is_dir() else None, warnings)


def list_scenario(root: Path, suite_file: str, file: str) -> bool:
    """Add the file to `scenarios` of the suite file. Return False if its globs match the file already."""
    document = read_file(root, suite_file)
    node = document.node(("scenarios",))
    listed = node.children if node is not None and isinstance(node.children, list) else []
    if not listed or any(file in matching_files(root, str(glob.value)) for glob in listed):
        return False
    last, path = listed[-1].at, root / suite_file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    line = lines[last.line - 1]
    if line.lstrip().startswith("- "):
        lines.insert(last.line, f"{line[: line.index('- ')]}- {flow(file)}\n")
    else:
        end = line.index(listed[-1].written, last.column - 1) + len(listed[-1].written)
        end += line[end : end + 1] in ("'", '"')
        lines[last.line - 1] = f"{line[:end]}, {flow(file)}{line[end:]}"
    path.write_text("".join(lines), encoding="utf-8")
    return True


def _of_trial(root: Path, suite: Suite, wish: ScenarioRequest) -> tuple[Story, Scenario | None, tuple[str, ...]]:
    """Return the story of a stored trial, the scenario that the suite has for it, and warnings."""
    result, run = _stored(wish.source)
    trial, record = run.trial(result.spec), run.record(result.spec)
    if trial is None or result.outcome is None:
        raise ConfigurationError(
            f"{wish.source}: this trial was not measured ({result.reason}).", "Name one in which the agent worked."
        )
    scenario = next((one for one in suite.scenarios if one.name == result.scenario), None)
    revision = load_run(run.folder).revision
    at = datetime.fromtimestamp(trial.started_at, UTC).date().isoformat()
    commands = tuple(f"{call.command} ({call.status})" for call in result.calls)
    story = Story(
        name=_name(suite, wish.name or f"{result.scenario}_{'again' if result.outcome == 'fail' else 'kept'}"),
        description=_described(result, scenario),
        source=f"trial {result.id} of {revision.sha[:12] or revision.ref}, {at}: {result.reason}",
        prompt=_needed(wish.prompt or run.prompt(result.spec), wish.source),
        diff=record.diff,
        succeeded=result.outcome == "pass",
        commands=commands[:MOST_COMMANDS],
    )
    if scenario is None:
        return story, None, (f"the suite has no scenario `{result.scenario}`: target, gates and workspace are unknown",)
    return story, scenario, (*_changed(root, suite, scenario, record.diff), *_proof(suite, scenario, trial, result))


def _proof(suite: Suite, scenario: Scenario, trial: Trial, result: TrialResult) -> Iterator[str]:
    """Yield how the scenario, which the new one repeats, decides on a trial that failed."""
    if result.outcome == "pass":
        return
    answers = gate_answers(scenario.gates, trial.answers)
    again = measure_trial(
        trial.model_copy(update={"answers": answers}), scenario, judge_blocks=suite.policy.judge_blocks
    )
    if again.outcome == "fail":
        yield f"proven: it fails on this trial: {again.reason}"
    else:
        how = "passes" if again.outcome == "pass" else f"does not decide ({again.reason})"
        yield f"it {how} on this trial, which failed with `{result.reason}`: its definition has changed since"


def _again(root: Path, scenario: Scenario, story: Story, wish: ScenarioRequest, file: str) -> str:
    """Return the text of a file like the scenario's own, with everything that it says, for this one attempt."""
    data: Any = read_file(root, scenario.file).data
    if "evalcases" in data:
        return _case_again(data, scenario, story, wish)
    kept = {
        key: value for key, value in data.items() if key not in ("name", "description", "source", "template_folder")
    }
    task = kept["task"] if isinstance(kept["task"], dict) else {"prompt": kept["task"]}
    if wish.prompt or (story.prompt != scenario.prompt.strip() and PLACEHOLDER not in scenario.prompt):
        kept["task"] = {**task, "prompt": story.prompt}
    if wish.binary is not None:
        kept["target"] = {"binary": wish.binary}
    evaluation = dict(kept.pop("evaluation", None) or {})
    proposed = list(proposed_gates(story.diff)) if story.succeeded else []
    gates = [*(evaluation.pop("gates", None) or kept.pop("gates", None) or ()), *proposed]
    if not gates and not scenario.evaluators:
        gates = [{"type": "no_transcript_errors"}]
    kept["evaluation"] = ({"gates": gates} if gates else {}) | evaluation
    named = {"name": story.name, "description": story.description, "source": story.source}
    return repeated_text(named | kept, story, file)


def _case_again(data: Any, scenario: Scenario, story: Story, wish: ScenarioRequest) -> str:
    """Return the text of an eval file with this case alone, and the defaults of its file."""
    dataset, _, identity = scenario.name.rpartition("/")
    case = next(case for case in data["evalcases"] if str(case["id"]) == identity)
    own = story.name.removeprefix(f"{dataset}/")
    messages = {"input_messages": [{"role": "user", "content": wish.prompt}]} if wish.prompt else {}
    again = {**case, "id": own, "note": story.source, **messages}
    return repeated_text({**data, "dataset": dataset, "evalcases": [again]}, story)


def _of_transcript(suite: Suite, wish: ScenarioRequest) -> Story:
    if not wish.source.is_file():
        raise ConfigurationError(
            f"{wish.source} is neither the folder of a stored trial nor a transcript.",
            "Name RUN/trials/SCENARIO/AGENT/N, or a file with an agent's events.",
        )
    text = wish.source.read_text(encoding="utf-8", errors="replace")
    events = STREAMS[wish.format].parse(text) if wish.format else _read_somehow(text, wish.source)
    asked = next((event.text for event in events if isinstance(event, Message) and event.role == "user"), "")
    binary = next((one.target.binary for one in suite.scenarios), "")
    calls = [f"{call.call.program} {' '.join(call.call.argv)}".strip() for call in logged_calls(events, binary)]
    commands = calls or [event.command for event in events if isinstance(event, ToolCall) and event.command]
    return Story(
        name=_name(suite, wish.name or file_name(wish.source.stem)),
        description=f"What {wish.source.name} tells should go well.",
        source=f"transcript {wish.source.name}",
        prompt=_needed(wish.prompt or asked, wish.source),
        commands=tuple(" ".join(command.split()) for command in commands[:MOST_COMMANDS]),
    )


def _stored(folder: Path) -> tuple[TrialResult, RunFolder]:
    """Return the trial's result and its run, which is the nearest parent folder with a run.json."""
    try:
        result = TrialResult.model_validate_json((folder / RESULT_FILE).read_bytes())
    except ValidationError:
        raise ConfigurationError(f"{folder / RESULT_FILE} is damaged.", "Name another trial.") from None
    above = next((parent for parent in folder.resolve().parents if (parent / RUN_FILE).is_file()), None)
    if above is None:
        raise ConfigurationError(f"{folder} is not in a stored run.", "Name a trial's folder in a stored run.")
    return result, RunFolder(above)


def _read_somehow(text: str, source: Path) -> tuple[Event, ...]:
    """Return the events, parsed in the format that recognizes most of the text."""
    found = recognized(text)
    if found is None:
        raise ConfigurationError(
            f"{source} is not a known transcript.",
            f"Say which with --format: {', '.join(TRANSCRIPTS)}.",
        )
    return found[1]


def _needed(prompt: str, source: Path) -> str:
    if not prompt.strip():
        raise ConfigurationError(f"{source} does not contain the agent's prompt.", "Pass it with `--prompt TEXT`.")
    return prompt.strip()


def _tool(suite: Suite, story: Story, wish: ScenarioRequest) -> Target:
    """Return the tool under test: the requested one, else the trial's, else the first one in the suite."""
    if wish.binary is not None:
        return Target(binary=wish.binary)
    if story.target is not None:
        return story.target
    found = next((one.target for one in suite.scenarios if one.target.binary), None)
    if found is None:
        raise ConfigurationError(
            "No scenario of the suite says which tool is under test.", "Name it with `--binary NAME`."
        )
    return found


def _name(suite: Suite, wanted: str) -> str:
    return free_name(wanted, [scenario.name for scenario in suite.scenarios])


def _described(result: TrialResult, scenario: Scenario | None) -> str:
    what = scenario.description if scenario else result.scenario
    return f"{what} (as {result.agent} {'failed to do it' if result.outcome == 'fail' else 'did it'})"


def _folder(suite: Suite) -> str:
    """Return the folder of the suite's scenarios."""
    files = [scenario.file for scenario in suite.scenarios if scenario.target.binary]
    return next((str(Path(file).parent) for file in files), "scenarios")


def _stems(root: Path, folder: str) -> list[str]:
    """Return the paths of the folder's files and template folders, without suffix. New names must differ from them."""
    return [f"{folder}/{path.stem}" for path in (root / folder).glob("*")]


def _changed(root: Path, suite: Suite, scenario: Scenario, diff: str) -> tuple[str, ...]:
    """Return a warning if the trial's diff no longer applies to the scenario's workspace."""
    if not diff:
        return ()
    with tempfile.TemporaryDirectory(prefix="tidegate-") as scratch:
        start = prepare(scenario, root, root, suite.guidance, Path(scratch, "start"))
        copy_workspace(start, Path(scratch, "workspace"))
        fits = apply_diff(Path(scratch, "workspace"), diff.encode("utf-8", "surrogateescape"))
    return () if fits else ("the scenario's workspace has changed since: compare it with that of the trial",)
