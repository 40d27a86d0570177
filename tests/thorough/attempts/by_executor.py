"""Pull requests that interfere with the worker that runs their trials, or with the choice of it."""

from __future__ import annotations

import sys

from tests.thorough.attempts.attempt import Attempt, suite

WORKER = f"{sys.executable} -m tidegate trials run --quiet {{bundle}} --out {{out}}"
COMMAND = f"executor: {{type: command, parallel: 1, run: '{WORKER}'}}\n"
# Ends the worker that it runs on: of its own ancestors, the one that was started by `tidegate trials run`.
LETHAL = """\
#!/bin/sh
[ "$1" = add ] || exit 0
process=$$
while [ "$process" -gt 1 ]; do
  if grep -qzx trials "/proc/$process/cmdline"; then kill -9 "$process"; fi
  process=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' "/proc/$process/stat")
done
"""
EXECUTOR = {
    "ends its worker": Attempt(
        "has the tool end the worker that runs its trials", "regression", base=suite(COMMAND), tool=LETHAL
    ),
    "its own worker": Attempt(
        "has the suite run trials by a command of its own, which runs nothing",
        "regression",
        head=suite("executor: {type: command, run: 'true {bundle} {out}'}\n"),
    ),
}
