"""Go modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.authoring.build_systems.files import own_first, text
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/go"
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_SDK = re.compile(r"modelcontextprotocol/go-sdk|mark3labs/mcp-go")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield package `main` of the folder, named like the module, and the packages below cmd/."""
    content = text(root / where / "go.mod")
    module = _MODULE.search(content)
    if module is None:
        return
    own = re.sub(r"/v\d+$", "", module[1]).rpartition("/")[2]
    packages = {path.parent.name: f"./cmd/{path.parent.name}" for path in sorted((root / where).glob("cmd/*/main.go"))}
    if (root / where / "main.go").exists():
        packages[own] = "."
    enter = "" if where == "." else f"cd {where} && "
    for name in own_first(packages, own):
        out = f"{FOLDER}/{name}" if where == "." else f'"$OLDPWD/{FOLDER}/{name}"'
        build = f"{enter}go build -o {out} {packages[name]}"
        yield Tool(
            name, (build,), (FOLDER,), inside(where, "go.mod"), server=_SDK.search(content) is not None, own=name == own
        )
