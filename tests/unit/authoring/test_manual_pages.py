"""What is read of a program's manual page."""

from __future__ import annotations

from pathlib import Path

from tidegate.authoring.examples import documented_options, in_help
from tidegate.authoring.manual_pages import as_text, manual, of_pod
from tidegate.decide.surface.parts import of_help
from tidegate.model.surface import Part

MAN = r"""
.\" a comment
.TH tally 1
.SH SYNOPSIS
.B tally
.RB [ -nw ]
.SH OPTIONS
.TP
.BR -n ", " \-\-no\-header
Without its \fBhead\fR.
.TP
.BI \-\-title= text
The title\(em'not' more than \fIone\fR.
.IP "\fB\-w\fR, \fB\-\-wide\fR" 4
Wide.
"""
MDOC = r"""
.Dd May 1, 2024
.Dt TALLY 1
.Sh NAME
.Nm tally
.Nd counts
.Sh DESCRIPTION
.Bl -tag -width Ds
.It Fl N Ar count
Use
.Ar count
of them.
.It Fl q
Quiet.
.El
.Sh EXAMPLES
.Dl tally -N 2 a.txt
"""


POD = """#!/usr/bin/perl
my %no = (documentation => "=head1");

=head1 OPTIONS

=over 4

=item B<-w> I<WIDTH>, B<--width>=I<WIDTH> (wide)

Not I<much> wider than C<<  E<lt>80E<gt> >>, see L<the guide|https://example.com>.

=item B<--quiet>

=back

=cut

print 1;

=head2 Examples

  tally --width 40 a.txt

C<tally B<--quiet> a.txt>
"""


def options(text: str, *own: Part) -> list[tuple[str, tuple[str, ...], bool]]:
    parts = documented_options(own, (), of_help({"": text}, "tally"))
    return [(part.name, part.aliases, part.takes_value) for part in parts]


def test_the_options_of_a_manual_page_are_those_of_its_entries() -> None:
    text = as_text(MAN, "tally")
    assert options(text) == [
        ("--no-header", ("-n",), False),
        ("--title", (), True),
        ("--wide", ("-w",), False),
    ]
    assert "\n  -n, --no-header\n        Without its head." in text
    assert "The title-'not' more than <one>." in text
    assert "comment" not in text


def test_so_are_those_of_mdoc_with_the_calls_that_it_shows() -> None:
    text = as_text(MDOC, "tally")
    assert options(text) == [("-N", (), True), ("-q", (), False)]
    assert [one.ways for one in in_help("tally", [text]).tries] == [("tally -N 2 a.txt",)]


def test_so_are_those_of_the_documentation_in_a_perl_program(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tally").write_text(POD)
    text = manual(tmp_path, "tally")
    assert options(text) == [("--width", ("-w",), True), ("--quiet", (), False)]
    assert "\n        Not <much> wider than <80>, see the guide.\n" in text
    assert "documentation" not in text
    assert "print" not in text
    plan = in_help("tally", [text])
    assert plan is not None
    assert [way for one in plan.tries for way in one.ways] == ["tally --width 40 a.txt", "tally --quiet a.txt"]
    assert of_pod("print 1;\n") == ""


def test_an_option_that_help_lists_is_that_of_the_help() -> None:
    assert options(as_text(MAN, "tally"), Part(kind="option", name="-n"))[0] == ("-n", (), False)
    assert len(options(as_text(MAN, "tally"), Part(kind="option", name="-n"))) == 3


def test_the_page_is_the_one_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "man" / "man1").mkdir(parents=True)
    (tmp_path / "man" / "man1" / "tally.1").write_text(MDOC)
    (tmp_path / "other.1").write_text(MAN)
    assert "Quiet." in manual(tmp_path, "tally")
    assert manual(tmp_path, "tall") == ""


def test_a_page_with_odd_rows_is_read() -> None:
    assert as_text("$ tally \\-f names\\.json", "tally").strip() == "$ tally -f names.json"
    assert "an open" in as_text('.B "an open\n.Fl\n.\n.It\n\\fI\n', "tally")
