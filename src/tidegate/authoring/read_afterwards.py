"""Trials of examples that change files: which commands do, and what commands that only read print afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tidegate.agents.scripted import Scripted
from tidegate.authoring import starter
from tidegate.authoring.examples import Candidate
from tidegate.authoring.observed_gates import Ran, printing, read_gate
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import AGENT, OBSERVED, SECONDS, Tryout, draft
from tidegate.decide.surface.help_text import subcommands
from tidegate.model.suite import Scenario
from tidegate.model.target import Target

_MARK = "-- files after command"
# All files and folders of the workspace and of HOME. Git writes its index when it only reads.
_LIST = (
    f"""(printf '\\n{_MARK} %s\\n' "$1"; cd "$files_at" && find . "$HOME"; find . "$HOME" -type f"""
    """ ! -path ./.git/index -exec cksum {} +; echo) 2>/dev/null"""
)
_PART = re.compile(rf"^{_MARK} (\d+)$", re.MULTILINE)

MOST_READS = 3
_READING = ("list", "ls", "ready", "status", "show", "export", "all", "log", "dump", "tree")


def scenario_of(tool: Tool, candidate: Candidate) -> Scenario:
    """Return the candidate as a scenario without gates."""
    return Scenario(
        name=candidate.name,
        description=candidate.description,
        file=starter.scenario_file(tool, candidate),
        template=f"{tool.scenarios}/{candidate.name}" if candidate.files else None,
        target=Target(binary=tool.binary),
        prompt=starter.prompt(tool, candidate),
        timeout_secs=SECONDS,
    )


def trying(candidate: Candidate) -> Candidate:
    """Return what is tried: at the end, what writes into a file is run again without that."""
    shown = [printing(command) for command in candidate.commands]
    return candidate._replace(commands=(*candidate.commands, *filter(None, shown)))


async def changing_commands(here: Tryout, tool: Tool, found: Sequence[Candidate], asked: str) -> frozenset[str]:
    """Return the commands of these candidates that change files. `asked`: a command that shows the tool's help."""
    if not found:
        return frozenset()
    lines = {one.name: [asked, *trying(one).commands] for one in found}
    steps = {name: (probing(commands),) for name, commands in lines.items()}
    suite = draft(tool, [scenario_of(tool, one) for one in found])
    agents = {AGENT: Scripted(type="scripted", steps=steps)}
    runs = await here.run(suite.model_copy(update={"agents": agents}), 1)
    printed = {name: "".join(ran.output for ran in seen.commands.values()) for name, (seen,) in runs.items()}
    return frozenset[str]().union(*(changing(lines[name], output) for name, output in printed.items()))


async def gates_of_reads(
    here: Tryout, tool: Tool, found: Sequence[Candidate], help_text: str
) -> Mapping[str, dict[str, Any]]:
    """Return a gate by candidate: what a subcommand that only reads prints after the commands, and not without them."""
    known = {*subcommands(help_text)}
    reads = [f"{tool.binary} {name}" for name in _READING if name in known][:MOST_READS]
    if not found or not reads:
        return {}
    after = [one._replace(commands=(*one.commands, *reads)) for one in found]
    with_it = await here.run(draft(tool, [scenario_of(tool, one) for one in after]), OBSERVED)
    bare = [one._replace(commands=tuple(reads)) for one in found]
    without = await here.run(draft(tool, [scenario_of(tool, one) for one in bare]), 1)
    gates = {}
    for one in found:
        runs = [seen.commands for seen in (*with_it[one.name], *without[one.name])]
        working = [read for read in reads if all(_ran(run, read).ok for run in runs[:OBSERVED])]
        values = [word for command in one.commands for word in command.replace("'", " ").replace('"', " ").split()[1:]]
        shown = [[_ran(run, read).output for read in working] for run in runs]
        if gate := read_gate(working, shown, values):
            gates[one.name] = gate
    return gates


def _ran(run: Mapping[str, Ran], command: str) -> Ran:
    """Return what the command did; without output if it was not run, or failed."""
    ran = run.get(command)
    return ran if ran is not None and ran.ok else Ran(command, False, "")


def probing(commands: Sequence[str]) -> str:
    """Return a script that runs the commands, and lists all files with their checksums before and after each."""
    steps = (step for number, command in enumerate(commands, 1) for step in (command, f"files {number}"))
    return "\n".join([f"files_at=$PWD; files() {{ {_LIST}; }}", "files 0", *steps])


def changing(commands: Sequence[str], output: str) -> frozenset[str]:
    """Return the commands that change files which the first one does not change, by the output of their script.

    The first asks for help: what that changes, such as a log, tells nothing. If the output is cut, none is returned.
    """
    listed = [frozenset(lines) for lines in _parts(output)]
    if len(listed) != len(commands) + 1:
        return frozenset()
    changed = [frozenset(map(_path, before ^ after)) for before, after in pairwise(listed)]
    return frozenset(command for command, paths in zip(commands, changed, strict=True) if paths - changed[0])


def _parts(output: str) -> Iterator[list[str]]:
    """Yield the lines of each list of files; what a command prints after it comes behind an empty line."""
    for found in _PART.finditer(output):
        yield output[found.end() :].lstrip("\n").partition("\n\n")[0].splitlines()


def _path(line: str) -> str:
    """Return the path of a line of `find`, or of `cksum`: two numbers, and the path."""
    return re.sub(r"^\d+ \d+ ", "", line)
