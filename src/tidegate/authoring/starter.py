"""The first files of a suite, which `tidegate init` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath

from tidegate.authoring.survey import Tool

WORKFLOW = ".github/workflows/tidegate.yml"
SCENARIO = "first_steps.yaml"
SCHEMAS = ".tidegate/schema"  # local copies for the editor, ignored by git
UNKNOWN_ACTION = "OWNER/tidegate@COMMIT"

_WORKFLOW = """\
name: tidegate
on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review, edited]
permissions: {}
concurrency:
  group: tidegate-${{ github.ref }}
  cancel-in-progress: true
jobs:
  tidegate:
    runs-on: ubuntu-24.04
    permissions:
      contents: read
      pull-requests: write
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 2
          persist-credentials: false
      - uses: ACTION
"""


def suite_text(tool: Tool | None, scenarios: Iterable[str], guidance: Iterable[str] = ()) -> str:
    """Return the text of tidegate.yaml for these scenario files and the tool, if one was found.

    `guidance` lists the files that document the tool, if the default guidance files do not.
    """
    lines = [
        f"# yaml-language-server: $schema={SCHEMAS}/suite.json",
        "version: 1",
        f"scenarios: {_listed(_globs(scenarios))}",
    ]
    if tool and tool.build:
        lines.append(f"build: {_listed(tool.build)}   # once per side, in its checkout")
    if tool and tool.pass_env:
        lines.append(f"pass_env: {_listed(tool.pass_env)}   # for the build, where it is set: it has a HOME of its own")
    if tool and tool.path:
        lines.append(f"path: {_listed(tool.path)}   # each side runs the {tool.binary} of its own checkout")
    if tool:
        lines.append(f"target: {{binary: {_quoted(tool.binary)}}}")
    if texts := tuple(guidance):
        lines.append(f"guidance: {_listed(texts)}   # each side's own, in every workspace")
    lines += [
        "agents:",
        "  docs: {type: doc-follower}   # runs the commands in the docs verbatim: no key, no cost",
    ]
    return "\n".join(lines) + "\n"


def starter_files(tool: Tool, *, illustrated: bool = False) -> dict[str, str]:
    """Return the first scenario file and its template folder, as a mapping of paths to contents.

    `illustrated`: agents follow README.md, whose examples may need files that the workspace does not have. The gate
    against failed calls is then not required.
    """
    file = f"{tool.scenarios}/{SCENARIO}"
    return {file: _scenario_text(tool, illustrated), f"{file.removesuffix('.yaml')}/WORKSPACE.txt": _TEMPLATE}


def native_action(action: str) -> str:
    """Return the native (container-less) variant of the action, from the same repository and commit."""
    repository, at, commit = action.partition("@")
    return f"{repository}/native{at}{commit}"


def workflow_text(action: str, toolchain: str | None = None) -> str:
    """Return the workflow that runs the action on pull requests. `action` is the value of `uses:`.

    Pass the native action if the build needs a `toolchain` of the runner. `cargo` also gets RUSTUP_HOME.
    """
    env = "        env:\n          RUSTUP_HOME: /home/runner/.rustup # builds have a HOME of their own\n"
    return _WORKFLOW.replace("ACTION", action) + (env if toolchain == "cargo" else "")


_TEMPLATE = """\
The agent's workspace starts as a copy of this folder. Put here what the task needs.
"""


_NOT_YET_REQUIRED = """\
    # Make it required once what README.md shows works here; the files that it needs go into the folder first_steps/.
"""


def _scenario_text(tool: Tool, illustrated: bool) -> str:
    example = f"\n\n        {tool.binary} --help" if tool.explains_itself else ""
    required = ", required: false" if illustrated else ""
    gates = [f"{{type: no_transcript_errors{required}, description: no call failed}}"]
    if tool.explains_itself:
        command = _quoted(f"{tool.binary} --help")
        gates.insert(0, f"{{type: command_succeeds, command: {command}, description: the tool explains itself}}")
    *others, last = [f"    - {gate}\n" for gate in gates]
    listed = "".join([*others, _NOT_YET_REQUIRED if illustrated else "", last])
    return (
        f"# yaml-language-server: $schema={'../' * len(PurePosixPath(tool.scenarios).parts)}{SCHEMAS}/scenario.json\n"
        "name: first_steps\n"
        "description: An agent finds its way about the tool.\n"
        "target: from_config\n"
        "task:\n"
        "  prompt: |\n"
        f"    Find out what `{tool.binary}` can do, and follow its documentation.{example}\n"
        "evaluation:\n"
        "  gates:   # next: check what the agent should have got done, e.g. file_contains or command_json_path\n"
        f"{listed}"
    )


def _globs(files: Iterable[str]) -> list[str]:
    """Return the files, since other YAML files may be beside them. Files in a folder `scenarios/` share one glob."""
    return list(dict.fromkeys(_glob(PurePosixPath(file)) for file in files))


def _glob(file: PurePosixPath) -> str:
    ours = file.parent.name == "scenarios" and file.suffix == ".yaml"
    return str(file.with_name("*.yaml") if ours else file)


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """Return the text as a YAML scalar, unquoted if that is safe."""
    plain = text.replace("-", "").replace("_", "").replace("/", "").replace(".", "").isalnum()
    return text if plain and text[0].isalpha() and text not in _WORDS else json.dumps(text)


_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
