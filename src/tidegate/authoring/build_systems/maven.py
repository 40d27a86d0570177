"""Maven projects that build a jar with a main class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.authoring.build_systems.files import project_files
from tidegate.authoring.tool import Tool, inside

FOLDER = ".tidegate/bin"
_MAIN = re.compile(r"<mainClass>")
_WHOLE = re.compile(r"maven-(?:shade|assembly)-plugin|spring-boot-maven-plugin")
_PARENT = re.compile(r"<parent>.*?</parent>", re.DOTALL)
_NAME = re.compile(r"<artifactId>([\w.-]+)</artifactId>")


def find(root: Path, where: str) -> Iterator[Tool]:
    """Yield the modules that build a jar with its dependencies and a main class, named like the artifact."""
    if not (root / where / "pom.xml").exists():
        return
    maven = "./mvnw" if (root / where / "mvnw").exists() else "mvn"
    run = f"{maven} --batch-mode --quiet -DskipTests package" + ("" if where == "." else f" -f {where}/pom.xml")
    for folder, content in project_files(root, where, "pom.xml"):
        name = _NAME.search(_PARENT.sub("", content))
        if name and _MAIN.search(content) and _WHOLE.search(content):
            yield started_by_java(name[1], run, inside(folder, "target/*.jar"), inside(folder, "pom.xml"))


def started_by_java(name: str, build: str, jars: str, file: str) -> Tool:
    """Return the tool whose program is a small script that starts the largest of the built jars."""
    script = f"{FOLDER}/{name}"
    start = f"""printf '#!/bin/sh\\nexec java -jar "%s" "$@"\\n' "$PWD/$(ls -S {jars} | head -1)" > {script}"""
    return Tool(name, (build, f"mkdir -p {FOLDER} && {start} && chmod +x {script}"), (FOLDER,), file)
