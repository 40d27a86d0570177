"""Write the configuration of promptfoo and start it: TOOL CASES JOBS OUT PROMPTFOO."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

OFF = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "PROMPTFOO_DISABLE_REMOTE_GENERATION")


def main(tool: str, cases: int, jobs: int, out: Path, program: str) -> None:
    """Run the tool once per case."""
    folder = out.parent / "promptfoo"
    folder.mkdir(exist_ok=True)
    tests = [{"vars": {"n": n}, "assert": [{"type": "contains", "value": "42"}]} for n in range(cases)]
    config = {"prompts": ["Ask the tool {{n}}."], "providers": [f"exec:{tool}"], "tests": tests}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    words = [program, "eval", "-c", "config.json", "-j", str(jobs), "--no-cache", "--no-progress-bar", "--no-table"]
    environ = {**os.environ, **dict.fromkeys(OFF, "1"), "PROMPTFOO_CONFIG_DIR": str(folder / "home")}
    done = subprocess.run([*words, "-o", "out.json"], cwd=folder, env=environ, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.returncode
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    out.write_text(json.dumps([one["success"] for one in results]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), sys.argv[5])
