"""A family reads as a union of its members does, and imports a member when its `type` is first used."""

from __future__ import annotations

import subprocess
import sys


def test_a_member_is_imported_at_the_first_value_of_its_type() -> None:
    code = (
        "import re, sys; from pydantic import TypeAdapter; from tidegate.agents import AnyAgent;"
        "read = lambda kind: TypeAdapter(AnyAgent).validate_python({'type': kind});"
        "ours = re.compile(r'tidegate\\.agents\\.(?!invocations)\\w+$');"
        "seen = lambda: [name for name in sys.modules if ours.match(name)];"
        "print(seen()); read('doc-follower'); print(seen())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['tidegate.agents.doc_follower']"]
