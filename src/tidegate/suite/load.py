"""Loads a suite from tidegate.yaml and its scenario files, or reports all their problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from tidegate.checks.judges import JUDGE_VARIABLE, judge_of_model
from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.agent import Agent
from tidegate.model.calibration import Calibration
from tidegate.model.judge import MOST_JUDGES, Judge, Panel
from tidegate.model.prices import BUILTIN_PRICES
from tidegate.model.suite import Policy, Scenario, Suite, ToolMatrixEntry, TrialCounts
from tidegate.suite.assemble import Assembly
from tidegate.suite.files import Files
from tidegate.suite.folders import matching_files
from tidegate.suite.plan import did_you_mean
from tidegate.suite.scenario_file import ScenarioFile
from tidegate.suite.suite_file import SuiteFile
from tidegate.suite.yaml.document import Document, KeyPath, Problem

if TYPE_CHECKING:  # a suite without files of AgentV does without these
    from tidegate.suite.agentv.cases import Cases
    from tidegate.suite.agentv.eval_file import EvalFile

SUITE_FILE = "tidegate.yaml"
CALIBRATION_FILE = "tidegate.calibration.json"


_NEEDED = ("target", "tool_matrix")  # without these, other keys of a scenario would seem wrong


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
    files = Files(root)
    document = _suite_document(files, file)
    suite, problems = files.validated(document, SuiteFile, "suite")
    paths, of_globs = _scenario_paths(root, document)
    assembly = Assembly(root, document, suite, environ, without_secrets) if suite else None
    read = _ScenarioFiles(files, assembly, texts)
    for path in paths:
        read.add(path)
    problems += of_globs + read.problems
    if suite is None or assembly is None:
        raise _refusal(root, problems, [file, *paths])
    assembly.check_suite(read.matrix)
    loaded, cases = read.scenarios, read.cases
    problems += cases.problems if cases else []
    if loaded and not (problems or assembly.problems):
        assembly.check_scenario_names([one.name for one in loaded])
    problems += assembly.problems
    if problems:
        raise _refusal(root, problems, [file, *paths])
    _refuse_nothing(file, loaded)
    judge, unread = _judge(suite, environ, cases), tuple(cases.judges.unread) if cases else ()
    more = {"judge": judge, "calibration": _calibration(root / file), "unread": unread}
    return _suite(file, suite, loaded, cases.agents if cases else {}).model_copy(update=more)


def _refuse_nothing(file: str, loaded: Sequence[object]) -> None:
    if not loaded:
        raise NothingToRunError(f"{file}: `scenarios` is an empty list.", "Name the scenario files there, by globs.")


def _judge(suite: SuiteFile, environ: Mapping[str, str], cases: Cases | None) -> Judge | None:
    """Return the suite's judge, else the one that the environment names, else that of AgentV's targets."""
    own = Panel.of(suite.judge) if isinstance(suite.judge, tuple) else suite.judge
    return own or _named_judge(environ) or (cases.judges.judge if cases else None)


def judge_place(root: Path, file: str, model: str) -> str:
    """Return where the suite file names that model as a judge, as `file:line:column: key: `; '' if it does not."""
    document = Files(root).document(file)
    paths: list[KeyPath] = [("judge", "model"), *(("judge", number, "model") for number in range(MOST_JUDGES))]
    found = (path for path in paths if (node := document.node(path)) is not None and node.value == model)
    return next((str(document.problem(path, "")) + ": " for path in found), "")


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


def _suite_document(files: Files, file: str) -> Document:
    """Return the suite file's document. Raises ConfigurationError if the file does not exist."""
    document = files.document(file)
    if document.root is None and not (files.root / file).exists():
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

    def __init__(self, files: Files, assembly: Assembly | None, texts: Path | None = None) -> None:
        self._files = files
        self._texts = texts
        self._assembly = assembly
        self._places: dict[str, str] = {}  # of names
        self.problems: list[Problem] = []
        self.scenarios: list[Scenario] = []
        self.matrix: list[ToolMatrixEntry] = []
        self.cases: Cases | None = None

    def add(self, path: str) -> None:
        """Read a file, and assemble its scenarios."""
        document = self._files.document(path)
        file: ScenarioFile | EvalFile | None
        if _is_eval_file(document):
            from tidegate.suite.agentv.eval_file import EvalFile  # 60 ms

            file, found = self._files.validated(document, EvalFile, "eval")
        else:
            file, found = self._files.validated(document, ScenarioFile, "scenario")
            if file is None:
                file = self._files.partly(document, ScenarioFile, found, _NEEDED)
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

            files = self._files
            suite, tool = assembly.suite, assembly.shared_target
            self.cases = Cases(files.root, suite, assembly.environ, files.read, tool, self._texts)
        self.scenarios += self.cases.scenarios(document, file)

    def _same_names(self, document: Document, file: ScenarioFile | EvalFile | None) -> Iterator[Problem]:
        """Yield names that an earlier scenario has, whether a file defines one or an eval file defines many."""
        for name, path in _names(document, file):
            place = f"{document.file}:{document.value_at(path).line}"
            other = self._places.setdefault(name, place)
            if other is not place:
                yield document.problem(path, f"`{name}` is already the name of {other}")


def _is_eval_file(document: Document) -> bool:
    """Return True if the file has `evalcases`, or no key of a scenario and a misspelled `evalcases`."""
    keys = set(document.root.keys) if document.root else set()
    if "evalcases" in keys or not keys.isdisjoint(("name", "target", "task")):
        return "evalcases" in keys
    return any(did_you_mean(key, ["evalcases"]) for key in keys)


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


def _refusal(root: Path, problems: Iterable[Problem], files: list[str]) -> ConfigurationError:
    """Return an error with the problems and their source lines, sorted by file in reading order, then by position."""
    rank = {file: index for index, file in enumerate(files)}
    ordered = sorted(set(problems), key=lambda problem: (rank.get(problem.file, len(rank)), problem))
    sources = {file: _source(root / file) for file in {problem.file for problem in ordered if problem.line}}
    excerpts = [problem.excerpt(sources.get(problem.file, "")) for problem in ordered]
    return ConfigurationError.of([str(problem) for problem in ordered], excerpts=excerpts)


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""


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


def _named_judge(environ: Mapping[str, str]) -> Judge | None:
    """Return the judge that llm-tool-test's environment variable names, or None."""
    model = environ.get(JUDGE_VARIABLE, "").strip()
    return judge_of_model(model) if model else None


def _suite(file: str, suite: SuiteFile, scenarios: list[Scenario], targets: dict[str, Agent]) -> Suite:
    """Return the suite. `targets` are agents of single cases; scenarios without a tool matrix do not use them."""
    own = tuple(ToolMatrixEntry(tool=name) for name in suite.agents)
    if targets:
        scenarios = [s if s.tool_matrix else s.model_copy(update={"tool_matrix": own}) for s in scenarios]
    return Suite(
        file=file,
        watch=suite.watch,
        guidance=suite.guidance,
        build=suite.build,
        path=suite.path,
        agents={**suite.agents, **targets},
        scenarios=tuple(scenarios),
        trials=TrialCounts(min=suite.trials.min, max=suite.trials.max),
        jobs=suite.trials.jobs,
        budget=suite.budget,
        policy=Policy(**dict(suite.policy)),
        limits=suite.limits,
        pass_env=suite.pass_env,
        store=suite.store,
        executor=suite.executor,
        prices=BUILTIN_PRICES if suite.prices == "builtin" else suite.prices,
        model_proxy=suite.model_proxy,
        network=suite.network,
        files=suite.files,
        diagnosis=suite.diagnosis,
        comment_template=suite.report.comment_template,
        report_hide=suite.report.hide,
    )
