"""`tidegate init`: writes the first suite of a repository."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath

import yaml

from tidegate.authoring.build_systems import find_tools, has_favourite, with_beside
from tidegate.authoring.callers import (
    FOLDER,
    PULL_REQUEST,
    USUAL,
    USUAL_WORKFLOWS,
    ActionSource,
    Needs,
    own_place,
    workflow,
)
from tidegate.authoring.first_suite import first_suite
from tidegate.authoring.import_config import CONFIG, suite_of_config
from tidegate.authoring.starter import SUITE, bare_files, suite_text
from tidegate.authoring.survey import find_programs, find_scenarios, missing_toolchain, tool_at
from tidegate.authoring.tool import Tool
from tidegate.authoring.tryout import Tried
from tidegate.cli import options
from tidegate.cli.progress import Steps
from tidegate.errors import ConfigurationError, TidegateError
from tidegate.history.our_folder import make_our_folder
from tidegate.model.agent import Agent
from tidegate.model.judge import Judge
from tidegate.model.progress import Progress
from tidegate.model.suite import Suite
from tidegate.run.run_job import Options
from tidegate.suite.json_schema import file_schema
from tidegate.suite.load import load_suite
from tidegate.text.shorten import few
from tidegate.vcs.revisions import default_base, is_ignored, repository_root

MOST_NAMED = 5  # tools that are found, but not tried
NOT_TRIED = 4  # exit code: the files are written, but the suite could not be run

_FILL_IN = """\
  there is no release yet: push your copy of Tidegate to GitHub, and name it in the workflows. If it is acme/tidegate:
  commit=$(git ls-remote https://github.com/acme/tidegate HEAD | cut -f 1)
  sed -i "s|OWNER/tidegate|acme/tidegate|; s|@COMMIT|@$commit|" .github/workflows/tidegate*.yml"""
_WRITE_TASKS = """\
  these scenarios repeat what the docs show; add tasks in the words of your users (docs/good-scenarios.md)"""
DESCRIPTION = """\
Finds the repository's tool, first in the current folder, and its existing scenarios. Builds the last
commit in a separate checkout, and runs the tool's help and the examples of the docs there, as you (as separate
users if you are root). Writes tidegate.yaml, scenarios with the checks that passed each time, and the workflows: for
pull requests, for those from forks, and for base's history. Existing files are not changed.
`--workflow NAME` writes nothing but that workflow.
Exits with 4 if the suite could not be run, and prints what is missing.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: current folder)"
    )
    parser.add_argument("--binary", metavar="NAME", help="the tool's name (default: detected)")
    parser.add_argument(
        "--build", action="append", default=[], metavar="COMMAND", help="run this, too, to build the tool"
    )
    parser.add_argument("--setup", action="append", default=[], metavar="COMMAND", help="run this before each scenario")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="set this variable for the tool's calls"
    )
    parser.add_argument("--no-try", action="store_true", help="build and run nothing; scenarios are for you to write")
    parser.add_argument(
        "--workflow", action="append", metavar="NAME", help="write this workflow only (docs/github.md lists them)"
    )
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(args: argparse.Namespace) -> int:
    """Write the files that do not exist yet, then print what was written and the next steps."""

    root = repository_root(args.repo)
    if args.workflow:
        return _write_workflows(root, args.workflow)
    problem: str | None = None
    files: dict[str, bytes] = {}
    if (root / SUITE).exists():
        build = load_suite(root, environ=options.environ()).build
        print(f"kept {SUITE} and what it names, which are here already")
        print(f"To start over, delete {SUITE}, its scenarios and {PULL_REQUEST}, and run `tidegate init` again.")
    else:
        tool, files, problem = _new_suite(root, args)
        build = tool.build if tool else ()
    written = [name for name, content in files.items() if _write(root, name, content)]
    _write_schemas(root)
    print(*_rows(written), sep="\n", end="\n" if written else "")
    suite = load_suite(root, environ=options.environ())  # raises if files that were here before have errors
    toolchain = missing_toolchain(build)
    place = own_place()
    if (root / PULL_REQUEST).exists():
        print(f"kept {PULL_REQUEST}, which is here already")
    else:
        written += _add_workflows(root, USUAL_WORKFLOWS, place, _needs(suite, toolchain))
    if toolchain and PULL_REQUEST in written:
        print(
            f"the build needs `{toolchain}`, which the container lacks: `native: true` in the workflows runs everything"
        )
        print("on the runner itself, as its user: for trusted contributors only (docs/start.md)")
    print(_next_steps(written, root, place))
    return 0 if problem is None else NOT_TRIED


def _rows(written: Sequence[str]) -> Iterator[str]:
    """Yield a row for each file, and one for all files of a template."""
    scenarios = next((str(PurePosixPath(name).parent) for name in written if PurePosixPath(name).match("*/*.yaml")), "")

    def place(name: str) -> str:
        template, inside, _ = name.removeprefix(f"{scenarios}/").partition("/")
        return f"{scenarios}/{template}/" if scenarios and inside and name.startswith(f"{scenarios}/") else name

    for one, names in groupby(written, key=place):
        count = len([*names])
        what = f", the workspace at the start ({count} file{'s' if count > 1 else ''})" if one.endswith("/") else ""
        yield f"wrote {one}{what}"


_OF_BUILD = (
    "Install what the build lacks, or fix `build` in tidegate.yaml, and try `tidegate run`. Builds have a HOME",
    "of their own: `pass_env` names the variables that they need. docs/start.md tells how CI gets a toolchain.",
)


def _new_suite(root: Path, args: argparse.Namespace) -> tuple[Tool | None, dict[str, bytes], str | None]:
    """Return the tool, the files of its suite, and why the suite could not be run, if so."""

    where = os.path.relpath(args.repo.resolve(), root.resolve())
    scenarios = find_scenarios(root)
    tool = _tool(root, where, args.binary, needed=not scenarios)
    if scenarios or tool is None:
        return tool, {SUITE: _imported(root, suite_text(tool, scenarios)).encode()}, None
    env = tuple((name, value) for name, _, value in (one.partition("=") for one in args.env))
    tool = tool._replace(build=(*tool.build, *args.build), setup=tuple(args.setup), env=env)
    why = "`--no-try` was given" if args.no_try else None
    tried = None if why else _try(root, where, tool, args)
    if tried is not None and tried.problem is None:
        print(*tried.notes, sep="\n", end="\n" if tried.notes else "")
        checks = sum(content.count(b"- {type:") for content in tried.files.values())
        count = _scenarios(tried.files, tried.tool.scenarios)
        found = f"{count} scenario{'' if count == 1 else 's'} with {checks} check{'' if checks == 1 else 's'}"
        print(f"{found}: each passed 3 of 3 trials on the last commit")
        return tried.tool, kept_by_git(root, tried.tool.scenarios, tried.files), None
    problem = why or (tried.problem if tried else None) or ""
    print(f"warning: the suite was not run: {problem}")
    if tried is not None and tried.build_failed:
        print(*_OF_BUILD, sep="\n")
    elif tried is not None and tool.build:
        print("If the build does not make all that the tool needs, add what is missing: `--build COMMAND`.")
    return tool, {name: text.encode() for name, text in bare_files(tool).items()}, problem


def _scenarios(files: Iterable[str], folder: str) -> int:
    """Return how many of these files are scenarios in this folder. Workspaces below it may have such files, too."""
    paths = map(PurePosixPath, files)
    return sum(path.suffix == ".yaml" and str(path.parent) == folder for path in paths)


def kept_by_git(root: Path, folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files, with a `.gitignore` in this folder of theirs if git would leave some out, such as `*.csv`."""
    hidden = any(is_ignored(root, name) for name in files if name.startswith(f"{folder}/"))
    exception = f"{folder}/.gitignore"
    # Where git ignores the whole folder, it reads no such file in it.
    return {**files, exception: b"!*\n"} if hidden and not is_ignored(root, exception) else dict(files)


def _imported(root: Path, suite: str) -> str:
    """Return the suite of llm-tool-test's configuration with the build of ours, or ours if there is none."""

    if not (root / CONFIG).is_file():
        return suite
    build = {key: value for key, value in yaml.safe_load(suite).items() if key in ("build", "path")}
    return suite_of_config((root / CONFIG).read_text(encoding="utf-8", errors="replace"), CONFIG, build)


def _try(root: Path, where: str, tool: Tool, args: argparse.Namespace) -> Tried:
    """Build the last commit and try the tool, with progress."""

    toolchains = Path.home() / ".rustup"
    rust = {"RUSTUP_HOME": str(toolchains)} if toolchains.is_dir() else {}  # a build has a HOME of its own
    chosen = Options(environ=rust | options.environ(), progress=Progress() if args.quiet else Steps())
    try:
        return options.run_until_stopped(lambda: first_suite(root, where, tool, chosen))
    except TidegateError as error:
        return Tried(tool, {}, problem=error.message)


def _tool(root: Path, where: str, binary: str | None, *, needed: bool) -> Tool | None:
    """Return the tool under test, or None if there is none and the existing scenarios do not need one.

    Raises ConfigurationError if a tool is `needed` and none is found, or several are equally likely.
    """

    found = find_tools(root, where)
    if binary is not None:
        return _named(root, binary, found)
    if found and has_favourite(root, where, found):
        tool = _chosen(found[0], found)
        if others := [one.binary for one in found[1:] if one.binary not in tool.beside]:
            print(f"others, for `--binary NAME`: {_listed(others[:MOST_NAMED])}")
        return tool
    if not needed:
        return None
    if found:
        listed = "\n".join(f"  {tool.binary}  ({tool.found_in})" for tool in found[:20])
        raise ConfigurationError(
            f"{len(found)} tools were found:\n{listed}",
            "Name the one that agents use with `--binary NAME`, or run `tidegate init` in its folder.",
        )
    raise ConfigurationError(
        "no command-line tool was found: no project file of a known build system defines one, and no program is in "
        "bin/ or installed from the root.",
        "Name the tool that agents use with `--binary NAME`.",
    )


def _chosen(tool: Tool, found: tuple[Tool, ...]) -> Tool:
    """Return the tool with the programs beside it, and say which they are."""
    tool = with_beside(tool, found)
    print(f"the tool is `{tool.binary}`, from {tool.found_in}")
    if tool.beside:
        print(f"the same build provides {_listed(tool.beside)}, which the suite calls, too")
    return tool


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _named(root: Path, binary: str, found: tuple[Tool, ...]) -> Tool:
    """Return the tool with that name: one that was found, a program of the repository, or one of an unknown build."""

    tool = next((tool for tool in found if tool.binary == binary), None)
    if tool is not None:
        return _chosen(tool, found)
    for program in find_programs(root, binary):
        if not is_ignored(root, program):
            print(f"the tool is {program}")
            return tool_at(program)
    builders = [tool for tool in found if tool.build]
    return builders[0]._replace(binary=binary) if builders else Tool(binary)


def _write(root: Path, name: str, content: bytes) -> bool:
    """Write a new file. Return False if it exists already."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        print(f"kept {name}, which is here already")
        return False
    return True


def _write_schemas(root: Path) -> None:
    """Write the JSON Schemas that the `yaml-language-server` lines refer to, always those of this version."""

    folder = make_our_folder(root) / "schema"
    folder.mkdir(exist_ok=True)
    for kind in ("suite", "scenario"):
        (folder / f"{kind}.json").write_text(json.dumps(file_schema(kind), indent=1), encoding="utf-8")


def _needs(suite: Suite, toolchain: str | None) -> Needs:
    """Return what the jobs of the suite need. An agent or judge with a provider needs the provider's key alone."""

    users: list[Agent | Judge] = [*suite.agents.values(), *(suite.judge.members if suite.judge else ())]
    providers = [user.chosen_provider for user in users if user.chosen_provider]
    keys = [key for user in (*providers, *(one for one in users if not one.chosen_provider)) for key in user.variables]
    return Needs(
        native=toolchain is not None,
        keys=bool(keys),
        identity=any(provider.keyless for provider in providers),
    )


def _write_workflows(root: Path, names: Sequence[str]) -> int:
    """Write these workflows for the suite that is here, or for one with keys, and print the next steps."""

    needs, place = USUAL, own_place()
    if (root / SUITE).exists():
        suite = load_suite(root, environ=options.environ())
        needs = _needs(suite, missing_toolchain(suite.build))
    print(_next_steps(_add_workflows(root, names, place, needs), root, place))
    return 0


def _add_workflows(root: Path, names: Sequence[str], place: ActionSource, needs: Needs) -> list[str]:
    """Write those workflows that are not here, and return their paths."""

    try:
        branch = default_base(root).removeprefix("origin/")
    except ConfigurationError:
        branch = "main"
    wanted = [workflow(name, place, branch, needs) for name in names]
    added = [one for one in wanted if _write(root, one.path, one.text.encode())]
    print(*(f"wrote {one.path}: {one.purpose}" for one in added), sep="\n", end="\n" if added else "")
    return [one.path for one in added]


def _next_steps(written: list[str], root: Path, place: ActionSource) -> str:

    lines = ["", "next:"]
    if any(name.startswith(FOLDER) for name in written) and not place.is_known:
        lines.append(_FILL_IN)
    if any(name.endswith(".yaml") and name != SUITE for name in written):
        lines.append(_WRITE_TASKS)
    if written:
        ignored = [name for name in written if is_ignored(root, name)]
        if ignored:
            lines.append(f"  git ignores {few(ignored)}, which every checkout then lacks; `--force` still adds them")
        folders = {str(PurePosixPath(name).parent) for name in written if name.endswith((".yaml", ".yml"))}
        own = sorted(folders - {"."}, key=len)  # a template's folder is inside that of its scenario
        places = dict.fromkeys(next((one for one in own if name.startswith(f"{one}/")), name) for name in written)
        add = ["git", "add", *(["--force"] if ignored else []), *places]
        lines.append(f"  git switch --create tidegate && {shlex.join(add)} && git commit")
    try:
        pr, base = "tidegate pr               ", default_base(root)
    except ConfigurationError:
        pr, base = "tidegate pr --base BRANCH ", "BRANCH, which it goes to"
    return "\n".join([*lines, f"  {pr} compare the branch with {base}, as on a pull request"])
