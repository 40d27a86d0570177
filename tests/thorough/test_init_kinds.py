"""`tidegate init` and then `tidegate pr`, with nothing edited, in repositories of several kinds; nothing is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]

# A build backend of a few lines, so that no other has to be fetched.
BACKEND = """\
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    files = {
        "tallyman.py": open("tallyman.py").read(),
        "tallyman-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tallyman\\nVersion: 1.0\\n",
        "tallyman-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tallyman-1.0.dist-info/entry_points.txt": "[console_scripts]\\ntally = tallyman:main\\n",
    }
    record = "tallyman-1.0.dist-info/RECORD"
    files[record] = "".join(f"{name},,\\n" for name in [*files, record])
    name = "tallyman-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
"""
PYTHON = {
    "pyproject.toml": '[project]\nname = "tallyman"\nversion = "1.0"\n[project.scripts]\ntally = "tallyman:main"\n'
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "tallyman.py": "import argparse\n\ndef main():\n    argparse.ArgumentParser('tally').parse_args()\n    print(1)\n",
}
NODE = {
    "package.json": '{"name": "tally", "version": "1.0.0", "bin": {"tally": "tally.js"}}\n',
    "tally.js": "#!/usr/bin/env node\n"
    "const known = ['--help', 'count'];\nif (!known.includes(process.argv[2])) process.exit(2);\n"
    "console.log('usage: tally count');\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "tally"\nversion = "1.0.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "tally"\nversion = "1.0.0"\n',
    "src/main.rs": 'fn main() {\n    if std::env::args().nth(1).as_deref() != Some("--help") {\n'
    '        std::process::exit(2)\n    }\n    println!("usage: tally");\n}\n',
}
GO = {
    "go.mod": "module example.org/tally\n\ngo 1.21\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n'
    '\tif len(os.Args) < 2 || os.Args[1] != "--help" {\n\t\tos.Exit(2)\n\t}\n\tfmt.Println("usage: tally")\n}\n',
}
MAKE = {
    "Makefile": "tally: tally.c\n\tcc -o tally tally.c\n",
    "tally.c": "#include <stdio.h>\n#include <string.h>\n"
    'int main(int n, char **words) { return n > 1 && !strcmp(words[1], "--help") ? puts("usage") < 0 : 2; }\n',
}
SHELL = {"bin/tally": '#!/bin/sh\n[ "$1" = --help ] || exit 2\necho "usage: tally"\n'}

MAIN = (
    "#include <stdio.h>\n#include <string.h>\nint main(int n, char **words) {\n"
    '  if (n < 2 || strcmp(words[1], "--help")) return 2;\n  puts("usage: tally");\n  return 0;\n}\n'
)
CMAKE = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_subdirectory(src)\n",
    "src/CMakeLists.txt": 'add_executable(exe main.c)\nset_target_properties(exe PROPERTIES OUTPUT_NAME "tally")\n',
    "src/main.c": MAIN,
}
AUTOTOOLS = {
    "configure.ac": "AC_INIT([the_tally], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n"
    "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    "Makefile.am": "bin_PROGRAMS = tally\ntally_SOURCES = main.c\n",
    "main.c": MAIN,
}
MESON = {"meson.build": "project('x', 'c')\nexecutable('tally', 'main.c')\n", "main.c": MAIN}
LINKED = {"ticket": SHELL["bin/tally"], "README.md": 'Install: `ln -s "$PWD/ticket" ~/.local/bin/tally`\n'}

KINDS = {
    "python": ("python3", PYTHON),
    "node": ("npm", NODE),
    "rust": ("cargo", RUST),
    "go": ("go", GO),
    "make": ("cc", MAKE),
    "cmake": ("cmake", CMAKE),
    "autotools": ("autoreconf", AUTOTOOLS),
    "meson": ("meson", MESON),
    "shell": ("sh", SHELL),
    "script under another name": ("sh", LINKED),
}


def rustup() -> dict[str, str]:
    """Where rustup has its toolchains, as a person says it to a build, if this machine has it."""
    folder = os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup"
    return {"RUSTUP_HOME": str(folder)} if Path(folder).is_dir() else {}


def works(program: str) -> bool:
    """It is there for builds, which have a HOME of their own."""
    if shutil.which(program) is None:
        return False
    asked = [program, "version" if program == "go" else "--version"]
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull, **rustup()}
    done = subprocess.run(asked, env=env, capture_output=True, check=False)
    return done.returncode == 0 or program == "sh"


@pytest.mark.parametrize("kind", KINDS)
def test_init_then_pr_without_editing_anything(make_repository: Make, tidegate: Make, kind: str) -> None:
    program, files = KINDS[kind]
    if not works(program):
        pytest.skip(f"{program} is not on this machine, or only for one user's HOME")
    repo = make_repository("tally")
    repo.commit(files)

    done = tidegate("init", cwd=repo.root)
    assert (done.code, "the tool is `tally`" in done.stdout) == (0, True), done.stderr
    repo.branch("suite", {})
    ran = tidegate("pr", cwd=repo.root, env=rustup())

    assert ran.code == 0, ran.stderr + ran.stdout
    assert ran.row("help")["state"] == "ok", ran.comment
    assert {trial["outcome"] for trial in ran.result["trials"]} == {"pass"}
    assert {trial["metrics"]["command_count"] for trial in ran.result["trials"]} == {1}
