"""Which shipments have to be looked at? Reads all cases, and writes one JSON line for each."""

import csv
import json
import sys
from pathlib import Path

RISKY = {"missile parts", "centrifuge"}


def screened(case: dict[str, str]) -> dict[str, object]:
    """The decision, with the call that it was made by."""
    risk = "high" if case["goods"] in RISKY else "medium" if float(case["value"]) > 10_000 else "low"
    call = {"tool": "look_up", "input": {"goods": case["goods"]}, "output": risk}
    decision = json.dumps({"risk": risk, "review": risk != "low"})
    return {"id": case["id"], "output_messages": [{"role": "assistant", "content": decision, "tool_calls": [call]}]}


def main() -> None:
    source, target = sys.argv[1:]
    with Path(source).open(newline="") as cases, Path(target).open("w") as out:
        for case in csv.DictReader(cases):
            out.write(json.dumps(screened(case)) + "\n")


if __name__ == "__main__":
    main()
