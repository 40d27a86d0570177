"""One attempt to get a broken tool past the check, and the small repository that all attempts begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, NOTES, SCENARIO, SUITE, VERSION

Files = Mapping[str, str | None]


class Link(str):
    """A file that is a symbolic link with this target."""


# `notes add second` does nothing, and exits with 0.
FORGETFUL = NOTES.replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
FILES: dict[str, str] = {
    "bin/notes": NOTES,
    "tidegate.yaml": SUITE,
    "scenarios/keep.yaml": SCENARIO,
    "scenarios/version.yaml": VERSION,  # passes on both sides, so that no suite is red only because nothing passes
    "AGENTS.md": AGENTS_MD,
}


@dataclass(frozen=True)
class Attempt:
    """A pull request, and how the run has to end."""

    does: str  # the pull request …
    ends: str  # the verdict's reason; for exit code 2 a part of the error
    code: int = 1
    base: Files = field(default_factory=dict)  # besides FILES
    head: Files = field(default_factory=dict)
    tool: str | None = FORGETFUL  # on head; None: as on base
    prepare: Callable[[Repository], None] | None = None  # changes what files cannot say, on the branch `pr`
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    why: str = ""  # it is not stopped


def suite(more: str = "", old: str = "", new: str = "") -> dict[str, str]:
    """The suite with more keys, or with a text replaced."""
    return {"tidegate.yaml": SUITE.replace(old, new) + more}


def keep(old: str = "", new: str = "", more: str = "") -> dict[str, str]:
    """The scenario `keep_notes` with a text replaced, or with more keys."""
    assert old in SCENARIO
    return {"scenarios/keep.yaml": SCENARIO.replace(old, new) + more}


def agent(text: str) -> dict[str, str]:
    """The suite with this agent instead of the doc-follower."""
    return suite(old="{type: doc-follower}", new=f"{{{text}}}")


def graded(*gates: str) -> dict[str, str]:
    """The scenario `keep_notes` with these gates."""
    head, _, _ = SCENARIO.partition("evaluation:")
    return {"scenarios/keep.yaml": head + "evaluation:\n  gates:\n" + "".join(f"    - {{{gate}}}\n" for gate in gates)}
