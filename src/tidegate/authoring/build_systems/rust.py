"""Cargo packages and workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidegate.authoring.build_systems.files import own_first, table, toml
from tidegate.authoring.tool import Tool, inside


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the binaries of the package, and of all members of the workspace."""
    cargo = toml(root / where / "Cargo.toml")
    members = table(cargo, "workspace").get("members")
    globs = [one for one in members if isinstance(one, str)] if isinstance(members, list) else []
    packages = [where, *(_folder(root, path) for glob in globs for path in sorted((root / where).glob(glob)))]
    own = table(cargo, "package").get("name")
    manifest = [] if where == "." else [f"--manifest-path {inside(where, 'Cargo.toml')}"]
    for package in dict.fromkeys(packages):
        content = toml(root / package / "Cargo.toml")
        server = not {"rmcp", "rust-mcp-sdk"}.isdisjoint(table(content, "dependencies"))
        for name in own_first(_binaries(root / package, content), own):
            build = " ".join(["cargo build --release --bin", name, *manifest])
            # A build has its own HOME, so rustup's `cargo` finds no toolchain without RUSTUP_HOME.
            yield Tool(
                name,
                (build,),
                (inside(where, "target/release"),),
                inside(package, "Cargo.toml"),
                pass_env=("RUSTUP_HOME",),
                server=server,
                own=name == own,
            )


def _binaries(folder: Path, cargo: dict[str, Any]) -> list[str]:
    programs = cargo.get("bin")
    names = [entry.get("name") for entry in programs if isinstance(entry, dict)] if isinstance(programs, list) else []
    if (folder / "src" / "main.rs").exists() and not names:
        names = [table(cargo, "package").get("name")]
    names += [path.stem for path in sorted((folder / "src" / "bin").glob("*.rs"))]
    return [name for name in names if isinstance(name, str)]


def _folder(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
