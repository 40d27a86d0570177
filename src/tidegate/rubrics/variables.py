"""The variables of a project's own prompt, with AgentV 1.5's names."""

from __future__ import annotations

import re
from collections.abc import Collection

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
