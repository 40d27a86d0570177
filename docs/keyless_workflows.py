"""The called workflows for suites whose agents have no key: the others, with the permission for GitHub's OIDC token.

A called workflow cannot ask for more than its caller grants, not even in a job that is skipped. So one file for both
kinds of suites would force the permission on everybody.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".github/workflows"
JOBS = {  # those that run agents
    "pull-request": ("tidegate",),
    "sharded": ("shard", "confirm", "tidegate"),
    "maintainer": ("tidegate",),
    "history": ("history",),
}
PERMISSION = "      id-token: write # the OIDC token that is exchanged for the agents' credentials\n"


def keyless_workflows() -> dict[str, str]:
    """Return name and text of each file."""
    return {f"reusable-{name}-keyless.yml": _keyless(name) for name in JOBS}


def _keyless(name: str) -> str:
    text = (FOLDER / f"reusable-{name}.yml").read_text(encoding="utf-8")
    head, jobs = text.split("\njobs:\n")
    title = re.sub(r"^name: .*", r"\g<0>, without a key", head[head.index("name: ") :])
    parts = re.split(r"^(?=  [\w-]+:)", jobs, flags=re.M)
    for job in JOBS[name]:
        (at,) = (number for number, part in enumerate(parts) if part.startswith(f"  {job}:"))
        parts[at] = re.sub(r"^    permissions:\n(      .*\n)+", rf"\g<0>{PERMISSION}", parts[at], flags=re.M)
    note = f"# Written by `make docs` from reusable-{name}.yml; change that instead. For agents without a key."
    return f"{note}\n{title}\njobs:\n{''.join(parts)}"
