"""The scripts in front of the tool under test record its calls."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tidegate.run.mutant_front import in_front_of_server

SERVER = Path(__file__).parents[1] / "mcp_server.py"
REFUSED = ("both", "flag 1", "no content", "no object")  # answers that clients refuse: one of each fault


def test_an_answer_that_clients_refuse_is_recorded_as_a_failure_as_in_trials(tmp_path: Path) -> None:
    """Otherwise a mutant that is met only by such a call would be taken for one that changes nothing."""
    server = shlex.join([os.path.realpath(sys.executable), str(SERVER)])
    front = in_front_of_server(tmp_path / "front", server, None)
    calls = [{"name": "add", "arguments": {"title": title}} for title in ("tide", *REFUSED, "nothing")]
    asked = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"
        for number, params in enumerate(calls)
    )
    subprocess.run(["/bin/sh", "-c", front.command], input=asked, text=True, cwd=tmp_path, timeout=30, check=True)
    assert [call.exit_code for call in front.calls()] == [0, 3, 4, 5, 6, 1]
