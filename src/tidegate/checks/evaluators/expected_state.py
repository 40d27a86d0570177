"""The evaluator `expected_state`, and text or JSON as an answer to a request."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from tidegate.checks.gates.assertion import parse_json, same, shown
from tidegate.checks.gates.command_gate import what_went_wrong
from tidegate.checks.gates.fields import ShellCommand, WorkspacePath
from tidegate.model.evaluator import Evaluation, Evaluator, EvaluatorRecord, Score
from tidegate.model.judge import ModelAnswer
from tidegate.model.probe import Answer, CommandAnswer, ReadFile, RunCommand
from tidegate.text.shorten import excerpt


def text_of(answer: Answer) -> str:
    """Return a successful command's output, or a file's text. Raises ValueError with the reason if there is none."""
    if isinstance(answer, ModelAnswer):
        raise ValueError("nothing was read")
    if not isinstance(answer, CommandAnswer):
        if answer.text is None:
            raise ValueError(f"the file is {answer.state.replace('_', ' ')}")
        return answer.text
    if not answer.result.ok:
        raise ValueError(what_went_wrong(answer.result))
    if answer.result.truncated:
        raise ValueError("the output was cut: print less")
    return answer.result.stdout


def json_of(answer: Answer) -> Any:
    """Return the same, parsed as JSON. Raises ValueError if it is not JSON."""
    text = text_of(answer)
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"it is not JSON ({excerpt(str(error))}): {excerpt(text, 120) or 'empty'}") from None


_MISSING = object()


class ExpectedState(Evaluator):
    """Compares the state that the trial leaves behind with the `expected` fields. It passes if all of them are equal;
    the score is the share of those that are.

    The state is JSON, printed by `command` or stored in `file`. A field is a path of keys and indexes joined by dots,
    such as `tasks.0.done`. Types must match: 3 equals 3.0, but not "3". If there is no state (the command fails, the
    file is missing, the text is not JSON), the score is 0.
    """

    type: Literal["expected_state"] = "expected_state"
    command: ShellCommand | None = None
    file: WorkspacePath | None = None
    timeout_secs: float = Field(default=30, gt=0, le=86_400)
    expected: dict[str, Any] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.command is None) == (self.file is None):
            raise ValueError("needs `command` or `file`, one of them")
        return self

    def evaluate(self, record: EvaluatorRecord) -> Evaluation:
        """Request the state and compare it field by field.

        Where each field that may name an index was found is noted: `a.0` is in a list, or an object with the key "0" or
        "a.0".
        """
        if self.command is not None:
            answer = yield RunCommand(command=self.command, timeout_secs=self.timeout_secs)
        else:
            answer = yield ReadFile(path=self.file or "")
        try:
            state = json_of(answer)
        except ValueError as error:
            return Score(value=0, reason=f"no state: {error}", misses=tuple(self.expected))
        places = {path: _at(state, path) for path in self.expected}
        found = {path: value for path, (value, _) in places.items()}
        misses = {path: value for path, value in found.items() if not same(value, self.expected[path])}
        reason = "; ".join(
            f"{path} is {_shown(value)}, expected {shown(self.expected[path])}" for path, value in misses.items()
        )
        hits = tuple(path for path in found if path not in misses)
        score = Score(value=len(hits) / len(found), reason=reason, hits=hits, misses=tuple(misses), passes=not misses)
        doubtful = (path for path in found if "." in path or path.isdecimal())
        there = (path for path in doubtful if found[path] is not _MISSING)
        return score.model_copy(update={"notes": tuple(f"{path} is ${places[path][1]}" for path in there)})


def _at(state: Any, path: str) -> tuple[Any, str]:
    """Return the value at a path, and the JSONPath of it. A key that contains a dot is found if it is the whole rest of
    the path.
    """
    if isinstance(state, dict) and path in state:
        return state[path], f"[{path!r}]"
    key, _, rest = path.partition(".")
    match state:
        case dict() if key in state:
            value, place = state[key], f"[{key!r}]"
        case list() if key.isdecimal() and int(key) < len(state):
            value, place = state[int(key)], f"[{key}]"
        case _:
            return _MISSING, ""
    found, inner = _at(value, rest) if rest else (value, "")
    return found, place + inner


def _shown(value: Any) -> str:
    return "missing" if value is _MISSING else shown(value)
