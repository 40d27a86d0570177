"""Collects inputs for a tool: samples, files of the repository, and texts of its tests. Pure but for reading files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePath

from tidegate.authoring.samples import kind_of, samples_of
from tidegate.authoring.shown_calls import shown_blocks, shown_in_shell, shown_lines, shown_objects, shown_texts
from tidegate.authoring.survey import find_cases, find_inputs, find_scripts, find_spec_examples
from tidegate.authoring.variations import in_turn

MOST_KINDS = 5  # of samples that a tool is given
MOST_GIVEN, LONGEST_GIVEN = 3, 3_000  # inputs of tests, and characters of one
_SUFFIX = re.compile(r"(?<=[\w*\s`'\"(])\.[a-z]{1,8}\b")  # also of a file without another name, such as `.env`
_LINK = re.compile(r"\]\([^)\s]*\)|\bhttps?://\S+")
_MARKS = re.compile(r"\"[^\"\n]*\":|[^\w\s]+\s?|\n\s+")  # of JSON, its keys
_FORMATS = {  # by their names
    ".md": "Markdown|CommonMark",
    ".rst": "reStructuredText",
    ".py": "Python (?:source|code|files?|scripts?|modules?|programs|docstrings)",
    ".js": "JavaScript",
    ".sh": "(?:[Ss]hell|[Bb]ash) (?:code|files|scripts)",
    ".c": r"C(?:/C\+\+)? (?:source|code|files)",
    **{f".{name}": name.upper() for name in ("json", "yaml", "toml", "xml", "html", "css", "csv", "sql", "svg", "ini")},
}
_HEAD = 800  # characters of a text, which tell what the tool is for
_SAYS_LITTLE = re.compile(r"\s*\S?\s*|[\s\S]*[\x00-\x08\x0e-\x1a\x7f-\x9f][\s\S]*")  # one character, and controls


def given_in_tests(code: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Return the longest texts in the code of tests as inputs, by name."""
    kind = [*kinds_named_in(texts), ".txt"][0]
    longest = sorted(shown_texts(code), key=len, reverse=True)[:MOST_GIVEN]
    return {f"given{number}{kind}": text for number, text in enumerate(longest, 1)}


def cases(
    root: Path, code: Collection[str], texts: Collection[str], binary: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return small inputs of tests, by name: files, and what their code has. Texts fit any kind, and have no suffix.
    The `binary` files of the repository come first, without a text.

    Files of the kinds that the docs name, and what they show as such a file, come first, then the texts, and the code
    itself at last. Of each group, what has marks that nothing before it has comes first, the smallest first.
    """
    kinds, known = kinds_named_in(texts), set[str]()
    scripts = [path.read_text(encoding="utf-8", errors="replace") for path in find_scripts(root)]
    given = (*shown_texts(code), *shown_lines(code), *shown_in_shell(scripts))
    fit = (text for text in given if len(text) <= LONGEST_GIVEN)
    fit = (text for text in fit if not _SAYS_LITTLE.fullmatch(text))
    blocks = (text for suffix, text in shown_blocks(texts) if kind_of(f".{suffix}") in ("", *kinds))
    shown = (text for text in blocks if len(text) <= LONGEST_GIVEN)
    found = find_cases(root) | find_spec_examples(root) | {f"case{number}": text for number, text in enumerate(fit, 1)}
    found |= {f"shown{number}": text for number, text in enumerate(shown, 1)}
    if ".json" in kinds:
        objects = (f"{json.dumps(one)}\n" for one in shown_objects((), code) if one and "arguments" not in one)
        found |= {f"object{number}.json": text for number, text in enumerate(dict.fromkeys(objects), 1)}
    new: dict[str, bool] = {}
    for name in sorted(found, key=lambda name: (len(found[name]), name)):
        marks = {*_MARKS.findall(found[name])}
        new[name] = bool(marks - known)
        known |= marks
    is_code = {name for name, text in found.items() if text in code or text in scripts}  # of the tests
    first = {name for name in found if kind_of(name) in kinds or name.startswith("shown")}
    group = {
        name: 2 if name in is_code else 0 if name in first else 2 if PurePath(name).suffix else 1 for name in found
    }
    texts_first = sorted(new, key=lambda name: (group[name], not new[name]))
    return *((name, "") for name in binary), *((name, found[name]) for name in texts_first)


def kinds_named_in(texts: Iterable[str]) -> list[str]:
    """Return the kinds of files that the texts name, the most frequent first: the formats in their first lines, then
    the suffixes of files. Links lead to other documents.
    """
    plain = [_LINK.sub("", text) for text in texts]
    suffixes = Counter(kind_of(found) for text in plain for found in _SUFFIX.findall(text))
    named = [kind for found in (_formats_in(plain), suffixes) for kind, _ in found.most_common() if kind]
    return [*dict.fromkeys(named)][:MOST_KINDS]


def _formats_in(texts: Iterable[str]) -> Counter[str]:
    """Return how often the first lines of the texts name each format, by its kind."""
    heads = "\n".join(text[:_HEAD] for text in texts)
    return +Counter({kind: len(re.findall(rf"\b(?:{name})\b", heads)) for kind, name in _FORMATS.items()})


def inputs(root: Path, texts: Sequence[str], given: Iterable[str] = (), binary: Sequence[str] = ()) -> tuple[str, ...]:
    """Return samples and files of the repository: `binary` ones and those of kinds without a sample, which the tool is
    likely to be made for, in turn with samples of the kinds that the docs name, and of usual ones, and with what is
    given; then its other files. Where the docs' first lines name a format, samples come first.
    """
    kinds = kinds_named_in(texts)
    usual = [kind for kind in (".txt", ".json", ".md", ".csv", ".py") if kind not in kinds]
    own = find_inputs(root, kinds)
    samples = [name for kind in (*kinds, *usual) for name in samples_of(kind)]
    kinds_of_own = dict.fromkeys(PurePath(name).suffix for name in own if not kind_of(name))
    groups = [[name for name in own if name.endswith(kind)] for kind in kinds_of_own]
    unusual = [binary[:MOST_GIVEN], *groups]
    sources = [samples, *unusual, given] if _formats_in(texts) else [*unusual, samples, given]
    return *in_turn(map(iter, sources)), *(name for name in own if kind_of(name))
