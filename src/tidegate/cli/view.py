"""`tidegate view`: shows the report of a stored run in a browser."""

from __future__ import annotations

import argparse
import threading
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from tidegate.cli.local_server import LocalHandler, LocalServer
from tidegate.decide.causes.find import find_causes
from tidegate.decide.comparison.compare import compare
from tidegate.decide.verdict.decide import decide
from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import OUR_FOLDER
from tidegate.history.report_files import load_result
from tidegate.history.run_folder import PULL_REQUEST_FILE, RUN_FILE, RunFolder, load_run
from tidegate.model.measurement import Run
from tidegate.model.result import Result
from tidegate.model.trial_spec import Side
from tidegate.reports.filters import count
from tidegate.reports.html import render_html
from tidegate.reports.make_result import make_result
from tidegate.vcs.revisions import repository_root

SIDES: tuple[Side, ...] = ("base", "head")


class StoredReport:
    """The report of a stored run. It is rendered again only if the stored files changed."""

    def __init__(self, place: Path, *, watch: bool) -> None:
        self._place, self._watch = place, watch
        self._rendered = ("", "")  # token and page

    def token(self) -> str:
        """Return a text that changes whenever a trial or the run has finished."""
        files = [
            *(self._place / name for name in (PULL_REQUEST_FILE, RUN_FILE)),
            *(self._place / "runs" / side / RUN_FILE for side in SIDES),
        ]
        times = [str(file.stat().st_mtime_ns) if file.is_file() else "" for file in files]
        trials = sum(1 for _ in self._place.glob("**/trials/*/*/*/result.json")) if self._watch else 0
        return " ".join((*times, str(trials)))

    def page(self) -> str:
        """Return the report. Raises ConfigurationError if there is none, or if a file is damaged."""
        token = self.token()
        if self._rendered[0] != token:
            self._rendered = token, self._render()
        return self._rendered[1]

    def _render(self) -> str:
        place = self._place
        stores = {side: RunFolder(place / "runs" / side) for side in SIDES}
        if (place / PULL_REQUEST_FILE).is_file():
            result = load_result(place)
        elif all((store.folder / RUN_FILE).is_file() for store in stores.values()):
            result = _unfinished({side: load_run(store.folder).as_side(side) for side, store in stores.items()})
        else:
            store = RunFolder.at(place)
            stores = dict.fromkeys(SIDES, store)
            result = _one_sided(load_run(place).as_side("head"))
        return render_html(result, lambda trial: stores[trial.side].record(trial.spec), {}, live=self._watch)


def _unfinished(runs: Mapping[Side, Run]) -> Result:
    """Compare the trials of both sides that have finished. The verdict is inconclusive, whatever they show."""
    base, head = runs["base"], runs["head"]
    comparison = compare(base, head, stored=True)
    done = f"{count(len(base.trials), 'trial')} on base and {len(head.trials)} on head so far"
    summary = f"the run is not finished: {done}; no state is final"
    result = _without_verdict(make_result(comparison, decide(comparison, head.policy), base, head), summary)
    return result.model_copy(update={"causes": find_causes(result.rows, result.trials)})


def _one_sided(run: Run) -> Result:
    """Return a run without a base as a result in which every row is new."""
    nothing = run.as_side("base").model_copy(update={"rows": (), "trials": (), "history": ()})
    comparison = compare(nothing, run, stored=True)
    passed = sum(trial.decides == "pass" for trial in run.trials)
    state = "not finished" if run.interrupted else "finished"
    summary = f"one run without a base, {state}: {passed} of {count(len(run.trials), 'trial')} passed"
    return _without_verdict(make_result(comparison, decide(comparison, run.policy), nothing, run), summary)


def _without_verdict(result: Result, summary: str) -> Result:
    said = {"state": "inconclusive", "summary": summary, "reasons": (), "own_reasons": (), "would_block": False}
    return result.model_copy(update={"verdict": result.verdict.model_copy(update=said)})


class ReportServer(LocalServer):
    """Serves the report and the token. It accepts no other request."""

    def __init__(self, report: StoredReport) -> None:
        super().__init__(_Handler)
        self.report = report


class _Handler(LocalHandler):
    server: ReportServer

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        path = self.path_below()
        if path is None:
            return self.refuse(HTTPStatus.FORBIDDEN)
        if path not in ("", "state"):
            return self.refuse(HTTPStatus.NOT_FOUND)
        try:
            with self.server.lock:
                text = self.server.report.token() if path else self.server.report.page()
        except ConfigurationError as error:  # a file was damaged or removed meanwhile
            return self.refuse(HTTPStatus.SERVICE_UNAVAILABLE, error.message.partition("\n")[0])
        return self.send_text(text, "text/plain" if path else "text/html")


DESCRIPTION = """\
Serves the report of a stored run on this machine only and opens it in a browser. RUN is the folder of `tidegate pr` or
`tidegate run`. With --watch, the page follows a run that is not finished yet. Ctrl-C stops the server.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    what = "the folder of `tidegate pr` or of a stored run (default: the newest one)"
    parser.add_argument("stored", nargs="?", metavar="RUN", help=what)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--watch", action="store_true", help="reload the page whenever a trial has finished")


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    stored = args.stored or _newest()
    report = StoredReport(Path(stored), watch=args.watch)
    report.page()  # an error is reported before anything is served
    with ReportServer(report) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        print(f"{server.url} shows {stored}; Ctrl-C stops it", flush=True)
        with suppress(KeyboardInterrupt):
            if not args.no_browser and not webbrowser.open(server.url):
                print("No browser was found: open the address in one.", flush=True)
            thread.join()
        server.shutdown()
    return 0


def _newest() -> Path:
    """Return the folder of the newest comparison or run of this repository. Raises ConfigurationError without any."""
    folder = repository_root(Path()) / OUR_FOLDER
    found = [*folder.glob(f"pr/{PULL_REQUEST_FILE}"), *folder.glob(f"runs/*/{RUN_FILE}")]
    if not found:
        raise ConfigurationError(f"no run is stored in {folder}.", "Run `tidegate pr` first, or name the run's folder.")
    return max(found, key=lambda path: path.stat().st_mtime).parent
