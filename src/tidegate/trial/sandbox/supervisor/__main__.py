"""Starts the starter: `python -I -S supervisor/__main__.py LAUNCHER`, as `tidegate.trial.sandbox.starter` does.

It finds the package, and nothing else beside the standard library.
"""

import os
import sys

sys.path.append(os.path.abspath(f"{__file__}/../../../../.."))  # noqa: PTH100

from tidegate.trial.sandbox.supervisor.starter import main

main(sys.argv[1])
os._exit(0)  # nothing is left to do, which the interpreter's own end would take its time for
