"""`make escapes`: makes all attempts in every setting, and prints how many of each aim were kept out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.thorough.escapes.table import AREAS, ROLES, expected

SETTINGS = ("root", "user", *(("runc",) if shutil.which("podman") and shutil.which("runc") else ("container",)))
MACHINE = Path(__file__).with_name("machine.py")


def ran(setting: str) -> dict[str, Any]:
    """What the machine of that setting says. Its folders are not in TMPDIR, which has mounts and rules of its own."""
    with tempfile.TemporaryDirectory(prefix="open-", dir="/srv", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(MACHINE), folder, setting], capture_output=True, text=True, check=False, timeout=600
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Print the table; return 1 if anything comes through that docs/security.md does not list, or is not tried."""
    found = {setting: ran(setting)["attempts"] for setting in SETTINGS}
    print(f"{'aim':12}", *(f"{setting:>26}" for setting in SETTINGS))
    for area, (count, *_) in AREAS.items():
        cells = []
        for attempts in found.values():
            names = {one["name"]: False for one in attempts if one["area"] == area}
            names |= {one["name"]: True for one in attempts if one["area"] == area and one["in"]}
            cells.append(f"{list(names.values()).count(False)} of {len(names)} held (of {count})")
        print(f"{area:12}", *(f"{cell:>26}" for cell in cells))
    code = 0
    for setting, attempts in found.items():
        through = {(one["area"], one["name"], one["role"]) for one in attempts if one["in"]}
        roles = {one["role"] for one in attempts}
        for area, name, role in sorted(through - expected(setting)):
            print(f"not listed: {setting}, {role}, {area}: {name}")
        code |= bool(through - expected(setting)) or roles != set(ROLES)
        listed = sorted({f"{area}: {name}" for area, name, _ in through & expected(setting)})
        print(f"{setting}: {len(attempts)} attempts by {len(roles)} roles; listed in docs/security.md: {len(listed)}")
    return code


if __name__ == "__main__":
    sys.exit(main())
