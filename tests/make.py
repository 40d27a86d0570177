"""Makers of the values that most tests need. Each has plain defaults, and every field can be given by its name."""

from __future__ import annotations

from typing import Any, TypeVar

from tidegate.agents.doc_follower import DocFollower
from tidegate.decide.verdict import decide
from tidegate.model.comparison import BaseCounts, Comparison, HeadCounts, Row, SuiteEffect
from tidegate.model.measurement import Run, TrialResult
from tidegate.model.result import BaseSide, Cost, HeadSide, Result, Sides, Verdict
from tidegate.model.revision import Revision
from tidegate.model.suite import Policy, RowState, Scenario, Suite
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
from tidegate.reports.verdict_text import verdict_of

Passes = tuple[int, int]
T = TypeVar("T")
DOCS = DocFollower(type="doc-follower")
BASE_SHA, HEAD_SHA = "b" * 40, "d" * 40


def sure(value: T | None) -> T:
    """Return a value that has to be there."""
    assert value is not None
    return value


def typed(kind: type[T], value: object) -> T:
    """Return a value that has to be of that class."""
    assert isinstance(value, kind), value
    return value


def scenario(name: str = "s", **fields: Any) -> Scenario:
    """Return a scenario with nothing to check."""
    target = Target(binary="tool")
    return Scenario(
        **{"name": name, "description": "d", "file": f"{name}.yaml", "target": target, "prompt": "p", **fields}
    )


def suite(*scenarios: Scenario, **fields: Any) -> Suite:
    """Return a suite of those scenarios with the doc-follower."""
    return Suite(**{"agents": {"docs": DOCS}, "scenarios": scenarios, **fields})


def spec(**fields: Any) -> TrialSpec:
    """Return the specification of the first trial of head."""
    return TrialSpec(**{"side": "head", "scenario": "s", "agent": "a", "index": 1, **fields})


def trial(**fields: Any) -> Trial:
    """Return the record of a trial whose agent has ended normally."""
    return Trial(**{"spec": spec(), "end": "completed", **fields})


def trial_result(**fields: Any) -> TrialResult:
    """Return a trial that passed. `decides` is its outcome unless given."""
    of = spec(**{name: fields[name] for name in TrialSpec.model_fields if name in fields})
    outcome = fields.get("outcome", "pass")
    return TrialResult(
        **{**of.model_dump(), "id": of.id, "outcome": outcome, "decides": outcome, "reason": "", **fields}
    )


def row(
    state: RowState = "ok", base: Passes | BaseCounts = (0, 0), head: Passes | HeadCounts = (0, 0), **fields: Any
) -> Row:
    """Return a row. A pair is a side's passes and measured trials."""
    counts = {
        "base": base if isinstance(base, BaseCounts) else BaseCounts(passes=base[0], trials=base[1]),
        "head": head if isinstance(head, HeadCounts) else HeadCounts(passes=head[0], trials=head[1]),
    }
    return Row(**{"scenario": "s", "agent": "a", "state": state, "reason": state, **counts, **fields})


def verdict(comparison: Comparison, policy: Policy | None = None) -> Verdict:
    """Return the verdict that Tidegate gives a comparison, in words."""
    return verdict_of(comparison, decide(comparison, policy or Policy()))


def result(*rows: Row, policy: Policy | None = None, excluded_share: float = 0.0, **fields: Any) -> Result:
    """Return a result with the verdict that Tidegate gives those rows."""
    shared = {name: fields[name] for name in Comparison.model_fields if name in fields}
    compared = Comparison(**{"rows": rows, "excluded_share": excluded_share, **shared})
    made: dict[str, Any] = {
        "tidegate_version": "0.1.0",
        "sides": Sides(base=BaseSide(sha=BASE_SHA, ref="main"), head=HeadSide(sha=HEAD_SHA, ref="change")),
        "rows": rows,
        "suite": SuiteEffect(),
        "cost": Cost(),
        **fields,
    }
    return Result(**{"verdict": verdict(compared, policy), **made})


def run(*trials: TrialResult, **fields: Any) -> Run:
    """Return a run of head."""
    made: dict[str, Any] = {
        "tidegate_version": "0.1.0",
        "side": "head",
        "revision": Revision(sha=HEAD_SHA, ref="HEAD"),
        "suite_file": "tidegate.yaml",
        "suite_hash": "",
        "policy": Policy(),
        "rows": (),
        "agents": {},
        "started_at": 0,
        "seconds": 0,
        "trials": trials,
    }
    return Run(**{**made, **fields})


_JUDGE = """\
import json, re, sys
found = re.findall(r"<data (\\w+) name=(\\w+)>\\n(.*?)\\n</data \\1>", sys.stdin.read(), re.S)
blocks = {name: body for _, name, body in found}
scores = [{"id": name, "reason": blocks.get(name, "no such block"), "score": float(text in blocks.get(name, ""))}
          for name, text in WANTED.items()]
print(json.dumps({"scores": scores}))
"""


def judge_files(**wanted: str) -> dict[str, str]:
    """Return `judge.py` and `rubric.yaml`: a criterion is met if the prompt's data block of its name has the text."""
    each = round(1 / len(wanted), 4)
    criteria = "".join(f"  - {{id: {name}, weight: {each}, description: It has the text.}}\n" for name in wanted)
    return {"judge.py": _JUDGE.replace("WANTED", repr(wanted)), "rubric.yaml": f"criteria:\n{criteria}"}
