"""Says what a first suite protects of a program, and what it does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from tidegate.authoring import observed_gates
from tidegate.authoring.examples import Candidate
from tidegate.authoring.found import Found
from tidegate.model.surface import Part

MOST_NAMED = 12  # parts that are not reached


def left_out(found: Mapping[str, Found]) -> tuple[str, ...]:
    """Return notes about the lines of the docs that failed."""
    documented = {name: one for name, one in found.items() if name not in ("main_use", "subcommands", "phrases")}
    lost = [f"{name}: `{line}`: {why}" for name, one in documented.items() for line, why in one.failed]
    if not lost:
        return ()
    count = len(lost) + sum(len(one.of("call")) for one in documented.values())
    advice = "Fix the docs, or give the tool what it needs (`--setup`, `--env`):"
    head = f"{len(lost)} of {count} example lines failed and are left out. {advice}"
    return (head, *observed_gates.listed_rows(lost))


def protected(binary: str, pages: int, parts: Iterable[Part], candidates: Iterable[Candidate], *, is_main: bool) -> str:
    """Return the sentence about what the suite protects of a program, and what not; '' without checks of it.

    `pages`: of its help. `parts`: what it offers. `candidates`: of all programs; those of the main one name none.
    """
    kept = [one for one in candidates if one.binary == ("" if is_main else binary)]
    silent = {line for one in kept for line, kind in one.kinds.items() if kind == "silent"}
    counted = [(gate, one) for one in kept for gate in one.gates if gate.get("pattern") != observed_gates.EMPTY]
    counted = [
        (gate, one)
        for gate, one in counted
        if gate.get("command", "").removesuffix(observed_gates.ERRORS) not in silent
    ]
    kinds = [(gate["type"], gate.get("status", 0), one) for gate, one in counted]
    results = sum(kind == "command_output_matches" for kind, *_ in kinds)
    files = sum(kind.startswith("file_") for kind, *_ in kinds)
    refused = sum(one.is_help and status != 0 for kind, status, one in kinds if "words" not in kind)
    counts = {"help page": pages, "result": results, "written file": files, "refused input": refused}
    told = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items() if count)
    lines = [line for one in kept if not one.is_help for line in (*one.commands, *one.more)]
    refusals = {line for one in kept for line, kind in one.kinds.items() if kind == "refused"}
    called = "\n".join(line for line in lines if line not in silent | refusals)
    used = partial(_is_used, binary, called)
    left = [f"`{part.name}`" for part in parts if part.kind in ("subcommand", "option") and not used(part)]
    unreached = dict.fromkeys(left)
    more = f" and {len(unreached) - MOST_NAMED} more" if len(unreached) > MOST_NAMED else ""
    missing = f" Not reached: {', '.join([*unreached][:MOST_NAMED])}{more}." if unreached else ""
    whose = "" if is_main else f" of `{binary}`"
    return f"Protected{whose}: {told}.{missing}" if kept else ""


def _is_used(binary: str, called: str, part: Part) -> bool:
    names = "|".join(map(re.escape, (part.name, *part.aliases)))
    before = rf"\b{re.escape(binary)} (?:-\S+ )*" if part.kind == "subcommand" else r"(?<![\w-])"
    return re.search(rf"{before}(?:{names})(?![\w-])", called) is not None
