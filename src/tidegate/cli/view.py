"""`tidegate view`: shows the report of a stored run in a browser."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

DESCRIPTION = """\
Serves the report of a stored run on this machine only and opens it in a browser. RUN is the folder of `tidegate pr` or
`tidegate run`. With --watch, the page follows a run that is not finished yet. Ctrl-C stops the server.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("view", description=DESCRIPTION)
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of `tidegate pr` or of a stored run")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--watch", action="store_true", help="reload the page whenever a trial has finished")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    import threading
    import webbrowser

    from tidegate.cli.view_page import ReportServer, StoredReport

    report = StoredReport(args.stored, watch=args.watch)
    report.page()  # an error is reported before anything is served
    with ReportServer(report) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        print(f"{server.url} shows {args.stored}; Ctrl-C stops it", flush=True)
        with suppress(KeyboardInterrupt):
            if not args.no_browser and not webbrowser.open(server.url):
                print("No browser was found: open the address in one.", flush=True)
            thread.join()
        server.shutdown()
    return 0
