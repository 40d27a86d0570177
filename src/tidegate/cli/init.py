"""`tidegate init`: writes the first suite of a repository."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.authoring.survey import Tool

DESCRIPTION = """\
Finds the repository's tool and existing scenarios, and writes tidegate.yaml, a first scenario with its template
folder, and the workflow. Existing files are not changed. A script in bin/, or the one that --binary names, is run
once with --help.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("init", help="write a first suite for this repository", description=DESCRIPTION)
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: current folder)"
    )
    parser.add_argument("--binary", metavar="NAME", help="the tool's name (default: detected)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the files that do not exist yet, then print what was written and the next steps."""
    from tidegate.authoring.starter import WORKFLOW, starter_files, suite_text, workflow_text
    from tidegate.authoring.survey import find_scenarios, missing_toolchain
    from tidegate.suite.load import SUITE_FILE, load_suite
    from tidegate.suite.uncommitted import uncommitted
    from tidegate.vcs.revisions import repository_root

    root = repository_root(args.repo)
    files: dict[str, str] = {}
    build: tuple[str, ...] = ()
    if not (root / SUITE_FILE).exists():
        scenarios = find_scenarios(root)
        tool = _tool(root, args.binary, needed=not scenarios)
        guidance = () if scenarios else _guidance(root, tool)
        first = starter_files(tool, illustrated=bool(guidance)) if tool and not scenarios else {}
        files = {SUITE_FILE: suite_text(tool, scenarios or list(first)[:1], guidance), **first}
        build = tool.build if tool else ()
    else:
        build = load_suite(root, environ=options.environ()).build
        print(f"kept {SUITE_FILE} and what it names, which are here already")
    toolchain = missing_toolchain(build)
    action = _action(toolchain)
    files[WORKFLOW] = workflow_text(action, toolchain)
    written = [name for name, text in files.items() if _write(root, name, text)]
    _write_schemas(root)
    print(*(f"wrote {name}" for name in written), sep="\n")
    suite = load_suite(root, environ=options.environ())  # raises with what is wrong in files that were here before
    for note in uncommitted(root, suite):
        if "ignores" in note:  # what was written just now is not added yet
            print(f"note: {note}")
    if toolchain and WORKFLOW in written:
        print(
            f"the build needs `{toolchain}`, which the container has not: {WORKFLOW} uses {action.partition('@')[0]},"
        )
        print("which runs all on the runner itself, as its user: for people whom you trust (docs/install.md)")
    print(_next_steps(written, root, action))
    return 0


def _tool(root: Path, binary: str | None, *, needed: bool) -> Tool | None:
    """Return the tool under test, or None if there is none and the existing scenarios do not need one.

    Raises ConfigurationError if a tool is `needed` and none is found.
    """
    from tidegate.authoring.survey import Tool, find_programs, find_tool, tool_at
    from tidegate.errors import ConfigurationError
    from tidegate.vcs.revisions import is_ignored

    found = find_tool(root)
    if found is not None and binary in (None, found.binary):
        print(f"the tool is `{found.binary}`, from {found.found_in}")
        return found
    for program in find_programs(root, binary) if binary else ():
        if not is_ignored(root, program):
            print(f"the tool is {program}")
            return tool_at(root, program)
    if binary is not None:
        _doubt(binary, found)
        return found._replace(binary=binary) if found and found.found_in != "bin/" else Tool(binary)
    if not needed:
        return None
    raise ConfigurationError(
        "no command-line tool was found in pyproject.toml, package.json, Cargo.toml, go.mod, bin/ or Makefile.",
        "Name the tool that agents use with `--binary NAME`.",
    )


def _guidance(root: Path, tool: Tool | None) -> tuple[str, ...]:
    """Return the value for `guidance` if its default is not enough, and print which files agents will read."""
    from tidegate.authoring.documenting_texts import README, documenting_texts, guidance_for

    if tool is None:
        return ()
    texts = documenting_texts(root, tool.binary)
    if texts:
        read = " and ".join(guidance_for(texts)[-1:] or [text for text in texts if text != README])
        print(f"agents read {read}; `tidegate pr` runs the commands shown there, on this machine, as you")
    else:
        print(f"no guidance was found: no block of AGENTS.md, CLAUDE.md, a skill or README.md calls `{tool.binary}`,")
        print("so agents have the prompt alone: name your docs under `guidance` in tidegate.yaml")
    return guidance_for(texts)


def _doubt(binary: str, found: Tool | None) -> None:
    """Warn if no program has this name: if it is a typo, no trial can be measured."""
    import shutil

    if "/" in binary or shutil.which(binary):
        return
    makes = f"; the repository makes `{found.binary}` ({found.found_in})" if found else ""
    print(f"warning: there is no program `{binary}` on PATH{makes}. If nothing in `build` and `path` of", end=" ")
    print("tidegate.yaml makes it, no trial can be measured: fix `target.binary` there.")


def _write(root: Path, name: str, text: str) -> bool:
    """Write a new file. Return False if it exists already."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        print(f"kept {name}, which is here already")
        return False
    return True


def _write_schemas(root: Path) -> None:
    """Write the JSON Schemas that the `yaml-language-server` lines refer to, always those of this version."""
    from tidegate.store.our_folder import make_our_folder
    from tidegate.suite.json_schema import file_schema

    folder = make_our_folder(root) / "schema"
    folder.mkdir(exist_ok=True)
    for kind in ("suite", "scenario"):
        (folder / f"{kind}.json").write_text(json.dumps(file_schema(kind), indent=1), encoding="utf-8")


def _action(toolchain: str | None) -> str:
    """Return the value for `uses:`: the GitHub commit that this Tidegate was installed from, or a placeholder.

    With a toolchain, it is the native action, since the container does not have the runner's toolchains.
    """
    from tidegate.authoring.starter import UNKNOWN_ACTION, native_action

    action = _installed_from() or UNKNOWN_ACTION
    return native_action(action) if toolchain else action


def _installed_from() -> str | None:
    from importlib import metadata

    try:
        origin = json.loads(metadata.distribution("tidegate").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        origin = {}
    commit = origin.get("vcs_info", {}).get("commit_id")
    host, _, repository = str(origin.get("url", "")).removesuffix(".git").partition("github.com/")
    return f"{repository}@{commit}" if host and repository and commit else None


def _next_steps(written: list[str], root: Path, action: str) -> str:
    from tidegate.authoring.starter import WORKFLOW
    from tidegate.errors import ConfigurationError
    from tidegate.vcs.revisions import default_base

    lines = ["", "next:"]
    if WORKFLOW in written and _installed_from() is None:
        lines.append(f"  in {WORKFLOW}, say for {action} where Tidegate is")
    if written:
        lines.append(f"  git switch --create tidegate && git add {' '.join(written)} && git commit")
    try:
        pr, base = "tidegate pr               ", default_base(root)
    except ConfigurationError:
        pr, base = "tidegate pr --base BRANCH ", "BRANCH, which it goes to"
    return "\n".join([*lines, f"  {pr} compare the branch with {base}, as on a pull request"])
