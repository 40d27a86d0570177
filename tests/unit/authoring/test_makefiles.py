"""Which programs a Makefile makes, in C and in Perl."""

from __future__ import annotations

from pathlib import Path

from tests.unit.authoring.test_examples import write
from tidegate.authoring.build_systems import find_tools
from tidegate.authoring.build_systems.compiled import find_make


def test_a_makefile_that_configure_makes_is_that_of_its_folder(tmp_path: Path) -> None:
    made = "x = @EXEEXT@\nPROGRAM = tally$x\nall : $(PROGRAM)\n$(PROGRAM) : tally.o\n"
    root = write(tmp_path, {"configure": "#!/bin/sh\n", "Makefile.in": made, "man/Makefile.in": "PROGRAM = tally\n"})
    (root / "configure").chmod(0o755)
    assert [(tool.binary, tool.build) for tool in find_make(root, ".")] == [("tally", ("./configure", "make"))]
    assert [*find_make(root, "man")] == []


def test_a_program_of_a_perl_distribution_is_started_with_its_modules(tmp_path: Path) -> None:
    root = write(tmp_path / "tally", {"Makefile.PL": "EXE_FILES => [ 'tally' ],\n", "tally": "#!/usr/bin/perl\n"})
    (root / "tally").chmod(0o755)
    (tool,) = find_tools(root)
    assert 'perl -I"$root/lib"' in tool.build[0]


def test_a_folder_with_a_quote_in_its_name_ends_nothing(tmp_path: Path) -> None:
    root = write(tmp_path, {"it's/Makefile": "all: tally\ntally: tally.c\n\tcc tally.c\n"})
    assert [tool.binary for tool in find_tools(root)] == ["tally"]
