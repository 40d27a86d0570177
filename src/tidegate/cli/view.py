"""`tidegate view`: opens the report of a stored run in a browser."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from tempfile import mkdtemp

from tidegate.cli import options
from tidegate.decide.comparison.compare import compare
from tidegate.decide.verdict import decide
from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import OUR_FOLDER
from tidegate.history.run_folder import PULL_REQUEST_FILE, RUN_FILE, RunFolder, load_run, write_text
from tidegate.model.measurement import Run
from tidegate.model.result import Result
from tidegate.model.trial import Record
from tidegate.reports.filters import count
from tidegate.reports.html import render_html
from tidegate.reports.make_result import make_result
from tidegate.vcs.revisions import repository_root

PAGE = "report.html"
DESCRIPTION = """\
Opens the report of a stored run in a browser. RUN is the folder of `tidegate pr` or `tidegate run`, or the address of
a workflow run on GitHub: its result is fetched with the token of `gh`, or that in GH_TOKEN, and shown without
transcripts.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    what = "the folder of `tidegate pr` or of a stored run (default: the newest one), or the address of a workflow run"
    parser.add_argument("stored", nargs="?", metavar="RUN", help=what)
    parser.add_argument("--instance", default="default", metavar="NAME", help="the suite's `instance` in that workflow")
    parser.add_argument("--no-browser", action="store_true", help="only print the path of the page")


def run(args: argparse.Namespace) -> int:
    """Write the page if the run has none, print its path, and open it."""
    page = _fetched(args) if args.stored and "://" in args.stored else _page_of(Path(args.stored or _newest()))
    print(page)
    if not args.no_browser and not webbrowser.open(page.as_uri()):
        print("No browser was found: open the file in one.")
    return 0


def _page_of(place: Path) -> Path:
    """Return the page of a comparison, which has one, or write that of a single run."""
    page = place.resolve() / PAGE
    if (place / PULL_REQUEST_FILE).is_file() and page.is_file():
        return page
    run, store = load_run(place).as_side("head"), RunFolder.at(place)
    page = store.folder.resolve() / PAGE
    write_text(page, render_html(_one_sided(run), lambda trial: store.record(trial.spec), {}))
    return page


def _fetched(args: argparse.Namespace) -> Path:
    """Return the page of a workflow run's result, in a temporary folder."""
    from tidegate.github.uploaded_run import uploaded_result  # 350 ms

    problem = "The workflow run uploads its result, without the trials' transcripts."
    result = uploaded_result(args.stored, args.instance, options.environ())
    page = Path(mkdtemp(prefix="tidegate-")) / PAGE
    write_text(page, render_html(result, lambda _: Record(problem=problem), {}))
    return page


def _one_sided(run: Run) -> Result:
    """Return a run without a base as a result in which every row is new."""
    nothing = run.as_side("base").model_copy(update={"rows": (), "trials": (), "history": ()})
    comparison = compare(nothing, run, stored=True)
    passed = sum(trial.decides == "pass" for trial in run.trials)
    state = "not finished" if run.interrupted else "finished"
    summary = f"one run without a base, {state}: {passed} of {count(len(run.trials), 'trial')} passed"
    result = make_result(comparison, decide(comparison, run.policy), nothing, run)
    verdict = {"state": "inconclusive", "summary": summary, "reasons": (), "own_reasons": (), "would_block": False}
    return result.model_copy(update={"verdict": result.verdict.model_copy(update=verdict)})


def _newest() -> Path:
    """Return the folder of the newest comparison or run of this repository. Raises ConfigurationError without any."""
    folder = repository_root(Path()) / OUR_FOLDER
    found = [*folder.glob(f"pr/{PULL_REQUEST_FILE}"), *folder.glob(f"runs/*/{RUN_FILE}")]
    if not found:
        raise ConfigurationError(f"no run is stored in {folder}.", "Run `tidegate pr` first, or name the run's folder.")
    return max(found, key=lambda path: path.stat().st_mtime).parent
