"""Turn a man page into a help text, which `help_text.py` reads: macros of man and mdoc, and pages in Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ITALIC = re.compile(r"\\f(?:I|\[I\]|2)(.*?)(?=\\f|$)")
_ESCAPES = (
    (re.compile(r"\\f(?:\(..|\[[^\]]*\]|.)"), ""),
    (re.compile(r"\\(?:\(dq|\[dq\])"), '"'),
    (re.compile(r"\\(?:\(aq|\[aq\])"), "'"),
    (re.compile(r"\\(?:\(bu|\[bu\])"), "*"),
    (re.compile(r"\\[&|^/,:%]|\\\((?:en|em)|\\\*\(..|\\\*\[[^\]]*\]|\\s[-+]?\d"), ""),
    (re.compile(r"\\[~ 0]"), " "),
    (re.compile(r"\\([^\w\s])"), r"\1"),
    (re.compile(r"\\e"), r"\\"),
)
_FONTS = ("B", "I", "SM", "SB", "BI", "IB", "BR", "RB", "IR", "RI")
_WORD = re.compile(r'"([^"]*)"|(\S+)')
_HEADING = re.compile(r"^#{1,3}\s+(.+?)\s*#*$")
_NAMED = re.compile(r"(?<![\w*])[*_]([A-Za-z][\w .=|-]*)[*_](?![\w*])")
_BREAKS = ("PP", "P", "LP", "sp", "Pp", "IP", "RE", "El", "Bl", "HP")
_CLOSING = {"Op": "]", "Oo": "", "Oc": "]", "Pq": ")", "Dq": '"', "Sq": "'"}


def help_of_manual(page: str, *, markdown: bool) -> str:
    """Return the page as a help text: the synopsis as usage, headings, and each entry of a list in a row of its own."""
    rows = _of_markdown(page) if markdown else _of_roff(page)
    return "\n".join(_as_usage(rows)) + "\n"


def _as_usage(rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield rows of a help text from headings, entries (`tag`), and descriptions (`text`, `verbatim`)."""
    section = ""
    for kind, text in rows:
        if kind == "heading":
            section = text.upper()
            yield f"\n{text.capitalize()}:"
        elif kind == "verbatim":
            yield text  # a usage that was copied into the page
        elif section == "SYNOPSIS" and text.strip():
            yield f"  usage: {text.strip()}"
        else:
            # A sentence that begins with the program's name is not a usage, and one with braces lists no subcommands.
            said = f"· {text.strip()}".replace("{", "(") if text.strip() else ""
            yield f"  {text.strip()}" if kind == "tag" else f"          {said}"


def _of_roff(page: str) -> Iterator[tuple[str, str]]:
    tag, verbatim, skipping, usage, begins = False, False, False, False, False
    for line in page.splitlines():
        name, _, rest = line[1:].strip().partition(" ") if line[:1] in (".", "'") else ("", "", line)
        if name in ("de", "de1", "ig"):
            skipping = True
        elif line.startswith("..") or skipping:
            skipping = skipping and not line.startswith("..")
        elif name in ("nf", "fi"):
            verbatim, usage = name == "nf", False
        elif name in ("SH", "SS", "Sh", "Ss"):
            yield "heading", " ".join(_words(rest))
        elif name in ("TP", "TQ"):
            tag = True
        elif name in ("IP", "It") and rest.strip():
            yield "tag", _mdoc(rest.split()) if name == "It" else _plain(_words(rest)[0])
        elif name in _BREAKS:
            begins = True
            yield "text", ""
        elif (text := _text(name, rest)).strip() or verbatim:
            usage |= verbatim and text.lower().lstrip().startswith("usage:")
            tag |= begins and not verbatim and text.startswith("-")  # DocBook's pages have paragraphs for tags
            yield ("tag" if tag else "verbatim" if usage else "text"), text
            tag = begins = False


def _text(name: str, rest: str) -> str:
    """Return what a line prints; '' for a comment and for a macro that prints nothing."""
    if not name:
        return _plain(rest)
    if name in _FONTS:
        shown = [_value(word) if _italic(name, number) else word for number, word in enumerate(_words(rest))]
        return _plain(("" if name in _FONTS[4:] else " ").join(shown))  # the last ones alternate, without spaces
    return _mdoc([name, *rest.split()]) if re.fullmatch(r"Nm|Fl|Ar|Op|Cm|Ic|Oo|Oc|Li|Pa|Xo", name) else ""


def _italic(fonts: str, number: int) -> bool:
    return fonts[number % len(fonts)] == "I"


def _value(text: str) -> str:
    """Return what stands for a value, in angle brackets if it has no brackets."""
    return f"<{text.strip()}>" if re.match(r"\w", text) else text


def _words(rest: str) -> list[str]:
    return [found[1] if found[1] is not None else found[2] for found in _WORD.finditer(rest)]


def _plain(text: str) -> str:
    """Return the text without escapes of roff, with what is in italics in angle brackets."""
    text = _ITALIC.sub(lambda found: _value(found[1]), text)
    for pattern, new in _ESCAPES:
        text = pattern.sub(new, text)
    return text


def _mdoc(words: Sequence[str]) -> str:
    """Return a line of mdoc: `Fl d , Fl Fl due Ar date` is `-d, --due <date>`."""
    shown, closing, macro, join = "", "", "", False
    for word in words:
        if word in ("Fl", "Ar", "Cm", "Ic", "Nm", "Li", "Pa", "No", "Xo", "Ns", "Oo", "Oc", *_CLOSING):
            join |= word == "Ns" or (word == "Fl" and macro == "Fl" and shown.endswith("-"))
            opening = {"Op": "[", "Oo": "[", "Pq": "(", "Dq": '"', "Sq": "'"}.get(word, "")
            shown += (opening and f" {opening}") or ("]" if word == "Oc" else "")
            closing = _CLOSING.get(word, "") + closing if opening else closing
            shown += ("-" if join or shown.endswith(("[", "(")) else " -") if word == "Fl" else ""
            join &= word != "Fl"
            macro = "" if word == "Ns" else word
            continue
        text = _value(_plain(word)) if macro == "Ar" else _plain(word)
        glued = join or shown.endswith(("-", "[", "(")) or text in (",", ")", "]", "...")
        shown, join = shown + ("" if glued else " ") + text, False
    return (shown + closing).strip()


def _of_markdown(page: str) -> Iterator[tuple[str, str]]:
    """Yield the rows of a page for pandoc or ronn."""
    section = ""
    for line in page.splitlines():
        text = _NAMED.sub(r"<\1>", re.sub(r"\*\*|`|\\(?=\W)", "", line.strip()))
        text = re.sub(r"^[*-] (?=-|\w+(?: <|:))", "", text)
        if heading := _HEADING.match(line):
            section = heading[1].upper()
            yield "heading", heading[1]
        elif not line[:1].isspace() and line.startswith((":", "~")):
            yield "text", text[1:]
        elif text.startswith("-") or (re.search(r"COMMANDS", section) and re.match(r"[*\s-]*(?:\*\*|`)[a-z]", line)):
            yield "tag", text.rstrip(":")
        else:
            yield "text", text
