"""Reads a program's manual page (man or mdoc) as a help text. Pure but for reading the file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from glob import escape
from pathlib import Path

FOLDERS = ("", "man/", "man/man*/", "doc*/", "src/")
MOST_CHARACTERS = 200_000
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


def manual(root: Path, binary: str) -> str:
    """Return the text of the program's manual page in the repository; '' without one."""
    found = (path for folder in FOLDERS for path in sorted(root.glob(f"{folder}{escape(binary)}.[1-8]")))
    pages = (path.read_text(encoding="utf-8", errors="replace") for path in found if path.is_file())
    return as_text(next(pages, "")[:MOST_CHARACTERS], binary)


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
