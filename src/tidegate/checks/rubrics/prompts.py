"""The judge's prompts, from the templates in `judge/`. Every untrusted value is inside a data block."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate.agents.streams import STREAMS
from tidegate.checks.rubrics.asking import Criterion
from tidegate.model.judge import AskModel
from tidegate.text.redaction import masked_secrets
from tidegate.text.safe import printable
from tidegate.text.shorten import both_ends

MAX_PART = 4_000  # characters of one message or output
MAX_TEXT = 60_000  # characters of a whole transcript

_ABOVE = r"(?:/[^/\s'\"`<>|;:]{1,100}){0,12}"
_FOLDERS = re.compile(
    rf"{_ABOVE}/trials/(?:(?:base|head)/)?[^/\n]+/[^/\n]+/\d+/(workspace|home|tmp|record)(?![\w-])"
    rf"|{_ABOVE}/tidegate-\w+/(?:base|head|trials|prepared|agents)(?![\w-])"
)


def anonymous(text: str) -> str:
    """Return the text without folders that name a side or agent, names of models and agents, and well-known secrets."""
    text = _FOLDERS.sub(lambda found: f"/{found[1]}" if found[1] else "/checkout", text)
    return _models().sub("the-agent", masked_secrets(text))


@cache
def _models() -> re.Pattern[str]:
    """Return the pattern of the names of models and agents. It takes longer to compile than most modules to load."""
    names = "|".join(name for stream in STREAMS.values() for name in stream.names)
    after = r"(?:[ -](?:code|cli))?(?:[ -]\d[\w.-]*|-[a-z][\w.-]*)?(?![\w/]|\.\w)"
    return re.compile(rf"(?<![\w./-])(?:{names}){after}", re.IGNORECASE)


def fenced(name: str, text: str, limit: int = MAX_TEXT) -> str:
    """Return the text as a data block that its content cannot end."""
    body = both_ends(anonymous(printable(text)), limit)
    fence = hashlib.sha256(f"{name}\n{body}".encode(errors="replace")).hexdigest()[:16]
    return f"<data {fence} name={name}>\n{body}\n</data {fence}>"


VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
VARIABLES = (
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "input_messages",
    "expected_messages",
    "output_messages",
    "transcript",
    "calls",
    "changes",
)
ANSWERS = frozenset({"candidate_answer", "output_messages", "expected_messages", "transcript", "calls", "changes"})
RESULTS = "EVALUATOR_RESULTS_JSON"

BUILTIN: dict[str, tuple[Criterion, ...]] = {
    "guidance": (
        Criterion(
            id="documentation_sufficiency",
            weight=0.5,
            description="What the agent was given to read was enough: it did not have to guess commands, options or "
            "formats, nor to find out by failing what the documentation should have said.",
        ),
        Criterion(
            id="workflow_clarity",
            weight=0.5,
            description="The agent went a straight way: the steps follow from one another, and it did not find the "
            "right order by trial and error, nor do things twice or undo them.",
        ),
    ),
}

if TYPE_CHECKING:
    from jinja2 import Environment

_WORK = "judge/work.md.j2"  # included by the templates that show a trial
_HERE = "\x00"  # marks the items' position; cleaned data cannot contain it


def question(template: str, schema: dict[str, Any], items: Sequence[str] = (), **values: object) -> AskModel:
    """Return the question made from one of Tidegate's templates. `items` are criteria or similar."""
    text = environment().get_template(f"judge/{template}.md.j2").render(items=_HERE, **values)
    before, here, after = text.partition(_HERE)
    assert bool(here) == bool(items), template
    return AskModel(
        system=system(),
        before=before,
        items=tuple(f"{printable(item)}\n" for item in items),
        after=after,
        answer_schema=schema,
    )


def filled(prompt: str, variables: Mapping[str, str], schema: dict[str, Any]) -> AskModel:
    """Return the question made from a project's own prompt. Each `{{name}}` becomes a data block."""

    def value(found: Any) -> str:
        return fenced(found[1], variables[found[1]])

    own = VARIABLE.sub(value, printable(prompt))
    text = environment().get_template("judge/own.md.j2").render(prompt=own)
    return AskModel(system=system(), before=text, answer_schema=schema)


def wording(template: str, words: str) -> str:
    """Return the SHA-256 of the prompt text for a criterion, without the data of any trial."""
    templates = environment()
    assert templates.loader is not None
    ours, *_ = templates.loader.get_source(templates, f"judge/{template}.md.j2")
    if _WORK in ours:
        ours += templates.loader.get_source(templates, _WORK)[0]
    return hashlib.sha256(json.dumps([system(), ours, words]).encode()).hexdigest()


@cache
def system() -> str:
    """Return the system prompt of every judge."""
    return environment().get_template("judge/system.md.j2").render()


@cache
def environment() -> Environment:
    """Return the templates of prompts, which are plain text."""
    from jinja2 import Environment  # 40 ms

    from tidegate.text.own_templates import environment_of_templates

    made = environment_of_templates(
        Environment,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the reader is a model; data blocks separate the data
    )
    made.filters["fenced"] = lambda text, name, limit=MAX_TEXT: fenced(name, text, limit)
    return made


def prompt_problem(prompt: str, known: Collection[str] = VARIABLES, needed: Collection[str] = ANSWERS) -> str:
    """Return what is wrong with a prompt; '' if nothing is.

    A prompt that shows nothing of the trial is rejected, since the judge could not judge anything.
    """
    names = VARIABLE.findall(prompt)
    if unknown := [name for name in names if name not in known]:
        return f"names `{{{{{unknown[0]}}}}}`; there are {', '.join(known)}"
    if not set(names) & set(needed):
        return f"shows nothing of what is judged: it needs one of {', '.join(sorted(needed))} in double braces"
    return ""
