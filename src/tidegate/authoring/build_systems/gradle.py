"""Gradle projects with the plugin `application` or `shadow`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tidegate.authoring.build_systems.files import project_files, text
from tidegate.authoring.build_systems.maven import started_by_java
from tidegate.authoring.tool import Tool, inside

_NAME = re.compile(r"rootProject\.name\s*=\s*[\"']([\w.-]+)")
_APPLICATION = re.compile(
    r"^\s*(?:application\b(?!\s*\{)|id[ (][\"']application[\"']|apply plugin: *[\"']application)", re.MULTILINE
)
_SHADOW = re.compile(r"plugins\.shadow|[\"']com\.(?:github\.johnrengelman|gradleup)\.shadow[\"']")
_START = re.compile(r"applicationName\s*=\s*[\"']([\w.-]+)")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the started programs of the root project and of its subprojects."""
    settings = "".join(text(root / where / f"settings.gradle{suffix}") for suffix in ("", ".kts"))
    gradle = "./gradlew" if (root / where / "gradlew").exists() else "gradle"
    named = _NAME.search(settings)
    if not settings and not any((root / where / f"build.gradle{suffix}").exists() for suffix in ("", ".kts")):
        return
    own = named[1] if named else (root / where).resolve().name
    for suffix in ("", ".kts"):
        for folder, content in project_files(root, where, f"build.gradle{suffix}"):
            name = own if folder == where else PurePosixPath(folder).name
            below = "" if folder == where else ":" + ":".join(PurePosixPath(folder).relative_to(where).parts)
            file = inside(folder, f"build.gradle{suffix}")
            run = f"{gradle} --console plain" if where == "." else f"{where}/{gradle} --console plain -p {where}"
            if _APPLICATION.search(content):
                start = _START.search(content)
                path = inside(folder, "build/install", name, "bin")
                yield Tool(
                    start[1] if start else name, (f"{run} {below}:installDist".replace(" :i", " i"),), (path,), file
                )
            elif _SHADOW.search(content):
                program = name.removesuffix("-cli")
                yield started_by_java(program, f"{run} {below}:shadowJar", inside(folder, "build/libs/*-all.jar"), file)
