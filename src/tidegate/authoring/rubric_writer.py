"""Inserts rubrics into the text of an eval file, and keeps its comments."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import yaml as plain_yaml

from tidegate.rubrics.drafting import Drafted

_OUTCOMES = ("expected_outcome", "outcome")
_NO_FOLDING = 1_000_000
_LOADER: Any = getattr(plain_yaml, "CSafeLoader", plain_yaml.SafeLoader)  # the loader that suites are read with


def with_rubrics(text: str, drafts: Mapping[int, Sequence[Drafted]]) -> str:
    """Return the file's text with `rubrics` added to these cases. The keys of `drafts` are indexes in `evalcases`.

    The rubrics go below the expected outcome. Raises ValueError if YAML cannot hold a draft, or if the result would
    not load as the old content plus the rubrics.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.util import load_yaml_guess_indent

    _, indent, dash = load_yaml_guess_indent(text)
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = _NO_FOLDING
    writer.indent(mapping=2, sequence=indent or 2, offset=dash or 0)
    document = writer.load(text)
    for number, drafted in drafts.items():
        _insert(document["evalcases"][number], drafted)
    written = io.StringIO()
    try:
        writer.dump(document, written)
        before, after = (plain_yaml.load(version, Loader=_LOADER) for version in (text, written.getvalue()))
    except (YAMLError, plain_yaml.YAMLError) as error:
        raise ValueError(f"YAML cannot hold a draft ({error.__class__.__name__})") from None
    for number in drafts:
        after["evalcases"][number].pop("rubrics")
    if before != after:
        raise ValueError("the file's layout is too unusual to be kept")
    return written.getvalue()


def _insert(case: Any, drafted: Sequence[Drafted]) -> None:
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString as Quoted
    from ruamel.yaml.tokens import CommentToken

    keys = list(case)
    above = next((key for key in _OUTCOMES if key in case), keys[0])
    rubrics = [
        CommentedMap(id=Quoted(one.id), description=Quoted(one.description), weight=one.weight, required=one.required)
        for one in drafted
    ]
    comment = case.ca.items.get(above)
    if comment and comment[2]:  # the comment lines below this value describe the next key, so they move with it
        token = comment[2]
        beside, _, below = token.value.partition("\n")
        token.value = beside + "\n"
        rubrics[-1].ca.items["required"] = [None, None, CommentToken("\n" + below, token.start_mark), None]
    case.insert(keys.index(above) + 1, "rubrics", rubrics)
