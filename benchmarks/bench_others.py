"""The same work by Tidegate and by other harnesses: `python benchmarks/bench_others.py --help` says with which options.

The work is that of bench_trials.py: a tool that takes 50 ms, once per case, and a look for the answer in its output.
Bare asyncio, pydantic-evals, inspect_ai and promptfoo do that alone. Tidegate also makes a workspace of ten files for
each case, records the call, isolates it, and keeps the diff. The others are installed into `--tools`, where they stay.
`--write` puts the table into benchmarks/performance.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench_trials import GATES, HERE, Used, make_repository, measured, run_bare, run_trials

PAGE = HERE / "performance.md"
FIRST, LAST = "<!-- harnesses -->\n", "<!-- /harnesses -->\n"
PYTHON = {"pydantic-evals": "run_pydantic_evals.py", "inspect_ai": "run_inspect_ai.py"}
Run = Callable[[int, int], Used]  # cases, jobs


def main() -> None:
    """Measure all of them in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[8])
    parser.add_argument("--folders", nargs="+", default=[tempfile.gettempdir()], help="for the files: each is measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools", type=Path, default=HERE / ".tools", help="folder for the other harnesses")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    began = os.getloadavg()[0]
    lines: list[str] = []
    for around in options.folders:
        os.environ["TMPDIR"] = around
        with tempfile.TemporaryDirectory(dir=around) as folder:
            runs = harnesses(Path(folder), options.tools.resolve(), {1, *options.cases})
            lines += [] if lines else start_up(runs, options.rounds)
            for cases in options.cases:
                for jobs in options.jobs:
                    lines += table(runs, cases, jobs, options.rounds, kind_of(around))
    text = "\n".join([where(began, options.rounds), "", *lines, ""])
    print(text)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(FIRST)
        PAGE.write_text(f"{before}{FIRST}\n{text}\n{LAST}{rest.partition(LAST)[2]}", encoding="utf-8")


def where(load: float, rounds: int) -> str:
    """Return a sentence about the machine and the noise."""
    day = datetime.datetime.now(tz=datetime.UTC)
    return (
        f"Measured on {day.day} {day:%B %Y}: {os.cpu_count()} cores, Linux {platform.release()}, CPython "
        f"{platform.python_version()}, load {load:.1f} at the beginning and {os.getloadavg()[0]:.1f} at the end. "
        f"Medians of {rounds}; ± is half of the range. Ratios are to bare asyncio in the same round."
    )


def start_up(runs: dict[str, Run], rounds: int) -> list[str]:
    """Return the sentence about a run with one case."""
    used = {name: [run(1, 1) for _ in range(rounds)] for name, run in runs.items()}
    told = ", ".join(f"{name} {_median(one, 0):.2f} and {_median(one, 1):.2f} s" for name, one in used.items())
    return [f"One case, which is the start and the end of the program, CPU and wall: {told}.", ""]


def kind_of(folder: str) -> str:
    """Return the name of the folder's file system."""
    return subprocess.run(["df", "--output=fstype", folder], capture_output=True, text=True, check=True).stdout.split()[
        -1
    ]


def table(runs: dict[str, Run], cases: int, jobs: int, rounds: int, files: str) -> list[str]:
    """Return the table for so many cases, so many at once. The harnesses take turns."""
    used: dict[str, list[Used]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            used[name].append(run(cases, jobs))
    bare = next(iter(used.values()))
    lines = [
        f"{cases} cases, {jobs} at once, files on {files}:",
        "",
        "| | CPU per case | ratio | wall | ratio | largest process |",
    ]
    lines.append("|---|---|---|---|---|---|")
    for name, each in used.items():
        cpu, wall = (
            statistics.median(one[n] / other[n] for one, other in zip(each, bare, strict=True)) for n in (0, 1)
        )
        noise = (max(each).cpu - min(each).cpu) / 2 / _median(each, 0)
        lines.append(
            f"| {name} | {1000 * _median(each, 0) / cases:.1f} ms ± {100 * noise:.0f} % | {cpu:.1f} | "
            f"{_median(each, 1):.1f} s | {wall:.2f} | {_median(each, 2):.0f} MB |"
        )
    return [*lines, ""]


def _median(used: Sequence[Used], column: int) -> float:
    return statistics.median(one[column] for one in used)


def harnesses(folder: Path, tools: Path, sizes: set[int]) -> dict[str, Run]:
    """Return a function for each harness that runs it; bare asyncio comes first."""
    places = {count: make_repository(folder / f"repo{count}", count, GATES["file"]) for count in sizes}
    tool = next(iter(places.values()))
    outs = (folder / f"out{number}" for number in range(100_000))

    def foreign(interpreter: str, script: str, *more: str) -> Run:
        def run(cases: int, jobs: int) -> Used:
            (folder / "foreign").mkdir(exist_ok=True)
            out = folder / "foreign/passed.json"
            words = [interpreter, str(HERE / "others" / script), str(tool), str(cases), str(jobs), str(out), *more]
            used = measured(words, folder)
            assert json.loads(out.read_bytes()) == [True] * cases, script
            out.unlink()
            return used

        return run

    return {
        "bare asyncio": lambda cases, jobs: run_bare(tool, cases, jobs, next(outs)),
        **{name: foreign(python_of(tools, name), script) for name, script in PYTHON.items()},
        "promptfoo": foreign(sys.executable, "run_promptfoo.py", promptfoo(tools)),
        "Tidegate": lambda cases, jobs: run_trials(folder / f"repo{cases}", cases, jobs, next(outs)),
    }


def python_of(tools: Path, package: str) -> str:
    """Return the interpreter of an environment of its own with this package; make it if there is none."""
    python = tools / package / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(tools / package)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", package.replace("_", "-")], check=True)
    return str(python)


def promptfoo(tools: Path) -> str:
    """Return the program; install it with npm if it is not there."""
    program = tools / "promptfoo/node_modules/.bin/promptfoo"
    if not program.exists():
        program.parents[2].mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "promptfoo"]
        subprocess.run(install, cwd=program.parents[2], check=True)
    return str(program)


if __name__ == "__main__":
    main()
