"""Sample files by kind, for examples that name a file which the repository does not have. Pure."""

from __future__ import annotations

import ast
from contextlib import suppress
from importlib.resources import files
from warnings import catch_warnings, simplefilter

HISTORY = "history.sh"  # makes a git repository in the folder that it is given
SAMPLES = {
    f".{file.name}": file.read_text(encoding="utf-8")
    for file in sorted(files(__package__).joinpath("sample_files").iterdir(), key=lambda file: file.name)
}
_SAME = {
    ".fasta": ".fa",
    ".fastq": ".fq",
    ".htm": ".html",
    ".ndjson": ".jsonl",
    ".yml": ".yaml",
    ".markdown": ".md",
    ".cfg": ".ini",
    ".conf": ".ini",
    ".hbs": ".mustache",
    ".handlebars": ".mustache",
}
WHOLE = (".json", ".yaml", ".toml", ".xml", ".svg")  # one value or element a file
_OTHERS = (  # texts of the first sample, and those of the second
    *(("Ada", "Bea"), ("London", "Leeds"), ("42", "17"), ("7.125", "7.131"), ("nested", "inner"), ("Grace", "Jean")),
    *(('"id": 1', '"id": 5'), ('["second", "first"]', '["first", "second"]'), ("[second, first]", "[first, second]")),
)


def kind_of(name: str) -> str:
    """Return the kind of sample for a file of this name, such as `.json`; '' if there is none."""
    name = name.lower().removesuffix(".gz")  # what reads compressed files mostly reads others, too
    suffix = f".{name.rpartition('.')[2]}" if "." in name else ""
    suffix = _SAME.get(suffix, suffix)
    return suffix if suffix in SAMPLES else ""


def samples_of(kind: str) -> list[str]:
    """Return the names of the samples of this kind: the second one, if any, has more of what the kind allows."""
    return [f"sample{kind}", *([f"more{kind}"] if f".more-{kind[1:]}" in SAMPLES else [])]


def joins(kind: str, text: str) -> bool:
    """Return False if the text would make a file of this kind invalid for sure, among others in it."""
    if kind != ".py":
        return True
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), catch_warnings():
        simplefilter("ignore")
        return bool(ast.parse(text))
    return False


def sample(name: str, number: int = 0) -> str:
    """Return the sample for a file of this name: a text, if its kind is not known. Odd numbers have other values."""
    text = SAMPLES.get(f".{name.replace('.', '-')}") or SAMPLES[kind_of(name) or ".txt"]
    for ours, theirs in _OTHERS if number % 2 else ():
        text = text.replace(ours, theirs)
    return text
