"""Man pages are read as help texts are: roff of man and mdoc, and Markdown for pandoc and ronn."""

from __future__ import annotations

import pytest

from tidegate.decide.surface.help_text import read_help
from tidegate.decide.surface.man_page import help_of_manual
from tidegate.decide.surface.parts import of_help

MAN = r"""
.\" a comment
.TH TIDE 1
.SH NAME
tide \- keeps a log of tides
.SH SYNOPSIS
.B tide
[\fIOPTIONS\fR] \fICOMMAND\fR
.SH DESCRIPTION
tide is small, and so is
.BR curl (1):
tide reads logs.{one,two}
.SH COMMANDS
.TP
.BI "log " HEIGHT
Adds a height.
.TP
\fBshow\fR
Shows all.
.SH OPTIONS
.TP
.BR \-d ", " \-\-due = \fIDATE\fR
The last day [default: today].
.TP
.B \-\-unit \fIunit\fP
One of them.
.IP "\fB\-q\fR, \fB\-\-quiet\fR" 4
Prints less than \-\-loud.
.PP
\fB\-\-port\fR=\fI<number>\fR
.RS 4
Where it listens.
.RE
.SH EXAMPLES
.nf
tide log 3
    \-\-not\-an\-option
.fi
"""
MDOC = r"""
.Dd January 1, 2030
.Dt TIDE 1
.Sh NAME
.Nm tide
.Nd keeps a log of tides
.Sh SYNOPSIS
.Nm
.Op Fl q
.Op Fl d Ar date
.Ar command
.Sh DESCRIPTION
.Bl -tag -width indent
.It Fl d Ar date , Fl Fl due Ns = Ns Ar date
The last day.
.It Fl q , Fl -quiet
Prints less.
.It Fl Fl unit Ar unit
One of them.
.It Fl Fl port Ns = Ns Ar number
Where it listens.
.El
.Sh COMMANDS
.Bl -tag -width indent
.It Cm log Ar height
Adds a height.
.It Ic show
Shows all.
.El
"""
PANDOC = r"""% TIDE(1) tide
# SYNOPSIS
**tide** [*OPTIONS*] *COMMAND*

# DESCRIPTION
tide is small, and `tide reads` logs.

# OPTIONS
**-d** *DATE*, **\--due**=*DATE*
:   The last day.

**-q**, **\--quiet**
:   Prints less than `--loud`.

**\--unit** *UNIT*
:   One of them.

**\--port**=*NUMBER*
:   Where it listens.

# COMMANDS
**log** *HEIGHT*
:   Adds a height.

**show**
:   Shows all.
"""
RONN = """tide(1) -- keeps a log of tides
===============================

## SYNOPSIS

`tide` [<options>] <command>

## OPTIONS

  * `-d`, `--due`=<date>:
    The last day.
  * `-q`, `--quiet`:
    Prints less.
  * `--unit` <unit>:
    One of them.
  * `--port` <number>:
    Where it listens.

## COMMANDS

  * `log` <height>:
    Adds a height.
  * `show`:
    Shows all.
"""


@pytest.mark.parametrize(("page", "markdown"), [(MAN, False), (MDOC, False), (PANDOC, True), (RONN, True)])
def test_a_man_page_has_options_with_their_values_and_subcommands_and_nothing_else(page: str, markdown: bool) -> None:
    found = read_help(help_of_manual(page, markdown=markdown), "tide")
    assert {(option.names, option.takes_value) for option in found.options} == {
        (("--due", "-d"), True),
        (("--quiet", "-q"), False),
        (("--unit",), True),
        (("--port",), True),
    }
    assert found.subcommands == ("log", "show")


def test_a_default_is_read_from_a_description() -> None:
    found = read_help(help_of_manual(MAN, markdown=False), "tide")
    assert [option.default for option in found.options if option.names[0] == "--due"] == ["today"]


def test_a_man_page_adds_what_the_help_does_not_list() -> None:
    """A page is rarely as new as the help: where that lists options, those of the page are left out."""
    manual = help_of_manual(MAN, markdown=False)

    def names(help_text: str) -> set[str]:
        parts = of_help({"": help_text} if help_text else {}, "tide", {"": manual})
        return {part.name for part in parts if part.kind in ("option", "subcommand")}

    of_page = {"--due", "--quiet", "--unit", "--port"}
    assert names("") == {"log", "show", *of_page}
    assert names("usage: tide\n\nOptions:\n  --help  x\n") == {"log", "show", *of_page}
    assert names("usage: tide\n\nCommands:\n  log  x\n") == {"log", *of_page}
    assert names("usage: tide\n\nOptions:\n  --new  x\n") == {"--new"}


def test_the_synopsis_names_the_arguments() -> None:
    page = ".SH NAME\ntide \\- keeps a log\n.SH SYNOPSIS\ntide \\fIFILE\\fR\n.SH OPTIONS\n.TP\n.B \\-\\-dry\nDry.\n"
    assert read_help(help_of_manual(page, markdown=False), "tide").arguments == ("FILE",)


def test_what_a_macro_is_made_of_lists_nothing() -> None:
    page = ".SH OPTIONS\n.de XX\n.TP\n.B \\-\\-fake\nNo option.\n..\n.TP\n.B \\-\\-real\nAn option.\n"
    assert [one.names for one in read_help(help_of_manual(page, markdown=False), "tide").options] == [("--real",)]
