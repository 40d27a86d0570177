"""Run the tool by inspect_ai: TOOL CASES JOBS OUT. The model is its own stand-in, which is not asked."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def call(tool: str) -> Solver:
    """Return a solver that calls the tool."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        process = await asyncio.create_subprocess_exec(tool, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        state.output.completion = output.decode()
        return state

    return solve


def main(tool: str, cases: int, jobs: int, out: Path) -> None:
    """Run the tool once per case."""
    samples = [Sample(id=n + 1, input="Ask the tool.", target="42") for n in range(cases)]
    task = Task(dataset=samples, solver=call(tool), scorer=includes())
    logs = eval(task, model="mockllm/model", max_samples=jobs, display="none", log_dir=str(out.parent / "logs"))
    passed = [all(score.value == "C" for score in (one.scores or {}).values()) for one in logs[0].samples or ()]
    out.write_text(json.dumps(passed), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
