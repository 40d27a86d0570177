"""Turns the cases of an AgentV eval file into scenarios, and finds the agents that run them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import ValidationError

from tidegate.agents.agentv_cli import AgentVCli, CliCase
from tidegate.checks.evaluators.llm_judge import LlmJudge
from tidegate.checks.evaluators.rubrics import Rubrics
from tidegate.model.agent import Agent
from tidegate.model.evaluator import Case, Evaluator
from tidegate.model.judge import Judge
from tidegate.model.suite import Scenario, ToolMatrixEntry
from tidegate.model.target import Target
from tidegate.suite.agentv.eval_file import AgentVConfigFile, CaseFile, EvalFile, MessageFile, PartFile, TargetsFile
from tidegate.suite.agentv.targets import PLACES, Targets
from tidegate.suite.document import Document, KeyPath, Problem
from tidegate.suite.files import read_file, validated
from tidegate.suite.folders import find_named
from tidegate.suite.named_files import NamedFiles
from tidegate.suite.plan import did_you_mean
from tidegate.suite.suite_file import SuiteFile

DEFAULT_TARGET = "default"


@dataclass
class _CaseText:
    """The text of a case's input messages, and the files that they refer to. Paths are relative to the root."""

    question: str = ""
    reference: str = ""  # the question, with files only named
    texts: str = ""
    guidelines: str = ""
    guideline_files: list[str] = field(default_factory=list)
    input_files: list[str] = field(default_factory=list)


class Cases:
    """Builds scenarios from eval files. `agents` holds the targets.yaml agents that the cases use."""

    def __init__(
        self,
        root: Path,
        suite: SuiteFile,
        environ: Mapping[str, str],
        tool: Callable[[], Target],
        texts: Path | None = None,
    ) -> None:
        """`texts`: the checkout with the files that prompts contain, if that is not the one at `root`."""
        self._root = root
        self._texts = texts or root
        self._suite = suite
        self._environ = environ
        self._tool = cache(tool)
        self._targets: dict[str, Targets | None] = {}
        self.agents: dict[str, Agent] = {}
        self.judge: Judge | None = None  # of the first target whose `judge_target` is a model
        self.unread: list[str] = []  # one sentence for each judge_target that cannot be the judge
        self.problems: list[Problem] = []

    def scenarios(self, document: Document, file: EvalFile) -> list[Scenario]:
        """Return the file's cases as scenarios named `dataset/id`. Cases with problems are left out."""
        found = []
        for index, case in enumerate(file.evalcases):
            before = len(self.problems)
            scenario = self._scenario(document, file, case, ("evalcases", index))
            if len(self.problems) == before:
                found.append(scenario)
        return found

    def _scenario(self, document: Document, file: EvalFile, case: CaseFile, path: KeyPath) -> Scenario:
        name = case_name(document, file, case)
        told = self._told(document, case, path)
        reference = self._reference(document, case.expected_messages, (*path, "expected_messages"))
        evaluators = self._evaluators(document, file, case, path)
        agent = self._agent(document, file, case, path)
        if agent is not None and isinstance(cli := self.agents.get(agent), AgentVCli):
            own = CliCase(
                eval_id=case.id,
                question=told.reference,
                guidelines=told.guidelines,
                files=(*told.guideline_files, *told.input_files),
            )
            self.agents[agent] = cli.model_copy(update={"cases": {**cli.cases, name: own}})
        outcome = case.expected_outcome or case.outcome or ""
        return Scenario(
            name=name,
            description=case.description or outcome or file.description or case.id,
            file=document.file,
            target=self._tool(),
            prompt="\n\n".join(filter(None, (told.guidelines, told.question))),
            evaluators=evaluators,
            case=Case(
                question=told.texts,
                expected_outcome=outcome,
                reference_answer=reference,
                input_messages=tuple(_plain(message) for message in case.input_messages),
                expected_messages=tuple(_plain(message) for message in case.expected_messages),
                guideline_files=tuple(told.guideline_files),
                input_files=tuple(told.input_files),
                conversation_id=case.conversation_id,
            ),
            tool_matrix=(ToolMatrixEntry(tool=agent),) if agent is not None else (),
        )

    # --- evaluators

    def _evaluators(self, document: Document, file: EvalFile, case: CaseFile, path: KeyPath) -> tuple[Evaluator, ...]:
        """Return the case's evaluators, or the file's if the case has no `evaluators` key.

        The case's `rubrics` come first, as one evaluator. Without any evaluator, an LLM judge scores the answer.
        """
        if case.execution.evaluators is not None:
            chosen, place = case.execution.evaluators, (*path, "execution", "evaluators")
        elif case.evaluators is not None:
            chosen, place = case.evaluators, (*path, "evaluators")
        else:
            chosen, place = file.execution.evaluators or (), ("execution", "evaluators")
        files = NamedFiles(self._root, document)
        rubrics = self._rubrics(document, case, path)
        found = files.resolved(chosen, place, [one.label for one in rubrics])
        self.problems += [problem for problem in files.problems if problem not in self.problems]
        return (*rubrics, *found) or (LlmJudge(),)

    def _rubrics(self, document: Document, case: CaseFile, path: KeyPath) -> tuple[Rubrics, ...]:
        if case.rubrics is None:
            return ()
        try:
            return (Rubrics(rubrics=case.rubrics),)
        except ValidationError as error:
            self._complain(document, (*path, "rubrics"), str(error.errors()[0]["ctx"]["error"]))
            return ()

    # --- agent

    def _agent(self, document: Document, file: EvalFile, case: CaseFile, path: KeyPath) -> str | None:
        """Return the name of the case's agent, from tidegate.yaml or else from targets.yaml.

        None means that every agent of tidegate.yaml runs the case: no agent is named and there is no targets.yaml.
        """
        asked: list[tuple[str | None, KeyPath]] = [
            (case.execution.target, (*path, "execution", "target")),
            (case.target, (*path, "target")),
            (file.execution.target, ("execution", "target")),
            (file.target, ("target",)),
        ]
        name, place = next(((name, place) for name, place in asked if name), (None, path))
        if name in self._suite.agents:
            return name
        targets = self._targets_of(document)
        if targets is None and name is None:
            return None
        known = targets.names if targets else []
        wanted = name or DEFAULT_TARGET
        if targets is None or wanted not in known:
            hint = did_you_mean(wanted, [*known, *self._suite.agents])
            self._complain(document, place, f"there is no target `{wanted}` in targets.yaml or tidegate.yaml{hint}")
            return None
        if wanted not in self.agents:
            before, folder = len(targets.problems), PurePosixPath(document.file).parent.as_posix()
            agent = targets.agent(wanted, folder)
            self._add_judge(targets, wanted)
            self.problems += targets.problems[before:]
            if agent is not None:
                self.agents[wanted] = agent
        return wanted

    def _add_judge(self, targets: Targets, name: str) -> None:
        """Use the judge of the target `name`, if it is the first one."""
        named = targets.entry(name).judge_target
        if named is None or self.judge is not None:
            return
        if named in targets.names and targets.is_model(named):
            self.judge = targets.judge(named)
        else:
            why = "it is not a model in targets.yaml; name a judge in tidegate.yaml"
            self.unread.append(f"judge_target: `{named}` of the target `{name}` is not read: {why}")

    def _targets_of(self, document: Document) -> Targets | None:
        """Return the nearest targets file, searched from the eval file's folder up to the root."""
        place = self._nearest(document, PLACES)
        if place is None:
            return None
        if place not in self._targets:
            read = read_file(self._root, place)
            file, problems = validated(read, TargetsFile, "targets")
            self.problems += problems
            self._targets[place] = (
                Targets(read, file, self._suite.pass_env, self._environ, self._root, []) if file is not None else None
            )
        return self._targets[place]

    def _nearest(self, document: Document, names: tuple[str, ...]) -> str | None:
        folders = PurePosixPath(document.file).parents
        places = ((folder / name).as_posix() for folder in folders for name in names)
        return next((place for place in places if (self._root / place).is_file()), None)

    # --- messages

    def _told(self, document: Document, case: CaseFile, path: KeyPath) -> _CaseText:
        told = _CaseText()
        patterns = self._guideline_patterns(document)
        turns: list[Turn] = [(message.role, []) for message in case.input_messages]
        guidelines: list[str] = []
        for where, part in _parts(case.input_messages):
            parts = turns[int(where[0])][1]
            if part.type == "text":
                parts.append(MessagePart(part.value, part.value))
                continue
            found = self._file(document, part.value, (*path, "input_messages", *where), (self._texts, self._root))
            if found is None:
                continue
            file, content = found
            if any(fnmatch(name, pattern) for name in (file, part.value) for pattern in patterns):
                told.guideline_files.append(file)
                guidelines.append(tagged(PurePosixPath(file).name, content))
                parts.append(MessagePart.attached(part.value))
            else:
                told.input_files.append(file)
                parts.append(MessagePart(tagged(part.value, content), f'<file: path="{part.value}">'))
        told.question, told.reference = conversation(turns), conversation(turns, named=True)
        told.texts = " ".join(
            filter(None, (part.value.strip() for _, part in _parts(case.input_messages) if part.type == "text"))
        )
        told.guidelines = "\n\n".join(guidelines)
        return told

    def _reference(self, document: Document, messages: tuple[MessageFile, ...], path: KeyPath) -> str:
        """Return the last expected message as text, or its tool calls as JSON if it has no content.

        The files of all expected messages are read, so that a missing one is a problem.
        """
        texts: dict[int, list[str]] = {}
        for where, part in _parts(messages):
            found = self._file(document, part.value, (*path, *where)) if part.type == "file" else None
            texts.setdefault(int(where[0]), []).append(found[1] if found else part.value)
        last = len(messages) - 1
        if last in texts:
            return "\n".join(texts[last])
        called = messages[-1].tool_calls if messages else ()
        return json.dumps(called, ensure_ascii=False, indent=2) if called else ""

    def _guideline_patterns(self, document: Document) -> tuple[str, ...]:
        place = self._nearest(document, (".agentv/config.yaml",))
        if place is None:
            return ()
        file, problems = validated(read_file(self._root, place), AgentVConfigFile, "agentv-config")
        self.problems += [problem for problem in problems if problem not in self.problems]
        return file.guideline_patterns if file else ()

    def _file(self, document: Document, name: str, path: KeyPath, roots: Sequence[Path] = ()) -> tuple[str, str] | None:
        """Return a file's path relative to the root, and its text. Look beside the eval file, then at the root.

        `roots`: the checkouts that may have it; the first that does is read.
        """
        folder = PurePosixPath(document.file).parent.as_posix()
        root, *others = roots or (self._root,)
        try:
            try:
                place = find_named(root, (folder, ""), name.lstrip("/"))
            except ValueError:
                if not others:
                    raise
                return self._file(document, name, path, others)
            inside = (root / place).resolve().relative_to(root.resolve()).as_posix()
            return inside, (root / place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            self._complain(document, path, f"{name} cannot be read as text")
        except ValueError as error:
            self._complain(document, path, str(error))
        return None

    def _complain(self, document: Document, path: KeyPath, what: str) -> None:
        self.problems.append(document.problem(path, what))


def case_name(document: Document, file: EvalFile, case: CaseFile) -> str:
    """Return the name of a case's scenario: `dataset/id`. The default of `dataset` is the file's path."""
    return f"{file.dataset or document.file.removesuffix('.yaml').removesuffix('.yml')}/{case.id}"


def _parts(messages: tuple[MessageFile, ...]) -> Iterator[tuple[KeyPath, PartFile]]:
    """Yield each part of each message with its key path. Structured content becomes JSON text."""
    for number, message in enumerate(messages):
        match message.content:
            case str() as text if text.strip():
                yield (number, "content"), PartFile(type="text", value=text)
            case tuple() as parts:
                for index, part in enumerate(parts):
                    yield (number, "content", index, "value"), part
            case dict() as structured:
                yield (
                    (number, "content"),
                    PartFile(type="text", value=json.dumps(structured, ensure_ascii=False, indent=2)),
                )
            case _:
                pass


def _plain(message: MessageFile) -> dict[str, Any]:
    return message.model_dump(mode="json", exclude_defaults=True) | {"role": message.role}


class MessagePart(NamedTuple):
    """A part of a message: its text, the text that only names a file, and whether it says something by itself."""

    text: str
    name: str
    says: bool = True

    @classmethod
    def attached(cls, file: str) -> MessagePart:
        """Return the note that a guideline file belongs to the message; its content is told apart."""
        return cls(f"<Attached: {file}>", f"<Attached: {file}>", says=False)


Turn = tuple[str, list[MessagePart]]
"""A message: its role, and its parts."""


def conversation(turns: Sequence[Turn], *, named: bool = False) -> str:
    """Return the messages as one text. With `named`, files are named and not quoted.

    If several messages say something, or one is not from the user's side, each begins with its role: `@[System]:`.
    """
    spoken = [(role, parts) for role, parts in turns if any(part.says and part.text.strip() for part in parts)]
    texts = [(role, [part.name if named else part.text for part in parts]) for role, parts in spoken]
    if len(spoken) > 1 or any(role in ("assistant", "tool") for role, _ in turns):
        return "\n\n".join(f"@[{role.capitalize()}]:\n" + "\n".join(parts) for role, parts in texts).strip()
    single = [part.name if named else part.text for _, parts in turns for part in parts]
    return "\n\n".join(filter(None, map(str.strip, single)))


def tagged(path: str, content: str) -> str:
    """Return the content of a file between tags with its path."""
    return f'<file path="{path}">\n{content.strip()}\n</file>'
