"""Measurements that never affect the outcome: results of evaluator scripts, and the composite score."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat, ValidationError

from tidegate.gates.command_gate import what_went_wrong
from tidegate.gates.json_text import parse_json
from tidegate.model.evaluator import Score
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import EvaluatorResult, GateResult
from tidegate.model.metrics import Metrics
from tidegate.model.suite import Composite
from tidegate.model.trial import Step
from tidegate.model.value import Value
from tidegate.text.shorten import excerpt

MAX_SUMMARY = 500  # characters


class _EvaluatorOutput(Value, extra="ignore", strict=True):
    """The JSON that an evaluator script prints; unknown fields are ignored."""

    metrics: dict[str, FiniteFloat] | None = None
    score: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None
    summary: str | None = None


def script_results(steps: tuple[Step, ...]) -> tuple[tuple[EvaluatorResult, ...], tuple[str, ...]]:
    """Return the results of the evaluator scripts, and a warning for each whose output is unusable."""
    results: list[EvaluatorResult] = []
    warnings: list[str] = []
    for step in steps:
        if step.kind != "evaluator":
            continue
        try:
            output = _evaluator_output(step)
        except ValueError as error:
            output = _EvaluatorOutput(summary=str(error))
            warnings.append(f"evaluator {step.name}: {error}")
        results.append(_evaluator_result(step.name, output))
    return tuple(results), tuple(warnings)


def _evaluator_output(step: Step) -> _EvaluatorOutput:
    """Return the script's parsed output; ValueError with the reason if the script failed or its output is unusable."""
    if not step.result.ok:
        raise ValueError(what_went_wrong(step.result))
    if step.result.truncated:
        raise ValueError("its output was cut")
    try:
        return _EvaluatorOutput.model_validate(parse_json(step.result.stdout))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "its output"
        raise ValueError(excerpt(f"{where}: {first['msg']}")) from None
    except ValueError as error:
        raise ValueError(excerpt(f"its output is not JSON ({error}): {step.result.stdout}")) from None


def _evaluator_result(name: str, output: _EvaluatorOutput) -> EvaluatorResult:
    return EvaluatorResult(
        name=name,
        type="script",
        score=output.score,
        verdict=Score(value=output.score).verdict,
        weight=0,
        reason=excerpt(output.summary or "", MAX_SUMMARY),
        metrics={excerpt(metric): value for metric, value in (output.metrics or {}).items()},
    )


def composite_score(
    weights: Composite | None, gates: tuple[GateResult, ...], metrics: Metrics, judge: JudgeResult | None
) -> tuple[float | None, tuple[str, ...]]:
    """Return the weighted mean, 0..1, of the parts that were measured, and a warning that names the others."""
    if weights is None:
        return None, ()
    parts = {
        "gates": (weights.gate_weight, sum(gate.passed for gate in gates) / len(gates) if gates else None),
        "judge": (weights.judge_weight, judge.weighted_score if judge else None),
        "interaction": (weights.interaction_weight, metrics.first_try_success_rate),
    }
    wanted = {name: part for name, part in parts.items() if part[0] > 0}
    there = {name: (weight, score) for name, (weight, score) in wanted.items() if score is not None}
    if not there:
        return None, ("composite: none of its parts was measured",)
    total = sum(weight for weight, _ in there.values())
    missing = ", ".join(name for name in wanted if name not in there)
    warning = f"composite: not measured: {missing}; the weights of {', '.join(there)} were renormalised"
    return sum(weight * score for weight, score in there.values()) / total, (warning,) if missing else ()
