"""Rubrics that ship with Tidegate, used as `rubric: builtin:NAME`."""

from __future__ import annotations

from tidegate.rubrics.samples import Criterion

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
