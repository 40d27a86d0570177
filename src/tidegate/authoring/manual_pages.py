"""Reads a program's manual page (man, mdoc, or Perl's POD) as a help text. Pure but for reading the file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from glob import escape
from pathlib import Path

FOLDERS = ("", "man/", "man/man*/", "doc*/", "src/")
OF_POD = ("", "bin/", "script/", "scripts/", "pod/", "doc*/")
MOST_CHARACTERS, LARGEST = 200_000, 2_000_000  # of a page, and of a program that has one
_ESCAPES = (
    (re.compile(r"\\f(?:I|\(CI|2)(.+?)\\f(?:[BRP123]|\(CW)"), r"<\1>"),  # an argument
    (re.compile(r"\\f(?:\(..|\[\w*\]|.)|\\[&/,|^%]|\\s[-+]?\d"), ""),
    (re.compile(r"\\\."), "."),
    (re.compile(r"\\(?:-|\((?:em|en|hy))"), "-"),
    (re.compile(r"\\(?:\(aq|\(cq|')"), "'"),
    (re.compile(r"\\(?:e|\(rs)"), r"\\"),
    (re.compile(r"\\[ ~0]"), " "),
)
_FONTS = re.compile(r"\.([BIR]{1,2}|SM|SB)\b *")
_HEADINGS, _PARAGRAPHS = (".SH", ".Sh", ".SS", ".Ss"), (".TP", ".PP", ".Pp", ".P", ".LP")
_TAGS = (".IP", ".It", ".Dl", ".D1")  # whose row begins an entry, or is an example
_SETTINGS = ('.\\"', "'", ".TH", ".Dd", ".Dt", ".Os", ".Bl", ".Bd")
_INLINE = re.compile("Fl|Ar|Ns|O[ocp]|Cm|Ic|Pa|Em|Sy|Li|Ql|[DSP]q|Ev|Xr")
_POD = re.compile(r"(?ms)^=(?:head\d|pod|item|over)\b.*?(?:^=cut\b|\Z)")
_CODE = re.compile(r"\b([BCFILSXZ])(?:<< +([^<>]*?) +>>|<([^<>]*)>)")  # of a font and the like
_LESS, _GREATER = "\0", "\1"  # in a text that has codes


def manual(root: Path, binary: str) -> str:
    """Return the text of the program's manual page in the repository; '' without one."""
    found = (path for folder in FOLDERS for path in sorted(root.glob(f"{folder}{escape(binary)}.[1-8]")))
    pages = (path.read_text(encoding="utf-8", errors="replace") for path in found if path.is_file())
    if page := next(pages, ""):
        return as_text(page[:MOST_CHARACTERS], binary)
    names = (f"{folder}{escape(binary)}{end}" for folder in OF_POD for end in ("", ".pl", ".pod"))
    programs = (path for name in names for path in sorted(root.glob(name)) if path.is_file())
    fit = (path.read_text(encoding="utf-8", errors="replace") for path in programs if path.stat().st_size <= LARGEST)
    return next(filter(None, map(of_pod, fit)), "")


def of_pod(program: str) -> str:
    """Return the documentation in a Perl program as plain text, as `as_text` does; '' without one."""
    return "\n".join(_rows_of_pod("\n".join(_POD.findall(program))[:MOST_CHARACTERS]))


def _rows_of_pod(page: str) -> Iterator[str]:
    for row in page.splitlines():
        command, _, words = row.partition(" ")
        if command.startswith("=head"):
            yield from ("", f"{_without_codes(words)}:")
        elif command == "=item":
            yield from ("", f"  {_without_codes(words)}")
        elif not row.startswith("="):
            yield f"        {row.strip() if row[:1].isspace() else _without_codes(row)}" if row.strip() else ""


def _without_codes(text: str) -> str:
    """Return the text without POD's codes; what is in italics is an argument, in angle brackets."""
    text = text.replace("E<lt>", _LESS).replace("E<gt>", _GREATER)
    while found := _CODE.search(text):
        inner = (found[2] or found[3] or "").partition("|")[0] if found[1] == "L" else found[2] or found[3] or ""
        plain = f"{_LESS}{inner}{_GREATER}" if found[1] == "I" else inner
        text = text[: found.start()] + plain + text[found.end() :]
    return text.replace(_LESS, "<").replace(_GREATER, ">")


def as_text(page: str, binary: str) -> str:
    """Return the page as plain text: options begin a row, and what explains them is indented by more."""
    return "\n".join(_rows(page, binary))


def _rows(page: str, binary: str) -> Iterator[str]:
    tag = False
    for row in page.splitlines():
        macro, words = row.split(" ", 1)[0], _plain(row, binary)
        if macro in _HEADINGS:
            yield from ("", f"{words}:")
        elif macro in _PARAGRAPHS:
            yield ""
        elif words:
            yield f"  {words}" if tag or macro in _TAGS else f"        {words}"
        tag = macro == ".TP"


def _plain(row: str, binary: str) -> str:
    """Return the text of a row, without macros; arguments are in angle brackets."""
    if row.startswith(_SETTINGS):
        return ""
    if found := _FONTS.match(row):
        text = _in_fonts(found[1], _words(row[found.end() :]))
    elif row.startswith(".IP"):
        text = "".join(_words(row)[1:2])
    elif row.startswith("."):
        text = " ".join(_of_mdoc(_words(row[1:]), binary))
    else:
        text = row
    for pattern, plain in _ESCAPES:
        text = pattern.sub(plain, text)
    return text.strip()


def _words(text: str) -> list[str]:
    """Return the arguments of a macro; those in quotes are one."""
    lexer = shlex.shlex(text.replace("\\ ", "\0"), posix=True)
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        return [word.replace("\0", "\\ ") for word in lexer]
    except ValueError:  # an open quote
        return text.split()


def _in_fonts(fonts: str, words: list[str]) -> str:
    """Return the words in these fonts, which take turns; those in italics are arguments."""
    if len(fonts) == 1 or fonts.startswith("S"):
        return f"<{' '.join(words)}>" if fonts == "I" and words else " ".join(words)
    turns = (fonts[place % 2] for place in range(len(words)))
    return "".join(f"<{word}>" if font == "I" else word for font, word in zip(turns, words, strict=True))


def _of_mdoc(words: list[str], binary: str) -> Iterator[str]:
    """Yield the words of a row without its macros: `Fl n Ar count` is `-n <count>`."""
    before = ""
    for place, word in enumerate(words):
        if before == "Fl":
            yield f"-{word}"
        elif before == "Ar":
            yield f"<{word}>"
        elif word == "Nm" and not place:
            yield binary
        elif place and not _INLINE.fullmatch(word) and words[place - 1 : place + 1] != ["Nm", binary]:
            yield word
        before = word if word in ("Fl", "Ar") and before != "Fl" else ""
