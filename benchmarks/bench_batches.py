"""What batches on workers cost: `python benchmarks/bench_batches.py [--cases N] [--rounds N]`.

The trials of bench_trials.py, on this machine and by the executor `command`, whose workers are processes of this
machine: so all that is added is the executor's own. Both are measured in turn.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_trials import GATES, Used, make_repository, run_trials

WORKER = f"{sys.executable} -m tidegate trials run --quiet --jobs 8 {{bundle}} --out {{out}}"


def main() -> None:
    """Measure each number of batches beside a local run, and print what a batch adds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "here", Path(folder) / "there"
        for repo in (here, there):
            make_repository(repo, options.cases, GATES["file"])
        for batches in (1, 4):
            set_executor(there, -(-options.cases // batches))
            local, remote = [], []
            for number in range(options.rounds):
                out = Path(folder) / f"{batches}-{number}"
                local.append(run_trials(here, options.cases, 8, out.with_suffix(".here")))
                remote.append(run_trials(there, options.cases, 8, out.with_suffix(".there")))
            report(batches, local, remote)


def set_executor(repo: Path, trials: int) -> None:
    """Have the repository's suite run batches of so many trials, one after the other."""
    suite = (repo / "tidegate.yaml").read_text(encoding="utf-8").partition("executor:")[0]
    more = f"executor: {{type: command, parallel: 1, trials: {trials}, run: '{WORKER}'}}\n"
    (repo / "tidegate.yaml").write_text(suite + more, encoding="utf-8")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *identity, "commit", "--quiet", "--all", "--message=executor"], cwd=repo, check=True)


def report(batches: int, local: list[Used], remote: list[Used]) -> None:
    """Print the ratios, and what each batch adds; the check of the agents is one more."""
    pairs = list(zip(local, remote, strict=True))
    cpu = statistics.median(there.cpu / here.cpu for here, there in pairs)
    wall = statistics.median(there.wall / here.wall for here, there in pairs)
    added = statistics.median((there.cpu - here.cpu) / (batches + 1) for here, there in pairs)
    print(
        f"{batches} batches and the check: {cpu:.2f} x the CPU, {wall:.2f} x the wall time, {added:.2f} s of CPU each"
    )


if __name__ == "__main__":
    main()
