"""Check how much people have to read; `make lint` runs it.

`written.py` counts lines and words of README.md and docs/ that people wrote, and finds long pages, long sentences, and
tables and blocks of YAML that occur twice. It prints what is wrong and exits with 1; `--count` prints each page.
What a command writes does not count: the pages in `GENERATED`, and text between the marks of `make docs`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = {"docs/attempts.md", "docs/cli.md", "docs/error-rates.md", "docs/judge-warnings.md"}
LINES, WORDS, LINES_OF_A_PAGE, WORDS_OF_A_SENTENCE = 2500, 24_000, 250, 25

_MADE = re.compile(r"<!-- (\w+): written by .*?<!-- end of \1 -->\n| <!-- \w+ -->", re.S)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.M)
_YAML = re.compile(r"^ *```yaml\n(.*?)^ *```$", re.M | re.S)
_MARKS = re.compile(r"<[^>]*>|!?\[([^\]]*)\]\([^)]*\)", re.S)  # tags, comments and links
_SENTENCE = re.compile(r"(?<=[.!?])[)\"”*]*\s+(?=[A-Z`*\"“(]|$)")


def pages() -> dict[str, str]:
    """Return the text of each page that people wrote, by its path, without what commands write into it."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {name: _MADE.sub("", text) for name, text in texts.items() if name not in GENERATED}


def sentences(text: str) -> Iterator[str]:
    """Yield each sentence of paragraphs, lists and cells of tables. Code counts as one word."""
    prose = _FENCE.sub("\n\n", text)
    prose = re.sub(r"`[^`]+`", "`code`", prose)
    prose = _MARKS.sub(r"\1", prose)
    prose = re.sub(r"^(#.*|\|[-|: ]+\|)$", "", prose, flags=re.M)
    prose = re.sub(r"^\s*(?:[-*]|\d+\.) |\|", "\n\n", prose, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", prose):
        for sentence in _SENTENCE.split(" ".join(paragraph.split())):
            yield re.sub(r"(`code`,? (and |or )?)+", "`code` ", sentence)  # a list of names is one


def findings(texts: dict[str, str]) -> Iterator[str]:
    """Yield a line for each page or sentence that is too long, and for each table or block of YAML that comes twice."""
    seen: dict[str, str] = {}
    for name, text in texts.items():
        if (lines := len(text.splitlines())) > LINES_OF_A_PAGE:
            yield f"{name}: {lines} lines: make two pages of it, or let a command write a part"
        for sentence in sentences(text):
            if (words := len(sentence.split())) > WORDS_OF_A_SENTENCE:
                yield f"{name}: {words} words: {sentence}"
        for block in [*_TABLE.findall(text), *_YAML.findall(text)]:
            plain = " ".join(block.split())
            if plain in seen:
                yield f"{name}: also in {seen[plain]}: {plain[:80]}"
            seen[plain] = name


def main() -> int:
    """Print the counts or the findings, and return the exit code."""
    texts = pages()
    lines = sum(len(text.splitlines()) for text in texts.values())
    words = sum(len(text.split()) for text in texts.values())
    if sys.argv[1:] == ["--count"]:
        for name, text in texts.items():
            print(f"{len(text.splitlines()):6}{len(text.split()):8} {name}")
        print(f"{lines:6}{words:8} in all")
        return 0
    found = list(findings(texts))
    if lines > LINES or words > WORDS:
        found.append(f"{lines} lines of at most {LINES}, {words} words of at most {WORDS}: `--count` has each page")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
