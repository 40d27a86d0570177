"""Write the generated pages from the docstrings and fields of the models; `--check` only compares."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from architecture_page import architecture
from attempts_page import attempts, security
from cli_page import cli
from escapes_page import escapes
from executors_page import EXECUTORS
from judges_page import JUDGES
from mutants_table import prove_page
from native_action import native_action
from providers_page import PROVIDERS
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tidegate.agents import AnyAgent
from tidegate.agents.providers import AnyProvider
from tidegate.checks.evaluators import AnyEvaluator
from tidegate.checks.gates import AnyGate
from tidegate.checks.judges import AnyJudge
from tidegate.executors import AnyExecutor
from tidegate.model.agent import Agent
from tidegate.model.evaluator import Evaluator
from tidegate.model.executor import Executor
from tidegate.model.gate import Gate
from tidegate.model.judge import Judge
from tidegate.model.marker import Fixed
from tidegate.model.provider import ModelProvider
from tidegate.model.value import Family
from tidegate.reports.comment import Shown
from tidegate.reports.filters import FILTERS
from tidegate.reports.model_filters import PIECES
from tidegate.reports.view import CommentView

FOLDER = Path(__file__).parent
START, END = "<!-- keys: written by `make docs` from the docstrings -->\n", "<!-- end of keys -->\n"

GATES = """# Gates

A gate is a pass/fail check on what a trial left behind. All gates of a scenario are evaluated, in order, even after one
fails; a trial passes if all required gates pass. A gate that cannot be evaluated (its command timed out, its file is
not text) fails, and its message gives the reason. Commands run with `sh -c` in the workspace, with the side's `path`.
"""

EVALUATORS = """# Evaluators

An evaluator gives a score from 0 to 1: 0.8 or more passes, 0.6 or more is borderline, less fails. The case score is the
mean of the scores by `weight`. A trial passes only if its case score is 0.8 or more and if all `required` evaluators
and all required gates pass. What could not be measured never counts as 0: where it matters, the trial is not measured.
List evaluators in a scenario's `evaluation.evaluators`.
"""

AGENTS = """# Agents

An agent runs the scenario's task, once per trial, in a fresh workspace. Name your agents in `tidegate.yaml`:

```yaml
agents:
  docs: {type: doc-follower}
  claude: {type: claude-code, model: claude-haiku-4-5, max_turns: 30}
```

Agents that are programs, such as `claude-code`, need theirs on PATH, and their key in the environment or a
[`provider`](providers.md). Tidegate reports what is missing before any trial. The program gets a token of the model
proxy, never the key ([security](security.md)). `args` are added to the arguments that Tidegate passes; `version` pins
the program's version. Its whole output is kept in the trial's folder.
"""


TEMPLATES = """# Custom templates

`report: {comment_template: .github/comment.md.j2}` in `tidegate.yaml` changes the comment. The file is Jinja, runs in a
sandbox, and extends ours; what it does not replace stays:

```jinja
{% extends "comment.md.j2" %}
{% block footer %}{{ super() }}
Questions: #agents on our chat.
{% endblock %}
```

To leave sections out, list them: `report: {hide: [cost, judge]}`. These can go: `improvements`, `table`, `judge`,
`diagnosis`, `cost`.

Blocks, from top to bottom: `heading` (with `advice` in it), `definitions`, `regressions`, `inconclusive`,
`improvements`, `table`, `judge`, `diagnosis`, `cost`, `footer`. The marker on line 1 is added
afterwards. The file is read from the base branch, so
that no pull request rewrites its own verdict. If a template fails or makes a comment that is too long, the default is
used, and the comment reports that.

Everything that an agent, a scenario or a pull request wrote has to pass one of the filters `cell`, `code` and `fenced`,
or it can forge Markdown. A template sees `view` (CommentView), `shown` (Shown) and `fixed` (Fixed, or none):
"""


def templates() -> str:
    """The page about comment templates: every model that one sees, and every filter."""
    models: dict[str, type[BaseModel]] = {}
    for model in (CommentView, Shown, Fixed):
        _collect(model, models)
    parts = [TEMPLATES, START]
    for name, seen in models.items():
        fields = "".join(f"| `{key}` | {_type(field.annotation)} |\n" for key, field in seen.model_fields.items())
        parts.append(f"## {name}\n\n{inspect.getdoc(seen)}\n\n| field | value |\n|---|---|\n{fields}")
    filters = sorted((FILTERS | PIECES).items())
    rows = "".join(f"| `{name}` | {_first_line(made)} |\n" for name, made in filters)
    parts.append(f"## Filters\n\n| filter | makes |\n|---|---|\n{rows}")
    return "\n".join([*parts, END])


def _first_line(made: Any) -> str:
    return (inspect.getdoc(made) or "").splitlines()[0].replace("|", "\\|")


def _collect(annotation: Any, models: dict[str, type[BaseModel]]) -> None:
    """Every model that a value of this type can lead to, each once, in the order of its first mention."""
    is_model = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
    if is_model and annotation.__name__ not in models:
        models[annotation.__name__] = annotation
        for field in annotation.model_fields.values():
            _collect(field.annotation, models)
    for argument in get_args(annotation):
        _collect(argument, models)


def _type(annotation: Any) -> str:
    """A type as authors of templates call it."""
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None:
            return {NoneType: "none", Any: "anything", Ellipsis: "…"}.get(annotation, _PLAIN.get(annotation, "")) or (
                f"[{annotation.__name__}](#{annotation.__name__.lower()})"
            )
        case origin if origin is Annotated:
            return _type(arguments[0])
        case origin if origin is Literal:
            return " or ".join(f"`{value}`" for value in arguments)
        case origin if origin in (Union, UnionType):
            return " or ".join(_type(each) for each in arguments)
        case origin if origin is dict:
            return f"{_type(arguments[0])} → {_type(arguments[1])}"
        case _ if arguments[-1] is Ellipsis:
            return f"list of {_type(arguments[0])}"
        case _:
            return f"({', '.join(map(_type, arguments))})"


_PLAIN: dict[Any, str] = {str: "text", bool: "true or false", int: "whole number", float: "number"}


def members(family: Any) -> dict[str, type[BaseModel]]:
    """The members of a family by their `type`."""
    found: Family = get_args(family)[1]
    return {**found.members}


def page(title: str, base: type[BaseModel], family: Any) -> str:
    """The whole page of one family: the keys that all have, then one heading for each."""
    common = _keys(base, without=frozenset({"type"}))
    parts = [title, START, *([f"All of them accept:\n\n{common}"] if common else [])]
    for name, member in members(family).items():
        parts += [f"## `{name}`\n", f"{inspect.getdoc(member)}\n"]
        if own := _keys(member, without=frozenset(base.model_fields)):
            parts.append(own)
    return "\n".join([*parts, END])


def _keys(model: type[BaseModel], without: frozenset[str]) -> str:
    rows = [
        f"| `{field.alias or name}` | {_words(field.annotation)} | {_default(field)} |\n"
        for name, field in model.model_fields.items()
        if name not in without
    ]
    return "".join(["| key | value | default |\n|---|---|---|\n", *rows]) if rows else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    match field.get_default(call_default_factory=True):
        case None:
            return "–"
        case BaseModel() as value:
            return f"`{{type: {value.model_dump()['type']}}}`"
        case bool() as value:
            return f"`{str(value).lower()}`"
        case dict() | list() | tuple() as value if not value:
            return "empty"
        case value:
            return f"`{value}`"


def _words(annotation: Any) -> str:
    """A type as users of YAML call it."""
    if annotation is Any:
        return "anything"
    if annotation == Union[tuple(members(AnyEvaluator).values())]:  # noqa: UP007  (not known before)
        return "evaluator"
    simple = {str: "text", bool: "true or false", int: "whole number", float: "number"}
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None if issubclass(annotation, ModelProvider):
            return "[provider](providers.md)"
        case None if issubclass(annotation, BaseModel):
            return "`{" + ", ".join(annotation.model_fields) + "}`"
        case None:
            return simple[annotation]
        case origin if origin is Annotated:
            return _words(arguments[0])
        case origin if origin is Literal:
            return " or ".join(f"`{value}`" for value in arguments)
        case origin if origin in (Union, UnionType):
            return " or ".join(dict.fromkeys(_words(each) for each in arguments if each is not NoneType))
        case origin if origin is dict:
            return f"names → {_words(arguments[1])}"
        case _:
            return f"list of {_words(arguments[0])}".replace("number", "numbers")


def main() -> int:
    """Write the pages; with `--check` write nothing and fail if one would change."""
    check = sys.argv[1:] == ["--check"]
    pages = {
        "gates.md": page(GATES, Gate, AnyGate),
        "evaluators.md": page(EVALUATORS, Evaluator, AnyEvaluator),
        "agents.md": page(AGENTS, Agent, AnyAgent),
        "judges.md": page(JUDGES, Judge, AnyJudge),
        "executors.md": page(EXECUTORS, Executor, AnyExecutor),
        "providers.md": page(PROVIDERS, ModelProvider, AnyProvider),
        "templates.md": templates(),
        "cli.md": cli(),
        "../CONTRIBUTING.md": architecture(),
        "security.md": escapes(security()),
        "attempts.md": attempts(),
        "prove.md": prove_page(),
        "../native/action.yml": native_action(),
    }
    stale = []
    for name, text in pages.items():
        path = FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"docs/{name} {'is stale: run `make docs`' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
