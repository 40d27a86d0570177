"""Run the tool by pydantic-evals: TOOL CASES JOBS OUT."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext


@dataclass
class Answers(Evaluator[int, str, None]):
    """Passes if the output has the answer."""

    def evaluate(self, ctx: EvaluatorContext[int, str, None]) -> bool:
        """Return True if it has."""
        return "42" in ctx.output


async def main(tool: str, cases: int, jobs: int, out: Path) -> None:
    """Run the tool once per case."""

    async def task(_: int) -> str:
        process = await asyncio.create_subprocess_exec(tool, stdout=asyncio.subprocess.PIPE)
        output, _stderr = await process.communicate()
        return output.decode()

    dataset = Dataset(name="bench", cases=[Case(name=f"s{n}", inputs=n) for n in range(cases)], evaluators=[Answers()])
    report = await dataset.evaluate(task, max_concurrency=jobs, progress=False)
    passed = [all(one.value for one in case.assertions.values()) for case in report.cases]
    out.write_text(json.dumps(passed), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
