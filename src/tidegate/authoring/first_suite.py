"""Makes the first suite of a repository: tries what its docs and its tool show, and keeps what worked each time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tidegate.agents.scripted import Scripted
from tidegate.authoring import examples, starter
from tidegate.authoring.examples import Candidate
from tidegate.authoring.observed_gates import (
    CommandRun,
    change_gates,
    checked_output,
    distinct,
    help_gates,
    is_help,
    left_out,
    left_out_notes,
    listed,
    output_gates,
    printing,
    read_gate,
    spread,
    succeeds,
    weak_notes,
    weaker,
)
from tidegate.authoring.server_suite import server_suite
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import (
    AGENT,
    CONFIRMED,
    MOST_ROUNDS,
    OBSERVED,
    SECONDS,
    Tried,
    TriedTrial,
    Tryout,
    draft,
    located,
    needs_network,
    tryout,
    write_files,
)
from tidegate.decide.surface.help_text import subcommands
from tidegate.model.measurement import TrialResult
from tidegate.model.suite import Scenario
from tidegate.model.target import Target
from tidegate.run.run_job import Options

_MARK = "-- files after command"
# All files and folders of the workspace and of HOME. Git writes its index when it only reads.
_LIST = (
    f"""(printf '\\n{_MARK} %s\\n' "$1"; cd "$files_at" && find . "$HOME"; find . "$HOME" -type f"""
    """ ! -path ./.git/index -exec cksum {} +; echo) 2>/dev/null"""
)
_PART = re.compile(rf"^{_MARK} (\d+)$", re.MULTILINE)

MOST_READS = 3
_READING = ("list", "ls", "ready", "status", "show", "export", "all", "log", "dump", "tree")
_ASKING = ("--help", "-h", "help")


class _Kept:
    """A candidate and its gates."""

    def __init__(self, candidate: Candidate, gates: Sequence[dict[str, Any]]) -> None:
        self.candidate = candidate
        self.gates = list(gates)


async def first_suite(root: Path, where: str, tool: Tool, options: Options) -> Tried:
    """Build the last commit, observe two trials of each candidate, and keep the checks that pass in three more."""
    async with tryout(root, options) as here:
        suite = draft(tool, [_scenario_of(tool, Candidate("help", "", ()))])
        failure = await here.build(suite) if tool.build else None
        if failure is not None:
            return Tried(tool, {}, problem=failure, build_failed=True)
        built = located(tool, here.folder) if tool.path or tool.build else tool
        if built is None:
            return Tried(tool, {}, problem=f"the build made no program `{tool.binary}`")
        unserved: str | None = None
        if built.server:
            options.progress.say(f"trying the MCP server `{tool.binary}`: its tools, and calls whose input is known")
            served = await server_suite(here, where, built)
            if served.problem is None:
                return served
            unserved, built = served.problem, built._replace(server=False)  # it may be a command-line tool, too
        options.progress.say(f"trying `{tool.binary}`: its help, and the examples of the docs")
        kept, notes = await _observed(here, where, built)
        if not kept:
            why = f"no call of `{tool.binary}` worked: neither its help nor an example"
            return Tried(tool, {}, problem=unserved or why)
        observed = [one.candidate.name for one in kept]
        kept, guidance = await _confirmed(here, built, kept)
        if not kept:
            return Tried(built, {}, problem="no check passed three times out of three")
        if guidance is not None:
            notes = (
                *notes,
                "commands in the guidance files fail, so `guidance` is empty: fix them, then remove that key",
            )
        gone = [name for name in observed if name not in {one.candidate.name for one in kept}]
        notes = (
            *notes,
            *(f"scenario {name} is left out: in three more runs not every call worked" for name in gone),
            *weak_notes((one.candidate, one.gates) for one in kept),
            *needs_network(here),
        )
        return Tried(built, _files(here, built, kept, guidance), notes)


async def _observed(here: Tryout, where: str, tool: Tool) -> tuple[list[_Kept], tuple[str, ...]]:
    """Run the candidates twice and return those that worked, with gates, and notes about what was left out."""
    asking = examples.help_candidate(tool.binary, [f"{tool.binary} {way}" for way in _ASKING])
    (seen,) = (await here.run(draft(tool, [_scenario_of(tool, asking)]), OBSERVED)).values()
    answers = [ran for command, ran in _worked(seen).items() if command in asking.commands and ran[0].output.strip()]
    answered = max(answers, key=lambda ran: len(listed(ran[0].output)), default=None)
    found: list[Candidate] = []
    if answered is not None:
        command, text = answered[0].command, answered[0].output
        found.append(examples.help_candidate(tool.binary, [command]))
        found += filter(None, [examples.subcommands_candidate(command, text), examples.in_help(tool.binary, text)])
    found = [*examples.named_once([*found, *examples.documented(here.folder, where, tool.binary)])]
    if not found:
        return [], ()
    for candidate in found:
        write_files(here.folder, starter.template_files(here.folder, tool, candidate))
    trials = await here.run(draft(tool, [_scenario_of(tool, trying(one)) for one in found]), OBSERVED)
    trials |= await _with_network(here, tool, found, trials)
    by_candidate = {candidate: trials[candidate.name] for candidate in found}
    proposed = await _all_proposed(here, tool, by_candidate, answered[0] if answered else None)
    kept = [one for one in proposed if one.gates]
    if answered is not None and (document := examples.followed(here.folder, where, tool.binary)):
        kept.append(_Kept(document, [succeeds(answered[0].command)]))
    lost = [
        row
        for candidate, one in zip(found, proposed, strict=True)
        if not candidate.asks_help
        for row in left_out(candidate, one.candidate.commands, [seen.commands for seen in trials[candidate.name]])
    ]
    return kept, left_out_notes(lost, sum(len(one.commands) for one in found if not one.asks_help))


async def _all_proposed(
    here: Tryout, tool: Tool, trials: Mapping[Candidate, Sequence[TriedTrial]], answered: CommandRun | None
) -> list[_Kept]:
    """Return the candidates with gates. Where all of these would repeat what changes files, others are looked for."""
    asked, text = (answered.command, answered.output) if answered else ("true", "")
    changing = await _changing_commands(here, tool, [one for one in trials if not one.asks_help], asked)
    proposed = [_proposed(candidate, runs, changing) for candidate, runs in trials.items()]
    repeating = [one.candidate for one in proposed if any(_repeats(gate, changing) for gate in one.gates)]
    better = await _gates_of_reads(here, tool, repeating, text)
    for one in proposed:
        one.gates = [better[one.candidate.name]] if one.candidate.name in better else one.gates
    return proposed


async def _with_network(
    here: Tryout, tool: Tool, found: Sequence[Candidate], trials: Mapping[str, Sequence[TriedTrial]]
) -> dict[str, list[TriedTrial]]:
    """Return new trials of the candidates of which more works with a network; it stays closed if there are none."""
    works = {one.name: len(_proposed(one, trials[one.name]).candidate.commands) for one in found}
    lost = [one for one in found if works[one.name] < len(one.commands)]
    if not lost:
        return {}
    here.open_network()
    again = await here.run(draft(tool, [_scenario_of(tool, trying(one)) for one in lost]), OBSERVED)
    better = [one for one in lost if len(_proposed(one, again[one.name]).candidate.commands) > works[one.name]]
    if not better:
        here.reach = False
    return {one.name: again[one.name] for one in better}


async def _confirmed(here: Tryout, tool: Tool, kept: list[_Kept]) -> tuple[list[_Kept], tuple[str, ...] | None]:
    """Write the suite into the checkout and run it three times; repeat without what failed, until all passes.

    Also returns the value of `guidance`, if its default makes every scenario fail.
    """
    guidance: tuple[str, ...] | None = None
    for _ in range(MOST_ROUNDS):
        write_files(here.folder, _files(here, tool, kept, guidance))
        count = f"{len(kept)} scenario{'' if len(kept) == 1 else 's'}"
        here.options.progress.say(f"running {count} {CONFIRMED} times, to keep the checks that always pass")
        trials = await here.run(here.load(), CONFIRMED)
        if all(_is_proof(seen.result) for runs in trials.values() for seen in runs):
            return kept, guidance
        if guidance is None and not any(_always(runs, -1) for runs in trials.values()):
            guidance = ()
            continue
        for one in kept:
            runs = trials[one.candidate.name]
            gates = [gate if _always(runs, place) else weaker(gate) for place, gate in enumerate(one.gates)]
            # If a call failed, the scenario is not repeatable.
            called = all(seen.result.metrics.command_count for seen in runs)
            one.gates = distinct(gate for gate in gates if gate is not None) if called and _always(runs, -1) else []
            if not one.gates:
                (here.folder / starter.scenario_file(tool, one.candidate)).unlink()
        kept = [one for one in kept if one.gates]
        if not kept:
            break
    return [], None


def _is_proof(result: TrialResult) -> bool:
    """Return True if the trial passed and called the tool."""
    return result.outcome == "pass" and bool(result.metrics.command_count)


def _always(runs: Sequence[TriedTrial], place: int) -> bool:
    """Return True if the gate at this place passed in each trial."""
    return all(seen.result.gates and seen.result.gates[place].passed for seen in runs)


def _worked(runs: Sequence[TriedTrial]) -> dict[str, tuple[CommandRun, CommandRun]]:
    """Return the commands that succeeded in both trials."""
    first, second = (seen.commands for seen in runs)
    return {
        command: (ran, second[command])
        for command, ran in first.items()
        if ran.ok and command in second and second[command].ok
    }


def _proposed(candidate: Candidate, runs: Sequence[TriedTrial], changing: Collection[str] = ()) -> _Kept:
    """Return the candidate with the commands that worked twice, and gates for what they did.

    A gate that repeats a command that changes files would do the agent's work. It is used only if there is no other.
    """
    worked = _worked(runs)
    if len(candidate.commands) > 1 and candidate.asks_help:  # some tools take `--help` for an argument
        worked = {command: ran for command, ran in worked.items() if is_help(ran[0])}
    own = {command: ran for command, ran in worked.items() if command.endswith(candidate.commands)}
    commands = tuple(line for line in candidate.commands if any(one.endswith(line) for one in own))
    gates = {command: list(_gates(candidate, pair, worked)) for command, pair in own.items()}
    changes = {} if candidate.asks_help else {"": list(change_gates([seen.diff for seen in runs]))}
    kept = distinct(spread(changes | gates)) if commands else []
    reading = [gate for gate in kept if not _repeats(gate, changing)]
    return _Kept(candidate._replace(commands=commands), reading or kept)


def _repeats(gate: Mapping[str, Any], changing: Iterable[str]) -> bool:
    return any(gate.get("command", "").endswith(one) for one in changing)


def _gates(
    candidate: Candidate, pair: tuple[CommandRun, CommandRun], worked: Mapping[str, tuple[CommandRun, CommandRun]]
) -> Iterable[dict[str, Any]]:
    """Return gates for a command. One that writes its output into a file is checked by what it prints without that."""
    if candidate.asks_help:
        return help_gates(pair[0].output, pair[0].command)
    shown = worked.get(printing(pair[0].command) or "")
    found = [*output_gates(*shown, candidate.shown)] if shown else []
    return found if checked_output(found) else output_gates(*pair, candidate.shown)


def _files(here: Tryout, tool: Tool, kept: Sequence[_Kept], guidance: tuple[str, ...] | None) -> dict[str, bytes]:
    """Return the suite's file and all files of these scenarios."""
    scenarios = [starter.scenario_file(tool, one.candidate) for one in kept]
    files = {starter.SUITE: starter.suite_text(tool, scenarios, guidance, here.reach).encode()}
    for one in kept:
        files[starter.scenario_file(tool, one.candidate)] = starter.scenario_text(
            tool, one.candidate, one.gates
        ).encode()
        files |= starter.template_files(here.folder, tool, one.candidate)
    return files


def _scenario_of(tool: Tool, candidate: Candidate) -> Scenario:
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


async def _changing_commands(here: Tryout, tool: Tool, found: Sequence[Candidate], asked: str) -> frozenset[str]:
    """Return the commands of these candidates that change files. `asked`: a command that shows the tool's help."""
    if not found:
        return frozenset()
    lines = {one.name: [asked, *trying(one).commands] for one in found}
    steps = {name: (probing(commands),) for name, commands in lines.items()}
    suite = draft(tool, [_scenario_of(tool, one) for one in found])
    agents = {AGENT: Scripted(type="scripted", steps=steps)}
    runs = await here.run(suite.model_copy(update={"agents": agents}), 1)
    printed = {name: "".join(ran.output for ran in seen.commands.values()) for name, (seen,) in runs.items()}
    return frozenset[str]().union(*(changing(lines[name], output) for name, output in printed.items()))


async def _gates_of_reads(
    here: Tryout, tool: Tool, found: Sequence[Candidate], help_text: str
) -> Mapping[str, dict[str, Any]]:
    """Return a gate by candidate: what a subcommand that only reads prints after the commands, and not without them."""
    known = {*subcommands(help_text)}
    reads = [f"{tool.binary} {name}" for name in _READING if name in known][:MOST_READS]
    if not found or not reads:
        return {}
    after = [one._replace(commands=(*one.commands, *reads)) for one in found]
    with_it = await here.run(draft(tool, [_scenario_of(tool, one) for one in after]), OBSERVED)
    bare = [one._replace(commands=tuple(reads)) for one in found]
    without = await here.run(draft(tool, [_scenario_of(tool, one) for one in bare]), 1)
    gates = {}
    for one in found:
        runs = [seen.commands for seen in (*with_it[one.name], *without[one.name])]
        working = [read for read in reads if all(_ran(run, read).ok for run in runs[:OBSERVED])]
        values = [word for command in one.commands for word in command.replace("'", " ").replace('"', " ").split()[1:]]
        shown = [[_ran(run, read).output for read in working] for run in runs]
        if gate := read_gate(working, shown, values):
            gates[one.name] = gate
    return gates


def _ran(run: Mapping[str, CommandRun], command: str) -> CommandRun:
    """Return what the command did; without output if it was not run, or failed."""
    ran = run.get(command)
    return ran if ran is not None and ran.ok else CommandRun(command, False, "")


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
