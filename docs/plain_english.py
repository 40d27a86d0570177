"""Find banned words and phrases in code, templates and documents; exit with 1 if there are any (`make lint`).

`plain_english.py [FILE…]` prints a line for each: file, line number, the phrase, and what to write instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

ROOT = Path(__file__).parents[1]
PLACES = ("src", "templates", "docs", "README.md", "CONTRIBUTING.md", "action.yml")
KINDS = {".css", ".html", ".j2", ".js", ".md", ".py", ".yml"}

# Regular expressions without upper case, and what to write instead. A space matches any white space.
PHRASES = (
    (r"mend(s|ed|ing)?", "fix"),
    (r"anew", "again, from scratch"),
    (r"own words?", "name it: output, message, text"),
    (r"(stand|stands|stood) (alone|at|before|beside|in(?! for)|on|there|under|with)", "is in, is next to, is shown"),
    (r"(?<!there )(is|are) no (?!longer|more|less|different)", "is not a, are not"),
    (r"what (becomes|became|become) of", "the result of; regardless of"),
    (r"whatever (becomes|became|comes|got|had|has|it)", "name it; regardless of"),
    (r"somebody|anybody", "name the person: a user, a maintainer, another process"),
    (r"nobody", "no one; name the person: no user, no maintainer"),
    (r"of yours", "your"),
    (r"told once", "shown once"),
    (r"(much|more|less) goes unseen", "may be missed"),
    (r"the room on (it|the disk)", "disk space"),
    (r"look at its rights", "check its permissions"),
    (r"nothing that was started", "no child process"),
    (r"that its provider takes", "valid"),
    (r"hardly", "rarely; give the number"),
    (r"in the place of", "instead of"),
    (r"(leaves?|left) base['’]s way", "diverges, diverged"),
    (r"what ([\w`'’-]+ ){1,3}says", "name it: the value, the text, the rules"),
    (r"(say|says|said|saying) of", "report, print, state about"),
    (r"as it is(?=[.;:,)])", "unchanged"),
    (r"talked round", "vulnerable to prompt injection"),
    (r"hand(s|ed)? on", "pass"),
    (r"coin toss|liar|the real thing", "say what it does, without a metaphor"),
    (r"to the letter", "verbatim, exactly"),
    (r"get along", "work, behave"),
    (r"stop(s|ped)? working", "fail completely"),
    (r"lose \d+ points", "drop by N percentage points"),
    (r"seldom", "rarely"),
    (r"for (want|lack) of", "because it is missing; without"),
    (r"may be chance", "may be noise"),
    (r"would settle it", "are needed"),
    (r"all the same", "still"),
    (r"hangs? on", "depends on"),
    (r"whether what", "return True if"),
    (r"(once|twice) more", "again; N times"),
    (r"strangers?", "untrusted; another user's"),
)
_GAP = r"\s+(?:[#>*] ?)?"  # white space, with what begins a comment's or a quotation's next line
_BANNED = [(regex.compile(rf"\b(?:{phrase.replace(' ', _GAP)})\b", regex.I), better) for phrase, better in PHRASES]


def findings(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number (from 1), phrase and replacement of each banned phrase, in order of the lines."""
    found = [(match.start(), match[0], better) for banned, better in _BANNED for match in banned.finditer(text)]
    for start, phrase, better in sorted(found):
        yield text.count("\n", 0, start) + 1, regex.sub(_GAP, " ", phrase).strip(), better


def files() -> Iterator[Path]:
    """Yield all files that are checked: those with text for people, except this one."""
    for place in map(ROOT.joinpath, PLACES):
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix in KINDS and path != Path(__file__).resolve():
                yield path


def main(paths: Iterable[Path]) -> int:
    """Print every finding and return the exit code."""
    lines = [
        f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}: “{phrase}”: write “{better}” instead"
        for path in paths
        for line, phrase, better in findings(path.read_text(encoding="utf-8"))
    ]
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or files()))
