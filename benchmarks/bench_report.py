"""How large report.html gets with 2,400 trials of 10 kB of transcript each, and how fast it opens and searches.

`python benchmarks/bench_report.py`: needs Chromium and `pip install playwright`. The transcripts are made up: the
trials of a scenario read the same docs and call the same commands, in their own order and words, with other ids.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Page

from tests.in_browser import chromium
from tests.make import result, row, trial_result
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult
from tidegate.model.measurement import Metrics, TrialResult
from tidegate.model.result import Result
from tidegate.model.trial import Record
from tidegate.reports.html import render_html

SCENARIOS, TRIALS, CHARACTERS, OPENINGS = 60, 20, 10_000, 7  # trials: on each side
PROSE = Path(__file__).parents[1].joinpath("docs/verdict.md").read_text(encoding="utf-8")
SENTENCES = [text.strip() for text in PROSE.replace("\n", " ").split(". ") if 40 < len(text) < 200]


def events(trial: TrialResult) -> Iterator[Event]:
    """Yield a transcript: messages in the agent's own words, the docs, and calls with ids of this trial."""
    own, of_all = random.Random(trial.id), random.Random(trial.scenario)
    docs = ". ".join(of_all.sample(SENTENCES, 20))
    yield ToolCall(id="docs", tool="shell", command="cat README.md", at=1)
    yield ToolResult(id="docs", status="ok", exit_code=0, output=docs, at=1.2)
    size, number = len(docs), 0
    while size < CHARACTERS:
        number += 1
        said = f"{own.choice(SENTENCES)}. Next I try {own.choice(SENTENCES).lower()}"
        printed = "\n".join(f"task-{own.randrange(16**8):08x}  {of_all.choice(SENTENCES)[:60]}" for _ in range(6))
        yield Message(text=said, at=number * 2)
        yield ToolCall(id=str(number), tool="shell", command=f"notes list --tag {own.randrange(99)}", at=number * 2 + 1)
        yield ToolResult(id=str(number), status="ok", exit_code=0, output=printed, at=number * 2 + 1.5)
        size += len(said) + len(printed)
    yield Message(text=f"The last word of {trial.id} is xylophone{trial.index}.", at=number * 2 + 2)
    yield End(end="completed", at=number * 2 + 3)


def stored() -> Result:
    """Return a result of 60 scenarios × 20 trials on each side; every 15th scenario regressed."""
    names = [f"scenario_{number:02d}" for number in range(SCENARIOS)]
    trials = [
        trial_result(
            side=side,
            scenario=name,
            agent="claude",
            index=index,
            outcome="fail" if side == "head" and place % 15 == 0 else "pass",
            metrics=Metrics(command_count=9, error_count=1, turns=9, tokens_in=20_000 + index, duration_s=9.5 + index),
        )
        for place, name in enumerate(names)
        for side in ("base", "head")
        for index in range(1, TRIALS + 1)
    ]
    bad = [row("regressed", (20, 20), (0, 20), scenario=name, agent="claude") for name in names[::15]]
    good = [row("ok", (20, 20), (20, 20), scenario=name, agent="claude") for name in names if name not in names[::15]]
    return result(*bad, *good, trials=tuple(trials))


def opening(page: Page, address: str) -> float:
    """Return the milliseconds until the overview is shown."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".rows")
    return float(page.evaluate("performance.getEntriesByType('mark').find((mark) => mark.name === 'shown').startTime"))


SEARCH = """async (word) => {
  const start = performance.now();
  await indexed();
  const found = searched([word]);
  return [performance.now() - start, [...found.values()].flat().length];
}"""


def searches(page: Page, address: str) -> None:
    """Print how long the first search takes when the page has just been shown, and when transcripts are open."""
    opening(page, address)
    took, found = page.evaluate(SEARCH, "xylophone7")
    print(f"a search as soon as the page is shown takes {took:.0f} ms; {found} found")
    opening(page, address)
    page.evaluate("indexed()")  # which the page itself has begun
    ready = page.evaluate("performance.getEntriesByType('mark').find((mark) => mark.name === 'indexed').startTime")
    times = [page.evaluate(SEARCH, word)[0] for word in ("xylophone7", "task-0a", "regression", "no such word")]
    print(f"transcripts are open after {ready:.0f} ms; then searches take {times[0]:.0f} to {max(times):.0f} ms")


def main() -> None:
    """Print size, opening time and search time."""
    whole = stored()
    start = time.perf_counter()
    text = render_html(whole, lambda trial: Record(prompt="Sort the notes.", events=tuple(events(trial))), {})
    took = time.perf_counter() - start
    raw = sum(len(str(event)) for event in events(whole.trials[0]))
    print(f"{len(whole.trials)} trials, about {raw:,} characters each: {len(text.encode()):,} bytes in {took:.1f} s")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_page()
        times = [opening(page, path.as_uri()) for _ in range(OPENINGS)]
        kept = page.evaluate("JSON.parse(raw('records')).reduce((sum, [ids]) => sum + ids.length, 0)")
        print(f"transcripts kept: {kept} of {len(whole.trials)}")
        print(f"opened in {statistics.median(times):.0f} ms (fastest {min(times):.0f}, slowest {max(times):.0f})")
        searches(page, path.as_uri())


if __name__ == "__main__":
    main()
