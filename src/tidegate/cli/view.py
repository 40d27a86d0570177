"""`tidegate view`: shows the report of a stored run in a browser."""

from __future__ import annotations

import argparse
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

from tidegate.cli import options
from tidegate.cli.view_page import FetchedReport, ReportServer, StoredReport
from tidegate.errors import ConfigurationError
from tidegate.history.our_folder import OUR_FOLDER
from tidegate.history.run_folder import PULL_REQUEST_FILE, RUN_FILE
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Serves the report of a stored run on this machine only and opens it in a browser. RUN is the folder of `tidegate pr` or
`tidegate run`, or the address of a workflow run on GitHub: its result is fetched with the token of `gh`, or that in
GH_TOKEN, and shown without transcripts. With --watch, the page follows a run that is not finished yet. Ctrl-C stops the
server.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    what = "the folder of `tidegate pr` or of a stored run (default: the newest one), or the address of a workflow run"
    parser.add_argument("stored", nargs="?", metavar="RUN", help=what)
    parser.add_argument("--instance", default="default", metavar="NAME", help="the suite's `instance` in that workflow")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--watch", action="store_true", help="reload the page whenever a trial has finished")


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    stored = args.stored or _newest()
    report = _fetched(args) if args.stored and "://" in args.stored else StoredReport(Path(stored), watch=args.watch)
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


def _fetched(args: argparse.Namespace) -> FetchedReport:
    from tidegate.github.uploaded_run import uploaded_result  # 350 ms

    return FetchedReport(uploaded_result(args.stored, args.instance, options.environ()))


def _newest() -> Path:
    """Return the folder of the newest comparison or run of this repository. Raises ConfigurationError without any."""
    folder = repository_root(Path()) / OUR_FOLDER
    found = [*folder.glob(f"pr/{PULL_REQUEST_FILE}"), *folder.glob(f"runs/*/{RUN_FILE}")]
    if not found:
        raise ConfigurationError(f"no run is stored in {folder}.", "Run `tidegate pr` first, or name the run's folder.")
    return max(found, key=lambda path: path.stat().st_mtime).parent
