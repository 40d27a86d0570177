"""The first files of a suite, which `tidegate init` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from tidegate.authoring.examples import Candidate
from tidegate.authoring.scenario_text import SCHEMAS, flow, item, prompt_lines
from tidegate.authoring.tool import Tool
from tidegate.model.access import Access
from tidegate.model.target import McpServer

SUITE = "tidegate.yaml"
PROGRAM = "help"  # the scenario about the program of a server
SERVER_PROMPT = "List the tools of the server, and call them."

_PROVEN = "# Written by `tidegate init` from what the tool did, and run three times. Add what agents should get done."
_UNPROVEN = (
    "# Written by `tidegate init` and not run yet. Write down a task, and gates for what agents should get done."
)


def suite_text(
    tool: Tool | None,
    scenarios: Iterable[str],
    reach: Access = False,
    skip: Sequence[str] = (),
) -> str:
    """Return the text of tidegate.yaml for these scenario files and the tool, if one was found.

    `reach`: what agents and the tool may reach of the network. `skip`: commands of the docs that fail.
    """
    lines = [
        f"# yaml-language-server: $schema={SCHEMAS}/suite.json",
        "version: 1",
        f"scenarios: {flow(_globs(scenarios))}",
    ]
    if tool and tool.build:
        lines.append(f"build: {flow(list(tool.build))}   # once per side, in its checkout")
    if tool and tool.pass_env:
        lines.append(
            f"pass_env: {flow(list(tool.pass_env))}   # for the build, where it is set: it has a HOME of its own"
        )
    if tool and tool.path:
        lines.append(f"path: {flow(list(tool.path))}   # each side runs the {tool.binary} of its own checkout")
    if tool:
        lines.append("policy: {interface: block}   # a removed option or tool has to be accepted")
        target: dict[str, Any] = {"mcp": {"command": tool.binary}} if tool.server else {"binary": tool.binary}
        lines.append(f"target: {flow(target | ({'env': dict(tool.env)} if tool.env else {}))}")
        lines.append(_network(reach))
    docs = ["  docs:   # runs the commands in the docs verbatim: no key, no cost", "    type: doc-follower"]
    docs += ["    indented: true", *(["    skip:   # they fail"] if skip else [])]
    docs += [f"      - {flow(command)}" for command in skip]
    model = "  claude: {type: claude-code}   # calls the server; needs ANTHROPIC_API_KEY"
    lines += ["agents:", *([model] if tool and tool.server else docs)]
    return "\n".join(lines) + "\n"


def _network(reach: Access) -> str:
    """Return the line about what agents and the tool may reach."""
    if reach is True:
        return "network: {agent: true}   # an example works only with it"
    hosts = "false" if reach is False else flow(list(reach))
    return f"network: {{agent: {hosts}}}   # what agents and the tool may reach: list the hosts that the tool needs"


def server_suite_text(
    server: Tool,
    mcp: McpServer,
    scenarios: Iterable[str],
    steps: Mapping[str, list[dict[str, Any]]],
    reach: Access = False,
) -> str:
    """Return the text of tidegate.yaml for an MCP server: the agent `calls` makes the calls in `steps`."""
    before, _, _ = suite_text(server, scenarios).partition("target: ")
    how = {"command": mcp.command, **({"url": mcp.url} if mcp.url else {})}
    env = {"env": dict(server.env)} if server.env else {}
    lines = [f"target: {flow({'mcp': how, **env})}", _network(reach), "guidance: []", "agents:"]
    lines.append("  calls:   # lists the tools and calls some of them: no key, no cost")
    lines += ["    type: scripted", "    steps:"]
    for name, own in steps.items():
        lines += [f"      {name}:", *(f"        - {flow(step)}" for step in own)]
    lines.append("  # claude: {type: claude-code}   # does tasks with the tools; needs ANTHROPIC_API_KEY")
    return before + "\n".join(lines) + "\n"


def server_scenario_text(
    server: Tool, name: str, checks: Iterable[Mapping[str, Any]], gates: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the text of the scenario in which the agent `calls` makes its calls, with these evaluators and gates."""
    what = Candidate(name, f"The tools of `{server.binary}` are there and answer.", ())
    evaluators = ["  evaluators:", *(f"    - {flow(dict(check))}" for check in checks)]
    return _scenario(server, what, [f"task: {flow({'prompt': SERVER_PROMPT})}"], gates, evaluators)


def program_scenario(server: Tool, gates: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the scenario's file in which the agent `calls` asks the server's program for its help."""
    what = Candidate(PROGRAM, f"`{server.binary}` explains itself.", (), binary=server.binary)
    task = {"prompt": f"Ask `{server.binary}` for its help.", "steps": [f"{server.binary} --help"]}
    return {scenario_file(server, what): _scenario(server, what, [f"task: {flow(task)}"], gates).encode()}


def _scenario(
    tool: Tool, what: Candidate, task: Iterable[str], gates: Sequence[Mapping[str, Any]], evaluators: Iterable[str] = ()
) -> str:
    """Return the text of a scenario file."""
    own: dict[str, Any] = {"binary": what.binary} if what.binary else {}
    own |= {"ok_statuses": [0, *what.statuses]} if what.statuses else {}
    up = "../" * len(PurePosixPath(tool.scenarios).parts)
    lines = [
        f"# yaml-language-server: $schema={up}{SCHEMAS}/scenario.json",
        _PROVEN,
        f"name: {what.name}",
        f"description: {flow(what.description)}",
        f"target: {flow(own) if own else 'from_config'}",
        *task,
        *([f"setup: {flow({'commands': list(tool.setup)})}"] if tool.setup else []),
        "evaluation:",
        *(["  gates:"] if gates else []),
        *(f"    - {item(gate)}" for gate in gates),
        *evaluators,
    ]
    return "\n".join(lines) + "\n"


def scenario_file(tool: Tool, candidate: Candidate) -> str:
    """Return the path of the candidate's scenario file."""
    return f"{tool.scenarios}/{candidate.name}.yaml"


def prompt(tool: Tool, candidate: Candidate) -> str:
    """Return the task: to run the candidate's commands."""
    binary = candidate.binary or tool.binary
    if candidate.guidance:
        return f"Use `{binary}`. Do what {candidate.guidance[0]} shows."
    if not candidate.commands:
        return f"Find out what the tools of `{binary}` can do, and call one of them."
    return "\n".join([f"Use `{binary}`. Run these commands:", "", "```sh", *candidate.commands, "```"])


def template_files(tool: Tool, candidate: Candidate) -> dict[str, bytes]:
    """Return the files of the workspace."""
    return {
        f"{tool.scenarios}/{candidate.name}/{name}": text.encode("utf-8", "surrogateescape")
        for name, text in candidate.files.items()
    }


def scenario_text(tool: Tool, candidate: Candidate, gates: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the candidate's scenario file with these gates, the last of which is that no call fails."""
    task = [
        *([] if tool.server else ["tool_matrix: [{tool: docs}]   # other agents get tasks of their own"]),
        "task:",
        *prompt_lines(prompt(tool, candidate)),
        *([f"guidance: {flow(list(candidate.guidance))}"] if gates or candidate.guidance else []),
    ]
    no_errors = {"type": "no_transcript_errors", "description": "no call failed"}
    return _scenario(tool, candidate, task, [*gates, no_errors])


def bare_files(tool: Tool) -> dict[str, str]:
    """Return the files of a suite that could not be run: one scenario without proven checks."""
    candidate = Candidate(
        "first_steps", f"`{tool.binary}` can be used.", () if tool.server else (f"{tool.binary} --help",)
    )
    file = scenario_file(tool, candidate)
    text = scenario_text(tool, candidate, ()).replace(_PROVEN, _UNPROVEN)
    return {SUITE: suite_text(tool, [file]), file: text}


def _globs(files: Iterable[str]) -> list[str]:
    """Return the files, since other YAML files may be beside them. Files in a folder `scenarios/` share one glob."""
    return list(dict.fromkeys(_glob(PurePosixPath(file)) for file in files))


def _glob(file: PurePosixPath) -> str:
    ours = file.parent.name == "scenarios" and file.suffix == ".yaml"
    return str(file.with_name("*.yaml") if ours else file)
