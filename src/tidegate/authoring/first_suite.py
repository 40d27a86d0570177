"""Makes the first suite of a repository: tries what its docs and its help suggest, and keeps what each run shows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tidegate.authoring import examples, observed_gates, starter, tool_inputs, tryout
from tidegate.authoring.build_systems import node, python
from tidegate.authoring.build_systems.files import lacking_interpreter
from tidegate.authoring.examples import Candidate, Plan
from tidegate.authoring.found import Call, Found, Kind, read_found
from tidegate.authoring.main_use import main_use, phrases
from tidegate.authoring.manual_pages import manual
from tidegate.authoring.option_calls import UNFIT
from tidegate.authoring.pace import MOST_SLOW, slowness
from tidegate.authoring.probe import PLANS_SECONDS, SECONDS
from tidegate.authoring.probing import Prober
from tidegate.authoring.protected import left_out, protected
from tidegate.authoring.server_suite import server_suite
from tidegate.authoring.subcommand_calls import MOST_SUBCOMMANDS, UNFIT_COMMANDS, state
from tidegate.authoring.survey import find_binary
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import AGENT, Tried, TriedTrial, Tryout, draft, write_files
from tidegate.authoring.variations import in_turn
from tidegate.checks.gates.command_gate import CommandExits
from tidegate.decide.surface.help_text import MOST_CHARACTERS
from tidegate.decide.surface.parts import of_help
from tidegate.model.event import CommandResult, Message
from tidegate.model.suite import Scenario
from tidegate.model.surface import Part
from tidegate.model.target import Target
from tidegate.run.run_job import Options

_ASKING = ("--help", "-h", "help", "")
_ASKING_ABOUT = ("{} --help", "{} -h", "help {}")  # a subcommand
FEW_ASKED = 3  # subcommands with which each way is tried
_WRONG, _ABSENT = "--no-such-option", "no-such-file.txt"
MOST_VALUES = 8  # options with a value that does not exist, and subcommands with a wrong option
MOST_ALONE, REFUSED_SECONDS = 24, 5.0  # options and subcommands without anything else; of all that may be refused
MOST_SECONDS, FEWEST_LINES = 16.0, 10  # of the commands of all scenarios; of one, even if they take longer
_BY_WORTH: tuple[tuple[Kind, ...], ...] = (("call", "option", "refused"), ("variation",), ("silent",))
MOST_CALLS = 3  # of the agent, in one scenario: gates make all of them
BESIDE_SHARE = 0.3  # of the time that the tool gets, for all other programs of the project


@dataclass
class _Shown:
    """What the tool shows of itself: its help pages by subcommand ('' for the tool), and their parts."""

    pages: dict[str, CommandResult]
    parts: tuple[Part, ...] = ()
    texts: list[str] = field(default_factory=list)  # of docs and help
    others: tuple[CommandResult, ...] = ()  # the tool's help, asked for in other ways
    manual: str = ""  # its manual page
    failure: str = ""  # what is shown instead of help, if none is
    printed: str = ""  # all of that


@dataclass(frozen=True)
class _Probed:
    """What one program shows, what its plans found, and its candidates."""

    tool: Tool
    shown: _Shown
    found: Mapping[str, Found]
    kept: tuple[Candidate, ...]


async def first_suite(root: Path, where: str, tool: Tool, options: Options) -> Tried:
    """Build the last commit, observe two trials of each candidate, and keep the checks that pass in three more."""
    slowness()  # before the build
    async with tryout.tryout(root, options) as here:
        failure = await _build(here, tool)
        while failure is not None and (simpler := node.with_less(tool, failure)):
            tool, failure = simpler, await _build(here, simpler)
        if failure is not None:
            return Tried(tool, {}, problem=failure, build_failed=True)
        is_made = bool(tool.path or tool.build)
        built = (tryout.located(tool, here.folder) or tryout.made(tool, here.folder)) if is_made else tool
        if built is None:
            return Tried(tool, {}, problem=f"the build made no program `{tool.binary}`")
        unserved: str | None = None
        if built.server:
            served = await _served(here, where, built)
            if served.problem is None:
                return served
            unserved, built = served.problem, built._replace(server=False)  # it may be a command-line tool, too
        options.progress.say(f"trying `{tool.binary}`: its help, and the examples of the docs")
        tried = await _suite_of_program(here, where, built, may_serve=unserved is not None)
        if unserved is None:
            return tried
        if tried.problem is not None:
            return Tried(tool, {}, problem=unserved)
        told = f"it is tested as a program, since it did not start as an MCP server: {unserved}"
        return replace(tried, notes=(told, *tried.notes))


async def _served(here: Tryout, where: str, tool: Tool) -> Tried:
    """Return the suite of an MCP server; of one that fails with version 2 of the SDK, with version 1."""
    here.options.progress.say(f"trying the MCP server `{tool.binary}`: its tools, and calls of them")
    served = await server_suite(here, where, tool, await _gates_of_program(here, tool))
    older = python.with_older_sdk(tool, served.problem)
    if older is None or await _build(here, older) is not None:
        return served
    return await server_suite(here, where, older, await _gates_of_program(here, older))


async def _gates_of_program(here: Tryout, tool: Tool) -> tuple[dict[str, Any], ...]:
    """Return gates for the help of a server's program, and for an option that it refuses; none if it prints no help."""
    line, wrong = f"{tool.binary} --help", f"{tool.binary} {_WRONG}"
    page = (await _commands(here, tool, [line])).get(line)
    if page is None or not _helps(page):
        return ()
    candidate = Candidate("start", "", (), more=(wrong,))
    runs = (await here.run(draft(tool, [_scenario_of(tool, candidate)]), tryout.OBSERVED))[candidate.name]
    observed = zip(*(one.checked for one in runs), strict=False)
    refused = [observed_gates.refused_gate(seen, facts=observed_gates.facts()) for seen in observed]
    return tuple(filter(None, [*observed_gates.help_gates(page), *refused]))


async def _build(here: Tryout, tool: Tool) -> str | None:
    """Build the tool. Return why that failed, or None."""
    return await here.build(draft(tool, [_scenario_of(tool, Candidate(examples.HELP, "", ()))])) if tool.build else None


async def _suite_of_program(here: Tryout, where: str, tool: Tool, *, may_serve: bool = False) -> Tried:
    """Return the suite of a command-line tool, and of the programs beside it."""
    shown = await _help(here, tool)
    if not shown.pages and (more := python.with_advice(tool, shown.printed)) and await _build(here, more) is None:
        tool, shown = more, await _help(here, more)
    if may_serve and not shown.pages:
        return Tried(tool, {}, problem=f"it prints no help{shown.failure}")  # its calls may never end
    probed = [await _program(here, where, tool, shown, 1.0)]
    for binary in tool.beside:
        other = tool._replace(binary=binary)
        here.options.progress.say(f"trying `{binary}`, another program of the project")
        probed.append(await _program(here, where, other, await _help(here, other), BESIDE_SHARE / len(tool.beside)))
    kept = [one for program in probed for one in program.kept]
    if not kept:
        nothing = f"no call of `{tool.binary}` worked: neither its help nor an example"
        return Tried(tool, {}, problem=f"{nothing}{shown.failure}")
    kept = await _observed(here, tool, kept)
    kept = await _confirmed(here, tool, kept)
    if not kept:
        return Tried(tool, {}, problem=f"no check passed three times out of three{shown.failure}")
    told = [
        protected(binary, len(one.shown.pages), one.shown.parts, kept, is_main=binary == tool.binary)
        for binary, one in ((one.tool.binary, one) for one in probed)
    ]
    spoilt = await _build(here, tool)
    excluded = f"Exclude `{tool.scenarios}` from what it checks, before you commit the suite"
    broken = (f"the build fails with the suite's files: {spoilt}. {excluded}",) if spoilt else ()
    notes = (*left_out(probed[0].found), *filter(None, told), *tryout.needs_network(here), *broken)
    return Tried(tool, _files(tool, kept, here), notes)


async def _program(here: Tryout, where: str, tool: Tool, shown: _Shown, share: float) -> _Probed:
    """Try the program for this share of the time, and return its candidates."""
    documents = examples.texts_of(here.folder, where, tool.binary)
    shown.manual = manual(here.folder / where, tool.binary)
    shown.texts += [*documents, shown.manual]
    code = examples.code_of_tests(here.folder / where)
    given = tool_inputs.given_in_tests(code, shown.texts)
    binary = find_binary(here.folder / where, shown.texts)
    inputs = tool_inputs.inputs(here.folder / where, shown.texts, given, binary)
    plans = _plans(here.folder, where, tool, shown, inputs, code)
    listed = examples.documented_options(shown.parts, documents, of_help({"": shown.manual}, tool.binary))
    parts = tuple(examples.with_shown_values(part, [*documents, *code], shown.texts) for part in listed)
    cases = tool_inputs.cases(here.folder / where, code, shown.texts, binary)
    prober = Prober(
        plans={plan.candidate.name: plan.tries for plan in plans},
        parts=parts,
        inputs=inputs,
        given=given,
        cases=cases,
        seconds=PLANS_SECONDS * share,
    )
    found = await _probed(here, tool, plans, prober)
    kept = [one for one in _filled(plans, found, MOST_SECONDS * share) if one.commands]
    kept = [*_help_candidate(tool, shown), *kept]
    if share < 1:
        named = (one._replace(name=f"{examples.slug(tool.binary)}_{one.name}", binary=tool.binary) for one in kept)
        return _Probed(tool, shown, found, tuple(named))
    files = {name: text for one in kept for name, text in one.files.items()}
    return _Probed(tool, shown, found, (*kept, *examples.followed(here.folder, where, tool.binary, files)))


async def _commands(here: Tryout, tool: Tool, lines: Iterable[str]) -> dict[str, CommandResult]:
    """Return what each of the commands does in one trial."""
    candidate = Candidate("commands", "", (), more=tuple(dict.fromkeys(lines)))
    (seen,) = (await here.run(draft(tool, [_scenario_of(tool, candidate)]), 1))["commands"]
    return {one.result.command: one.result for one in seen.checked}


async def _help(here: Tryout, tool: Tool) -> _Shown:
    """Return the tool's help, in the way that lists most, and those of its subcommands."""
    ways = [f"{tool.binary} {way}".strip() for way in _ASKING]
    ran = await _commands(here, tool, ways)
    answers = [one for one in ran.values() if _helps(one)]
    if not answers:
        told = next(filter(None, map(observed_gates.complaint, ran.values())), None)
        failure = f"; asked for help, it answers: {told}" if told else ""
        lacking = (lacking_interpreter(here.folder / place / tool.binary) for place in tool.path)
        failure = next((f"; it needs `{one}`, which is not installed" for one in lacking if one), failure)
        return _Shown({}, failure=failure, printed="\n".join(one.printed for one in ran.values()))
    best = max(
        answers,
        key=lambda ran: (len(observed_gates.listed(ran.printed)), observed_gates.is_usage(ran.printed), ran.ok),
    )
    parts = of_help({"": best.printed[:MOST_CHARACTERS]}, tool.binary)
    names = [part.name for part in parts if part.kind == "subcommand"][:MOST_SUBCOMMANDS]
    pages = {"": best} | await _pages_of(here, tool, names, best)
    texts = [one.printed[:MOST_CHARACTERS] for one in pages.values()]
    by_name = dict(zip(pages, texts, strict=True))
    parts = examples.usage_options(of_help(by_name, tool.binary), texts[0])
    own = tuple(examples.with_choices(part, [by_name[part.command]]) for part in parts)
    return _Shown(pages, own, texts, tuple(ran for ran in answers if ran is not best))


async def _pages_of(here: Tryout, tool: Tool, names: Sequence[str], best: CommandResult) -> dict[str, CommandResult]:
    """Return the help of these subcommands, asked for in the way that shows most with the first ones."""

    async def asked(way: str, names: Sequence[str]) -> dict[str, CommandResult]:
        lines = {name: f"{tool.binary} {way.format(name)}" for name in names}
        ran = await _commands(here, tool, lines.values())
        own = {name: ran[line] for name, line in lines.items() if line in ran}
        return {name: one for name, one in own.items() if _helps(one, name) and one.printed != best.printed}

    if not names:
        return {}
    few = {way: await asked(way, names[:FEW_ASKED]) for way in _ASKING_ABOUT}
    way = max(_ASKING_ABOUT, key=lambda way: (len(few[way]), sum(len(one.printed) for one in few[way].values())))
    return few[way] | await asked(way, names[FEW_ASKED:])


def _helps(ran: CommandResult, name: str = "") -> bool:
    """Return True if the output is a help text. Many tools take `--help` for an argument, and answer otherwise."""
    told = observed_gates.is_usage(ran.printed) or len(observed_gates.listed(ran.printed)) > 1
    named = (
        bool(name)
        and re.search(rf"\b{re.escape(name)}\b", ran.printed) is not None
        and observed_gates.complaint(ran) is None
    )
    return (
        ran.end == "exited"
        and (ran.exit_code or 0) < 126
        and (told or named or (ran.ok and not name and ran.printed.count("\n") > 2))
    )


def _plans(
    root: Path, where: str, tool: Tool, shown: _Shown, inputs: Sequence[str], code: Sequence[str]
) -> tuple[Plan, ...]:
    plans = [
        main_use(tool.binary, inputs, shown.texts, shown.parts),
        state(tool.binary, shown.parts, [one.printed for one in shown.pages.values()], inputs),
    ]
    first = {
        name for part in shown.parts if part.kind in ("subcommand", "option") for name in (part.name, *part.aliases)
    }
    others = (
        examples.in_help(tool.binary, [*(one.printed for one in shown.pages.values()), shown.manual]),
        examples.in_scripts(root, where, tool.binary, first, code),
        *examples.documented(root, where, tool.binary),
    )
    about_git = examples.is_about_git(tool.binary, shown.texts)
    plans += [examples.in_history(one) if about_git else one for one in others if one is not None]
    plans.append(phrases(tool.binary, code, shown.texts))
    return examples.named_once(plan for plan in plans if plan.tries)


async def _probed(here: Tryout, tool: Tool, plans: Sequence[Plan], prober: Prober) -> dict[str, Found]:
    """Return what each plan found; with a network, if more of it works with the hosts that were asked for."""

    async def probe(plans: Sequence[Plan]) -> dict[str, Found]:
        seconds = MOST_SLOW * PLANS_SECONDS + tryout.SECONDS
        scenarios = [_scenario_of(tool, plan.candidate, seconds) for plan in plans]
        suite = draft(tool, scenarios).model_copy(update={"agents": {AGENT: prober}})
        runs = await here.run(suite, 1)
        texts = {name: [one.text for one in seen.events if isinstance(one, Message)] for name, (seen,) in runs.items()}
        return {plan.candidate.name: read_found(texts.get(plan.candidate.name, ())) for plan in plans}

    found = await probe(plans) if plans else {}
    lacking = [examples.without_addresses(plan) for plan in plans if found[plan.candidate.name].failed]
    if lacking and here.asked:
        here.open_network()
        wider = {
            name: one
            for name, one in (await probe(lacking)).items()
            if len(one.of("call")) > len(found[name].of("call"))
        }
        if wider:
            return found | wider
        here.reach = False
    return found


def _filled(plans: Sequence[Plan], found: Mapping[str, Found], seconds: float) -> list[Candidate]:
    """Return the candidates with what was found. If it takes more seconds, some is left out, variations first, and
    options that change more in another plan.
    """
    left, kept = seconds * slowness(), {name: list[Call]() for name in found}
    calls = ((name, call) for name, own in reversed([*found.items()]) for call in own.calls)
    news = {(call.about, call.news): name for name, call in calls if call.about}
    best = {about: name for (about, _), name in sorted(news.items())}

    def worth(name: str, call: Call) -> Kind:
        return "variation" if name != best.get(call.about, name) else call.kind

    for kinds in _BY_WORTH:
        of_each = (
            [(name, call) for call in own.calls if worth(name, call) == kind]
            for kind in kinds
            for name, own in found.items()
        )
        for name, call in in_turn(map(iter, of_each)):
            if call.seconds <= left or len(kept[name]) < FEWEST_LINES:
                kept[name].append(call)
                left -= call.seconds
    filled = []
    for plan in plans:
        own = kept[plan.candidate.name]
        own.sort(key=lambda call: call.kind == "refused")  # last, since they leave damaged files
        lines = [call.line for call in own if call.kind in ("call", "option")]
        lines.sort(key=lambda line: " cat " in line or "\n" in line)  # what writes nothing first: gates do all again
        filled.append(
            plan.candidate._replace(
                commands=tuple(lines[:MOST_CALLS]),
                more=tuple(call.line for call in own),
                files=found[plan.candidate.name].files,
                kinds={call.line: call.kind for call in own},
            )
        )
    return filled


def _help_candidate(tool: Tool, shown: _Shown) -> list[Candidate]:
    """Return the candidate that asks the tool for its help, and for what it has to refuse."""
    if not shown.pages:
        return []
    told = (*shown.pages.values(), *shown.others)
    gates = observed_gates.distinct(gate for ran in told for gate in observed_gates.help_gates(ran))
    own = [part for part in shown.parts if not (UNFIT if part.kind == "option" else UNFIT_COMMANDS).match(part.name)]
    alone = [f"{part.command} {part.name}".strip() for part in own if part.kind == "option" and not part.command]
    values = [part.name for part in own if part.kind == "option" and part.takes_value and not part.command]
    named = [part.name for part in own if part.kind == "subcommand" and " " not in part.name]
    page = shown.pages[""].printed
    versions = [one for one in ("--version", "-V", "version") if re.search(rf"(?<![\w-]){one}(?![\w-])", page)]
    words = [_WRONG, _ABSENT, "", *versions, *(f"{name} {_ABSENT}" for name in values[:MOST_VALUES])]
    words += [*(f"{name} {_WRONG}" for name in named[:MOST_VALUES]), *named[:MOST_ALONE], *alone[:MOST_ALONE]]
    seconds = max(ran.duration_s for ran in shown.pages.values())
    most = max(MOST_VALUES, int(REFUSED_SECONDS / (seconds or 0.01)))
    wrong = [*(f"{tool.binary} {word}".strip() for word in words), f"printf '{{\"a\": [1,, b' | {tool.binary}"]
    asked = tuple(ran.command for ran in shown.pages.values())
    wrong = [line for line in wrong[:most] if line not in asked]
    described = f"`{tool.binary}` explains itself, and refuses what it does not know."
    return [
        Candidate(
            examples.HELP,
            described,
            asked,
            tuple(wrong),
            gates=tuple(gates),
            kinds=dict.fromkeys(wrong, "refused"),
            is_help=True,
        )
    ]


async def _observed(here: Tryout, tool: Tool, found: Sequence[Candidate]) -> list[Candidate]:
    """Run the candidates twice with the agent of the suite, and return them with gates for what they did."""
    for one in found:
        write_files(here.folder, starter.template_files(tool, one))
    suite = draft(tool, [_scenario_of(tool, one) for one in found])
    in_memory, on_disk = await asyncio.gather(here.run(suite, 1), here.run(suite, 1, on_disk=True))
    trials = {name: [*runs, *on_disk[name]] for name, runs in in_memory.items()}  # a folder has another order there
    checked = [one.result for runs in trials.values() for one in runs[0].checked]
    about = [ran for ran in checked if observed_gates.ABOUT_VERSION.search(ran.command)]
    versions = frozenset(word for ran in about for word in observed_gates.VERSION.findall(ran.printed))
    return [_proposed(tool, one, trials[one.name], versions) for one in found]


def _proposed(tool: Tool, candidate: Candidate, runs: Sequence[TriedTrial], versions: frozenset[str]) -> Candidate:
    """Return the candidate with gates for what was the same in all runs. `versions`: of the tool."""
    facts = observed_gates.facts() | versions
    given = "\n".join([*candidate.files, *candidate.files.values(), *candidate.commands])
    gates: list[dict[str, Any] | None] = [
        *candidate.gates,
        *observed_gates.file_gates([one.diff for one in runs], given, facts),
    ]
    for seen in zip(*(one.checked for one in runs), strict=False):
        command = seen[0].result.command
        gate = observed_gates.result_gate(seen, given, facts)
        if candidate.kinds.get(command) == "refused" and (
            gate is None or gate.get("status") or observed_gates.helps(seen[0].result)
        ):
            gate = observed_gates.refused_gate(seen, given, facts)
        gates += [gate, observed_gates.digest_gate(seen, given, facts)]
    ran = [command for one in runs for command in one.commands] if candidate.guidance else []
    counts = observed_gates.counts_in(one.exit_code for one in ran)  # which depend on the docs' own text
    failing = dict.fromkeys(one.command for one in ran if one.exit_code in counts or observed_gates.complaint(one))
    statuses = {code for one in runs for code in one.statuses if code} if candidate.commands else set[int]()
    statuses |= {one.exit_code for one in ran if one.exit_code and one.command not in failing}
    return candidate._replace(
        gates=tuple(observed_gates.distinct(filter(None, gates))), statuses=tuple(sorted(statuses)), skip=tuple(failing)
    )


async def _confirmed(here: Tryout, tool: Tool, kept: list[Candidate]) -> list[Candidate]:
    """Write the suite into the checkout and run it three times; repeat without what failed, until all passes."""
    proven: set[str] = set()
    for _ in range(tryout.MOST_ROUNDS):
        kept = [one for one in kept if one.gates or one.guidance]
        if not kept:
            break
        write_files(here.folder, _files(tool, kept, here))
        suite = here.load()
        left = tuple(one for one in suite.scenarios if one.name not in proven)
        if not left:
            return kept
        count = f"{len(left)} scenario{'' if len(left) == 1 else 's'}"
        here.options.progress.say(f"running {count} {tryout.CONFIRMED} times, to keep the checks that always pass")
        trials = await here.run(suite.model_copy(update={"scenarios": left}), tryout.CONFIRMED)
        proven |= {name for name, runs in trials.items() if all(map(_is_proof, runs))}
        failed = [one for one in kept if one.name not in proven]
        if not failed:
            return kept
        passing = {one.name: _passing(one, trials[one.name]) for one in failed}
        kept = [passing.get(one.name, one) for one in kept]
        for one in failed:
            if not passing[one.name].gates:
                (here.folder / starter.scenario_file(tool, one)).unlink()
        kept = [one for one in kept if one.name not in passing or one.gates]
    for one in kept:
        if one.name not in proven:
            (here.folder / starter.scenario_file(tool, one)).unlink()
    return [one for one in kept if one.name in proven]


def _passing(candidate: Candidate, runs: Sequence[TriedTrial]) -> Candidate:
    """Return the candidate with the gates that passed in each run that was measured; none if a call failed."""
    runs = [seen for seen in runs if seen.result.gates]
    gates = [gate for place, gate in enumerate(candidate.gates) if _always(runs, place)]
    return candidate._replace(gates=tuple(gates) if _always(runs, -1) and not candidate.guidance else ())


def _is_proof(seen: TriedTrial) -> bool:
    """Return True if the trial passed and called the tool."""
    return seen.result.outcome == "pass" and bool(seen.result.metrics.command_count)


def _always(runs: Sequence[TriedTrial], place: int) -> bool:
    """Return True if the gate at this place passed in each trial, and there is one."""
    return bool(runs) and all(seen.result.gates[place].passed for seen in runs)


def _files(tool: Tool, kept: Sequence[Candidate], here: Tryout) -> dict[str, bytes]:
    """Return the suite's file and all files of these scenarios."""
    scenarios = [starter.scenario_file(tool, one) for one in kept]
    skip = dict.fromkeys(command for one in kept for command in one.skip)
    files = {starter.SUITE: starter.suite_text(tool, scenarios, reach=here.reach, skip=[*skip]).encode()}
    for one in kept:
        files[starter.scenario_file(tool, one)] = starter.scenario_text(tool, one, one.gates).encode()
        files |= starter.template_files(tool, one)
    if any(b"\r\n" in data for data in files.values()):  # which git may be told to change
        files[f"{tool.scenarios}/.gitattributes"] = b"* -text\n"
    return files


def _scenario_of(tool: Tool, candidate: Candidate, seconds: float = tryout.SECONDS) -> Scenario:
    """Return the candidate as a scenario, with a gate for each command that only gates run."""
    return Scenario(
        name=candidate.name,
        description=candidate.description,
        file=starter.scenario_file(tool, candidate),
        template=f"{tool.scenarios}/{candidate.name}" if candidate.files else None,
        target=Target(binary=candidate.binary or tool.binary, env=dict(tool.env)),
        prompt=starter.prompt(tool, candidate),
        setup=tool.setup,
        gates=tuple(CommandExits(command=line, status=0, timeout_secs=SECONDS) for line in candidate.more),
        guidance=candidate.guidance,
        timeout_secs=seconds,
    )
