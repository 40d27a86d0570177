"""Breaks the code in 60 places, one at a time in a copy, and shows which changes the tests of `make test` find.

`python -m tests.mutation [FIRST [LAST]]`: all changes, or those with these numbers. A change runs the test files
that import its module first, then the unit tests of its folder, and the layers only if it survives both. The exit code
is 1 if more than two survive.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/tidegate"
LAYERS = ("tests/unit", "tests/trial", "tests/journeys")
MOST_SURVIVORS = 2
SECONDS = 1800  # a change may make a loop endless

# (file below src/tidegate, the text, what it becomes)
CHANGES = [
    ("decide/procedure/row_states.py", "trials >= FLAKY_FROM", "trials > FLAKY_FROM"),
    ("decide/procedure/row_states.py", "passes < FLAKY_BELOW * trials", "passes <= FLAKY_BELOW * trials"),
    ("decide/procedure/observed.py", "if ends and _cut_off(one)", "if _cut_off(one)"),
    ("decide/procedure/observed.py", "not self.row.deterministic or self.demoted", "not self.row.deterministic"),
    ("decide/procedure/observed.py", "self.row.replay.spot and not self.doubted", "self.row.replay.spot"),
    ("decide/procedure/observed.py", "min(CLEARS, self.most or CLEARS)", "CLEARS"),
    ("decide/procedure/observed.py", 'self.dropped("base") and self.dropped("head")', 'self.dropped("head")'),
    (
        "decide/procedure/pairs.py",
        "if e_of_drop(pairs) * limit * TIES >= 1:",
        "if e_of_drop(pairs) * limit * TIES >= 2:",
    ),
    ("decide/procedure/pairs.py", 'return self._facts.earlier.state == "regressed"', "return False"),
    ("decide/procedure/pairs.py", "pairs.head >= pairs.base and pairs.number >= first", "pairs.number >= first"),
    ("decide/procedure/pushes.py", "on_head and base.passes > 0", "on_head"),
    ("decide/procedure/pushes.py", "entry.flip is not None and not entry.build_failed", "entry.flip is not None"),
    ("decide/procedure/rules.py", "if base.inside or not (head.inside or", "if not (head.inside or"),
    (
        "decide/procedure/rules.py",
        'if not head.inside:\n            return "outage"',
        "if not head.inside:\n            return None",
    ),
    ("decide/procedure/rules.py", "max(0, enough.head - shown)", "enough.head"),
    ("decide/procedure/row_states.py", 'if entry.flip == "better":', 'if entry.flip == "worse":'),
    ("decide/procedure/row_states.py", "head.setup >= head.lost else", "head.setup > head.lost else"),
    ("decide/procedure/row_states.py", "head * base_n < base * head_n", "head * base_n <= base * head_n"),
    ("decide/procedure/row_states.py", "<= SCREEN * TIES", "<= SCREEN / 2 * TIES"),
    ("decide/procedure/screening.py", "odds * TIES >= SUSPECT", "odds * TIES >= 2 * SUSPECT"),
    (
        "decide/procedure/screening.py",
        'turn == 1 and (facts.earlier.state in ("regressed", "unconfirmed")',
        'turn == 1 and (facts.earlier.state in ("regressed",)',
    ),
    ("decide/procedure/steps.py", "if not state.policy.fail_fast or", "if state.policy.fail_fast or"),
    ("decide/procedure/steps.py", "if entry.skipped or entry.row.no_agent:", "if entry.skipped:"),
    (
        "decide/procedure/suite_gate.py",
        'policy.suite != "block" and not history_holds(rows)',
        "not history_holds(rows)",
    ),
    ("decide/procedure/detection.py", "elif turn < screening or odds > 0:", "elif turn < screening:"),
    ("decide/comparison/compare.py", 'row.presence == "both" and not in_base', "not in_base and False"),
    ("decide/comparison/compare.py", "before.get(row.key, row.definition) != row.definition", "row.key not in before"),
    ("decide/causes/divergence.py", 'if call.status == "ok":', 'if call.status != "ok":'),
    ("decide/comparison/evidence.py", "if not revision.sha and not revision.dirty:", "if not revision.sha:"),
    ("decide/trust.py", "gate.required and not gate.passed", "not gate.passed"),
    ("decide/comparison/metric_tests.py", "q <= Q and matters(name, change)", "q <= Q"),
    ("decide/comparison/metric_tests.py", "worse >= margin - _CLOSE", "worse > margin + _CLOSE"),
    ("decide/comparison/one_row.py", "if counts[1] else None", "if counts[0] else None"),
    ("decide/comparison/compare.py", "(base and passes and all(base))", "(base and passes and any(base))"),
    ("decide/comparison/compare.py", "chance <= MOST_BY_CHANCE", "chance > MOST_BY_CHANCE"),
    ("decide/comparison/compare.py", 'not trial.reused and trial.phase == "screen"', "not trial.reused"),
    ("decide/comparison/compare.py", "if expected < used:", "if expected:"),
    ("decide/comparison/compare.py", 'limit if name == "s" else limit * part', "limit"),
    ("decide/comparison/whole_suite.py", "row.head.passes == row.base.passes == 0", "row.head.passes == 0"),
    ("decide/comparison/whole_suite.py", "if not row.deterministic],", "],"),
    ("decide/verdict.py", '0 if self.mode == "advisory" else self.code', "self.code"),
    ("decide/verdict.py", "in policy.block and may_block(row, policy)", "in policy.block"),
    ("decide/verdict.py", 'if words == {"secret"}:', 'if "secret" in words:'),
    ("decide/verdict.py", "if unmeasured or thin else", "if unmeasured else"),
    ("decide/verdict.py", "failed_every_trial and not row.one_shot", "failed_every_trial"),
    ("decide/verdict.py", "inside or unconfirmed or row.not_measured in by_head", "inside or unconfirmed"),
    ("decide/verdict.py", 'row.not_measured == "budget" and failed_every_trial', 'row.not_measured == "budget"'),
    ("suite/changes.py", '"more" if old[key] < new[key]', '"more" if old[key] > new[key]'),
    ("suite/changes.py", 'scenario.purpose == "regression"', 'scenario.purpose != "regression"'),
    ("suite/changes.py", '"other", f"new {key}', '"more", f"new {key}'),
    ("suite/changes.py", "if own := files.get(now.name):", 'if own := files.get(""):'),
    ("suite/plan.py", "before.agent == after.agent and before", "before"),
    ("suite/plan.py", "if name in asking else text", "if missing else text"),
    ("suite/plan.py", "any(gate.required for gate in scenario.gates)", "bool(scenario.gates)"),
    ("suite/load.py", "if loaded and not (problems or assembly.problems):", "if loaded and not problems:"),
    ("github/comment.py", "before.head == self._run.head and before.age > self._run.age", "before.age > self._run.age"),
    ("github/comment.py", "comment.author.casefold() == viewer.casefold()", "comment.author"),
    ("github/comment.py", "standing.body.strip() == self._body.strip()", "standing.body"),
    ("github/comment.py", "if wait > left:", "if wait > 10 * left:"),
    ("trial/recorder.py", "and entry.id not in calls", ""),
    ("trial/recorder.py", "if call.started_at <= stop.at and (", "if ("),
    ("trial/recorder.py", 'return "ok" if end.status == 0 else "error"', 'return "ok" if end.status >= 0 else "error"'),
]


def main(arguments: list[str]) -> int:
    """Try the changes and print the table. Returns the exit code."""
    first, last = (int(arguments[0]) if arguments else 1, int(arguments[-1]) if arguments else len(CHANGES))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder) / "tidegate"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".tidegate", "__pycache__", ".*_cache")
        )
        tests, left = Tests(copy), []
        for number in range(first, last + 1):
            file, old, new = CHANGES[number - 1]
            if not _told(number, tests.find(file, old, new, tests.nearest(file))):
                left.append(number)
        survivors = [
            one for one in left if not _told(one, tests.find(*CHANGES[one - 1], [(layer,) for layer in LAYERS]))
        ]
    print(f"{len(survivors)} survived")
    return int(len(survivors) > MOST_SURVIVORS)


def _told(number: int, found_by: str | None) -> bool:
    """Print what has found a change; returns False if nothing has."""
    file, old, new = CHANGES[number - 1]
    print(f"{number:2}  {file}: {old} -> {new or '(nothing)'}: {found_by or 'survived'}", flush=True)
    return found_by is not None


class Tests:
    """The tests of a copy, from the nearest to the widest."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self._passing: set[tuple[str, ...]] = set()

    def find(self, file: str, old: str, new: str, groups: Iterable[tuple[str, ...]]) -> str | None:
        """Make one change in the copy and take it back; returns the first test of these groups that failed, or None."""
        path = self.copy / "src/tidegate" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
        for tests in groups:
            self._check_unchanged(tests)
            path.write_text(text.replace(old, new), encoding="utf-8")
            failed = failure(self.copy, tests)
            path.write_text(text, encoding="utf-8")
            if failed is not None:
                return failed
        return None

    def nearest(self, file: str) -> Iterator[tuple[str, ...]]:
        """Yield the test files that import the module or have its name, and the unit tests of its folder."""
        module = Path(file)
        room = f"tests/unit/{module.parent}"
        imported = f"{module.parent.name}.{module.stem} import"
        unit = [one for one in self.copy.glob(f"{room}/**/test_*.py") if imported in one.read_text(encoding="utf-8")]
        files = {*unit, *self.copy.glob(f"tests/trial/**/test_{module.stem}.py")}
        if files:
            yield tuple(sorted(str(one.relative_to(self.copy)) for one in files))
        yield (room,)

    def _check_unchanged(self, tests: tuple[str, ...]) -> None:
        """Raise an error unless these tests pass without any change."""
        if tests not in self._passing:
            assert (found := failure(self.copy, tests)) is None, f"without any change: {found}"
            self._passing.add(tests)


def failure(copy: Path, tests: Sequence[str]) -> str | None:
    """Return the first of these tests that fails on the copy's source, or None."""
    workers = "0" if tests[0].endswith(".py") else "2"  # to start workers takes longer than a few files
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", workers, "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{tests[0]} did not end"
    if done.returncode not in (0, 1, 2):  # 2: stopped at the first failure
        raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout.decode(), re.M)
    return None if done.returncode == 0 else (failed or tests)[0].removeprefix("tests/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
