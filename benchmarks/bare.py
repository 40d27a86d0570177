"""What bench_trials.py compares with: run the tool by bare asyncio, check its output, write a line."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path


async def main(tool: str, cases: int, jobs: int, out: Path) -> None:
    """Run the tool `cases` times, `jobs` at once."""
    slots = asyncio.Semaphore(jobs)
    with out.open("w", encoding="utf-8") as lines:

        async def one(number: int) -> None:
            async with slots:
                process = await asyncio.create_subprocess_exec(tool, stdout=asyncio.subprocess.PIPE)
                output, _ = await process.communicate()
            passed = process.returncode == 0 and b"42" in output
            lines.write(json.dumps({"case": number, "passed": passed}) + "\n")

        await asyncio.gather(*map(one, range(cases)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
