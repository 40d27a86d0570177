"""Render the comment on the pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from tidegate.model.cause import Cause
from tidegate.model.marker import MAX_BYTES as MARKER_BYTES
from tidegate.model.marker import Fixed
from tidegate.model.result import Result
from tidegate.model.revision import Links
from tidegate.model.suite import Hidden
from tidegate.model.value import Value
from tidegate.reports.filters import FILTERS, count
from tidegate.reports.for_agent import for_agent
from tidegate.reports.judge_summary import calibrated
from tidegate.reports.links import Pages
from tidegate.reports.model_filters import PIECES
from tidegate.reports.view import COLUMNS, CommentView, comment_view

if TYPE_CHECKING:
    from jinja2 import Environment, Template


_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_ONE_BLANK_LINE = "\n\n"  # replaces several, so that templates can contain as many as they like
MAX_BYTES = 65_000 - MARKER_BYTES  # of UTF-8, without the marker; GitHub's own limit is 65,536 characters


class Shown(Value):
    """The parts of the comment that fit.

    `detailed`: number of rows per section shown with their evidence; `listed`: number of rows or lines in any list.
    """

    for_agent: bool = True
    unchanged: bool = True
    detailed: int = 1_000
    table: bool = True
    listed: int = 1_000
    left_out: tuple[str, ...] = ()


def comment_body(result: Result, fixed: Fixed | None = None, pages: Pages | None = None, *, notice: str = "") -> str:
    """Return the comment without its marker, in at most MAX_BYTES.

    If it is too long, whole parts are dropped, the least important first, and the comment lists what is missing.
    `fixed` is given when an existing comment is updated, `pages` when it is written by a job on GitHub. `notice` is a
    sentence below the verdict. `github/comment.py` adds the marker, so that no template can lose or forge it.
    """
    told = {"notice": notice, "pages": pages, "for_agent": for_agent(result)}
    view = comment_view(result).model_copy(update=told)
    if result.comment_template is None:
        return _first_that_fits(_template(), view, fixed)
    try:
        text = _first_that_fits(own_template(result.comment_template), view, fixed)
    except Exception as error:  # a template can raise anything, and the verdict must still be reported
        text, problem = "", f"{type(error).__name__}: {error}"
    else:
        problem = "what it makes is too long for a comment" if len(text.encode()) > MAX_BYTES else ""
    if not problem:
        return text
    said = f"report.comment_template was not used: {problem}"
    warned = view.model_copy(update={"warnings": (*view.warnings, said)})
    return _first_that_fits(_template(), warned, fixed)


def terminal_markdown(result: Result, *, verbose: bool = False) -> str:
    """Return the findings for a terminal, which shows the rows and what to do in a summary of its own.

    `verbose`: with the table of all rows.
    """
    view = comment_view(result).model_copy(update={"for_agent": ""})
    return render("terminal.md.j2", view=view, shown=Shown(table=verbose), fixed=None)


def _first_that_fits(template: Template, view: CommentView, fixed: Fixed | None) -> str:
    """Render the comment with as many parts as fit into MAX_BYTES."""
    text = ""
    for shown in _levels(view):
        text = _cleaned(template.render(view=view, shown=shown, fixed=fixed))
        if len(text.encode()) <= MAX_BYTES:
            break
    return text


def _cleaned(body: str) -> str:
    return f"{_BLANK_LINES.sub(_ONE_BLANK_LINE, body).strip()}\n"


def _levels(view: CommentView) -> list[Shown]:
    """Return the levels of detail, from everything down to the verdict and counts."""
    steps: tuple[tuple[str, object, str], ...] = (
        ("for_agent", False, "the text for a coding agent"),
        ("unchanged", False, f"{count(view.ok, 'unchanged row')} of the table"),
        ("detailed", 10, "the evidence of all but the first 10 rows"),
        ("detailed", 0, "evidence and diagnosis of each row"),
        ("table", False, "the table of all rows"),
        ("listed", 50, "all but the first 50 of long lists"),
        ("listed", 10, "all but the first 10 of long lists"),
        ("listed", 0, "every list"),
    )
    levels, left_out = [Shown()], {}
    for part, value, words in steps:
        left_out[part] = words
        levels.append(levels[-1].model_copy(update={part: value, "left_out": tuple(left_out.values())}))
    return levels


@cache
def _template() -> Template:
    return environment().get_template("comment.md.j2")


def render(template: str, **context: object) -> str:
    """Return what a template of ours makes of the context, without surplus blank lines."""
    return _cleaned(environment().get_template(template).render(context))


def fix_text(cause: Cause, view: CommentView) -> str:
    """Return the comment's "To fix" of a cause without links: code is between backticks. '' if there is none."""
    unlinked = view.model_copy(update={"links": Links()})
    return render("fix.md.j2", view=unlinked, shown=Shown(), cause=cause).strip()


def own_template(source: str) -> Template:
    """Return the suite's own template, which extends "comment.md.j2"; raises TemplateError if it is invalid."""
    return environment(sandboxed=True).from_string(source)


def without_blocks(names: Iterable[Hidden]) -> str:
    """Return the text of a template that extends the default one, with these blocks empty."""
    return '{% extends "comment.md.j2" %}' + "".join(f"{{% block {name} %}}{{% endblock %}}" for name in names)


@cache
def environment(*, sandboxed: bool = False) -> Environment:
    """Return the templates in Markdown. A suite's own template needs the sandbox, in which attributes are slow."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from tidegate.text.own_templates import environment_of_templates

    made = environment_of_templates(
        ImmutableSandboxedEnvironment if sandboxed else jinja2.Environment,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the filters escape for Markdown; entities of HTML would be wrong in code
    )
    made.globals["columns"] = COLUMNS
    made.filters |= FILTERS | PIECES | {"calibrated": calibrated}
    return made
