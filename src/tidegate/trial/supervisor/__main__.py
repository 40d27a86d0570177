"""Starts the supervisor: `python -I -S supervisor/__main__.py [LAUNCHER]`, as `tidegate.trial.processes` does.

It finds the package, and nothing else beside the standard library.
"""

import os
import sys

sys.path.append(os.path.abspath(f"{__file__}/../../../.."))  # noqa: PTH100

from tidegate.trial.supervisor.serve import main

main(*sys.argv[1:2])
