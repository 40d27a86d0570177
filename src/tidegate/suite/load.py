"""Loads a suite from tidegate.yaml and its scenario files, or reports all their problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from tidegate.checks.judges import JUDGE_VARIABLE, judge_of_model
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.judge import Judge, Panel
from tidegate.model.judge_result import Calibration
from tidegate.model.prices import BUILTIN_PRICES
from tidegate.model.suite import Policy, Scenario, Suite, ToolMatrixEntry, TrialCounts
from tidegate.suite.assemble import Assembly
from tidegate.suite.document import Document, KeyPath, Problem
from tidegate.suite.files import read_file, validated
from tidegate.suite.folders import matching_files
from tidegate.suite.scenario_file import ScenarioFile
from tidegate.suite.suite_file import SuiteFile

if TYPE_CHECKING:  # a suite without files of AgentV does without these
    from tidegate.suite.agentv.cases import Cases
    from tidegate.suite.agentv.eval_file import EvalFile

SUITE_FILE = "tidegate.yaml"
CALIBRATION_FILE = "tidegate.calibration.json"


def load_suite(
    root: Path,
    file: str = SUITE_FILE,
    *,
    environ: Mapping[str, str],
    without_secrets: bool = False,
    texts: Path | None = None,
) -> Suite:
    """Return the suite of the checkout at `root`. `file` is relative to it.

    `environ` holds the values for `${NAME}`: only of the variables that base's `pass_env` allows.
    With `without_secrets`, as for forks, missing variables are listed in `target.secrets`; else they are errors.
    `texts`: the checkout with the files that AgentV's prompts contain, if that is another one.
    Raises ConfigurationError with every problem of every file, NothingToRunError if `scenarios` is an empty list.
    """
    document = _suite_document(root, file)
    suite, problems = validated(document, SuiteFile, "suite")
    paths, of_globs = _scenario_paths(root, document)
    assembly = Assembly(root, document, suite, environ, without_secrets) if suite else None
    read = _ScenarioFiles(root, assembly, texts)
    for path in paths:
        read.add(path)
    problems += of_globs + read.problems
    if suite is None or assembly is None:
        raise _refusal(problems, [file, *paths])
    assembly.check_suite(read.matrix)
    loaded, cases = read.scenarios, read.cases
    problems += cases.problems if cases else []
    if loaded and not (problems or assembly.problems):
        assembly.check_scenario_names([one.name for one in loaded])
    problems += assembly.problems
    if problems:
        raise _refusal(problems, [file, *paths])
    if not loaded:
        raise NothingToRunError(f"{file}: `scenarios` is an empty list.", "Name the scenario files there, by globs.")
    return _suite(root, file, suite, loaded, cases, environ)


def _judge(suite: SuiteFile, environ: Mapping[str, str], cases: Cases | None) -> Judge | None:
    """Return the suite's judge, else the one that llm-tool-test's variable names, else that of AgentV's targets."""
    own = Panel.of(suite.judge) if isinstance(suite.judge, tuple) else suite.judge
    model = environ.get(JUDGE_VARIABLE, "").strip()
    return own or (judge_of_model(model) if model else None) or (cases.judge if cases else None)


def try_load_suite(
    root: Path, file: str = SUITE_FILE, *, environ: Mapping[str, str], without_secrets: bool = False
) -> tuple[Suite | None, tuple[str, ...]]:
    """Return the suite of base and no warning, or None and a warning that says why it cannot be used."""
    if not (root / file).exists():
        return None, (f"base has no {file}: head's is used",)
    try:
        return load_suite(root, file, environ=environ, without_secrets=without_secrets), ()
    except (ConfigurationError, NothingToRunError) as error:
        return None, (f"base's suite cannot be used, so head's is: {error.message.splitlines()[0]}",)


def _suite_document(root: Path, file: str) -> Document:
    """Return the suite file's document. Raises ConfigurationError if the file does not exist."""
    document = read_file(root, file)
    if document.root is None and not (root / file).exists():
        advice = "`tidegate init` writes one; or name yours with `--config FILE`."
        raise ConfigurationError.of([str(problem) for problem in document.problems], advice)
    return document


def _scenario_paths(root: Path, document: Document) -> tuple[list[str], list[Problem]]:
    """Return the scenario files in the order of the globs, without duplicates, even if other keys are invalid."""
    globs: JsonValue = document.data.get("scenarios") if isinstance(document.data, dict) else None
    paths: list[str] = []
    problems = []
    for index, pattern in enumerate(globs if isinstance(globs, list) else ()):
        if not isinstance(pattern, str) or not pattern.strip():
            continue  # validation reports it
        try:
            paths += [path for path in matching_files(root, pattern) if path != document.file]
        except ValueError as error:
            problems.append(document.problem(("scenarios", index), f"`{pattern}` {error}"))
    return list(dict.fromkeys(paths)), problems


class _ScenarioFiles:
    """Reads scenario files one after the other, and keeps the scenarios but not the files, which take far more memory.

    Without an assembly, since the suite file is invalid, it only finds the files' own problems.
    """

    def __init__(self, root: Path, assembly: Assembly | None, texts: Path | None = None) -> None:
        self._root = root
        self._texts = texts
        self._assembly = assembly
        self._places: dict[str, str] = {}  # of names
        self.problems: list[Problem] = []
        self.scenarios: list[Scenario] = []
        self.matrix: list[ToolMatrixEntry] = []
        self.cases: Cases | None = None

    def add(self, path: str) -> None:
        """Read a file, and assemble its scenarios."""
        document = read_file(self._root, path)
        file: ScenarioFile | EvalFile | None
        if document.root and "evalcases" in document.root.keys:
            from tidegate.suite.agentv.eval_file import EvalFile  # 60 ms

            file, found = validated(document, EvalFile, "eval")
        else:
            file, found = validated(document, ScenarioFile, "scenario")
        self.problems += [*found, *self._same_names(document, file)]
        if file is not None and self._assembly is not None:
            self._assemble(document, file, self._assembly)

    def _assemble(self, document: Document, file: ScenarioFile | EvalFile, assembly: Assembly) -> None:
        if isinstance(file, ScenarioFile):
            self.matrix += file.tool_matrix
            scenario = assembly.scenario(document, file)
            self.scenarios += [scenario] if scenario else []
            return
        if self.cases is None:
            from tidegate.suite.agentv.cases import Cases  # 90 ms

            self.cases = Cases(self._root, assembly.suite, assembly.environ, assembly.shared_target, self._texts)
        self.scenarios += self.cases.scenarios(document, file)

    def _same_names(self, document: Document, file: ScenarioFile | EvalFile | None) -> Iterator[Problem]:
        """Yield names that an earlier scenario has, whether a file defines one or an eval file defines many."""
        for name, path in _names(document, file):
            place = f"{document.file}:{document.value_at(path).line}"
            other = self._places.setdefault(name, place)
            if other is not place:
                yield document.problem(path, f"`{name}` is already the name of {other}")


def _names(document: Document, file: ScenarioFile | EvalFile | None) -> Iterator[tuple[str, KeyPath]]:
    """Yield the names of the file's scenarios, each with its place, also if other keys of the file are invalid."""
    if file and not isinstance(file, ScenarioFile):
        from tidegate.suite.agentv.cases import case_name  # 100 ms

        for index, case in enumerate(file.evalcases):
            yield case_name(document, file, case), ("evalcases", index, "id")
        return
    node = document.node(("name",))
    if node is not None and isinstance(node.value, str):
        yield node.value, ("name",)


def _refusal(problems: Iterable[Problem], files: list[str]) -> ConfigurationError:
    """Return an error with the problems, sorted by file in reading order, then by position."""
    rank = {file: index for index, file in enumerate(files)}
    ordered = sorted(set(problems), key=lambda problem: (rank.get(problem.file, len(rank)), problem))
    return ConfigurationError.of([str(problem) for problem in ordered])


def _calibration(suite: Path) -> Calibration | None:
    """Return the calibration beside the suite file, or None. Raises ConfigurationError if it cannot be read."""
    path = suite.with_name(CALIBRATION_FILE)
    if not path.exists():
        return None
    try:
        return Calibration.model_validate_json(path.read_bytes() if path.is_file() else "")  # a device has no end
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"{CALIBRATION_FILE} is damaged, or of another version.", "Write it again: `tidegate calibrate LABELS`."
        ) from None


def _suite(
    root: Path,
    file: str,
    suite: SuiteFile,
    scenarios: list[Scenario],
    cases: Cases | None,
    environ: Mapping[str, str],
) -> Suite:
    """Return the suite. Agents of eval files run only the cases that name them."""
    if cases and cases.agents:
        own = tuple(ToolMatrixEntry(tool=name) for name in suite.agents)
        scenarios = [s if s.tool_matrix else s.model_copy(update={"tool_matrix": own}) for s in scenarios]
    fields = {name: getattr(suite, name) for name in Suite.model_fields.keys() & SuiteFile.model_fields.keys()}
    fields |= {
        "agents": {**suite.agents, **(cases.agents if cases else {})},
        "scenarios": tuple(scenarios),
        "trials": TrialCounts(min=suite.trials.min, max=suite.trials.max),
        "judge": _judge(suite, environ, cases),
        "policy": Policy(**dict(suite.policy)),
        "prices": BUILTIN_PRICES if suite.prices == "builtin" else suite.prices,
    }
    return Suite(
        file=file,
        jobs=suite.trials.jobs,
        calibration=_calibration(root / file),
        comment_template=suite.report.comment_template,
        report_hide=suite.report.hide,
        unread=tuple(cases.unread) if cases else (),
        **fields,
    )
