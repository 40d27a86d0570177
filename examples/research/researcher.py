"""A small research agent without a model: it searches the library, reads what it found, and says where it is from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).parent / "library"


def research(question: str, files: list[str]) -> tuple[list[dict[str, Any]], str]:
    """The calls that it made, and its answer."""
    calls = []
    words = [word.strip("?.,!").lower() for word in question.split()]
    found = sorted(path.name for path in LIBRARY.glob("*.md") if path.stem in words)
    calls.append({"tool": "search", "input": {"words": words}, "output": {"pages": found}})
    answer = "Nothing is known about that."
    for page in found:
        text = (LIBRARY / page).read_text().strip()
        calls.append({"tool": "read", "input": {"page": page}, "output": text})
        answer = f"{text} ({page})"
    if "check" in words:
        calls.append({"tool": "search", "input": {"words": ["errata"]}, "output": {"pages": []}})
    for file in files:
        calls.append({"tool": "open", "input": {"file": Path(file).name}, "output": Path(file).read_text()})
    return calls, answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--guidelines", default="")
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--older", action="store_true")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("question")
    given = parser.parse_args()
    calls, answer = research(given.question, given.files)
    if "one sentence" in given.guidelines:
        answer = answer.replace("\n", " ")
    if given.older:
        trace = [{"type": "tool_call", "name": call["tool"], "input": call["input"]} for call in calls]
        said: dict[str, Any] = {"text": answer, "trace": trace}
    else:
        said = {"output_messages": [{"role": "assistant", "content": answer, "tool_calls": calls}]}
    given.output.write_text(json.dumps(said))


if __name__ == "__main__":
    main()
