"""native/action.yml: the inputs and outputs of action.yml, wired to the one step of a composite action."""

from __future__ import annotations

import re
from pathlib import Path

CONTAINER = Path(__file__).parents[1] / "action.yml"
HEAD = """\
# Written by `make docs` from ../action.yml; change that instead.
name: Tidegate without a container
description: The same action on the runner itself, for tools that a container cannot hold.
author: Tidegate
branding: {icon: check-circle, color: blue}

"""
STEP = """\
runs:
  using: composite
  steps:
    - id: tidegate
      shell: bash
      run: bash "$GITHUB_ACTION_PATH/run.sh"
      env:
"""


def native_action() -> str:
    """The text of native/action.yml."""
    text = CONTAINER.read_text(encoding="utf-8")
    inputs = text[text.index("inputs:\n") : text.index("outputs:\n")]
    outputs = text[text.index("outputs:\n") : text.index("runs:\n")]
    value = r"\g<0>    value: ${{ steps.tidegate.outputs.\g<name> }}\n"
    wired_outputs = re.sub(r"^  (?P<name>\w+):\n    description: .*\n", value, outputs, flags=re.M)
    names = re.findall(r"^  (\w+):$", inputs, flags=re.M)
    wired_inputs = "".join(f"        INPUT_{name.upper()}: ${{{{ inputs.{name} }}}}\n" for name in names)
    return HEAD + inputs + wired_outputs + STEP + wired_inputs
