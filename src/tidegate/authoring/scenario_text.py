"""Writes the scenario file of `tidegate add` from a recorded attempt, ready to be edited."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from tidegate.model.gate import Gate
from tidegate.model.target import Target
from tidegate.model.value import Value

SCHEMAS = ".tidegate/schema"  # local copies for the editor, ignored by git
MOST_FILES = 6  # changed files for which a gate is proposed
LONGEST_LINE = 120
FEWEST_LETTERS = 3


class Story(Value):
    """What is known about the attempt that becomes a scenario. `diff` is the git diff of its workspace."""

    name: str
    description: str
    source: str
    prompt: str
    target: Target | None = None
    setup: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    diff: str = ""
    succeeded: bool = False
    commands: tuple[str, ...] = ()  # the attempt's calls of the target


def scenario_text(story: Story, file: str | None = None) -> str:
    """Return the text of the scenario file. `file` is its path in the repository; None: that is not known yet.

    An editor finds the schema by that path.
    """
    gates = [flow({"type": gate.type, **_fields(gate)}) for gate in story.gates]
    proposed = [flow(gate) for gate in proposed_gates(story.diff)]
    if not gates and not (proposed and story.succeeded):
        gates.append("{type: no_transcript_errors}")
    lines = [
        *_head(story, file),
        f"name: {_scalar(story.name)}",
        f"description: {_scalar(story.description)}",
        f"source: {_scalar(story.source)}",
        f"target: {_target(story.target)}",
        "task:",
        *prompt_lines(story.prompt),
        *([f"setup: {{commands: {flow(list(story.setup))}}}"] if story.setup else []),
        "evaluation:",
        "  gates:",
        *(f"    - {gate}" for gate in gates),
        *_proposals(proposed, story),
        *(f"# it called: {_comment(command)}" for command in story.commands),
    ]
    return "\n".join(lines) + "\n"


def repeated_text(data: Mapping[str, Any], story: Story, file: str | None = None) -> str:
    """Return the text of a scenario or eval file with this content; the calls and, if it failed, gates are comments."""
    text = yaml.dump(
        dict(data), Dumper=_Blocks, default_flow_style=None, sort_keys=False, allow_unicode=True, width=120
    )
    proposed = [] if file is None or story.succeeded else [flow(gate) for gate in proposed_gates(story.diff)]
    asides = [*_proposals(proposed, story), *(f"# it called: {_comment(one)}" for one in story.commands)]
    return "\n".join([*_head(story, file), text.rstrip(), *asides]) + "\n"


def _head(story: Story, file: str | None) -> Iterator[str]:
    if file is not None:
        yield f"# yaml-language-server: $schema={'../' * file.count('/')}{SCHEMAS}/scenario.json"
    yield "# Written by `tidegate add`. Read it through: say what should happen, and delete what does not matter."


def proposed_gates(diff: str) -> Iterator[dict[str, Any]]:
    """Yield a gate for each text file that was added or changed, with its first meaningful new line."""
    for number, (path, is_new, added) in enumerate(changes(diff)):
        if number == MOST_FILES:
            return
        line = next((line.strip() for line in added if _tells_something(line.strip())), None)
        if line is not None:
            yield {"type": "file_contains", "path": path, "substring": line}
        elif is_new:
            yield {"type": "file_exists", "path": path}


def _tells_something(line: str) -> bool:
    """Return True if the line contains at least a short word and is not too long to read."""
    return len(line) <= LONGEST_LINE and sum(character.isalnum() for character in line) >= FEWEST_LETTERS


def changes(diff: str) -> Iterator[tuple[str, bool, list[str]]]:
    """Yield path, whether it is new, and added lines of each file. Skips names that git quotes."""
    for part in f"\n{diff}".split("\ndiff --git ")[1:]:
        head, _, body = part.partition("\n@@ ")
        path = head.splitlines()[0].rpartition(" b/")[2]
        if path.endswith('"') or not path:
            continue
        yield path, "new file mode" in head, [line[1:] for line in body.splitlines() if line.startswith("+")]


def _proposals(proposed: Sequence[str], story: Story) -> list[str]:
    if not proposed:
        return []
    if story.succeeded:
        return ["    # from what it left in its workspace:", *(f"    - {gate}" for gate in proposed)]
    return [
        "    # From what it left in its workspace. It failed: take over what was right nevertheless.",
        *(f"    # - {gate}" for gate in proposed),
    ]


def _fields(gate: Gate) -> dict[str, Any]:
    return gate.model_dump(mode="json", exclude_defaults=True, exclude={"type"})


def _target(target: Target | None) -> str:
    if target is None:
        return "from_config"
    derived = {"env"} if target.mcp is None else {"env", "binary"}  # the binary of a server is its name
    return flow(target.model_dump(mode="json", exclude_defaults=True, exclude=derived))


def flow(value: Any) -> str:
    """Return the value as one line of YAML."""
    text = _dumped(value, plain=True)
    return text if text.isprintable() else _dumped(value, plain=False)


def item(gate: Mapping[str, Any]) -> str:
    """Return the gate as YAML to follow `    - `: one line, or a line for each key if it has a long list of words."""
    line = flow(dict(gate))
    if len(line) <= LONGEST_LINE or "words" not in gate:
        return line
    words = textwrap.wrap(flow(list(gate["words"])), LONGEST_LINE - 14, break_long_words=False, break_on_hyphens=False)
    rest = [f"{key}: {flow([value])[1:-1]}" for key, value in gate.items() if key != "words"]
    return "\n      ".join([*rest, f"words: {words[0]}", *(f"  {row}" for row in words[1:])])


def _dumped(value: Any, *, plain: bool) -> str:
    """Return the value as one line of YAML.

    Unless `plain`, strings are quoted and non-ASCII characters escaped, since unprintable ones would not survive.
    """
    text: str = yaml.dump(
        value,
        Dumper=_Plain if plain else _Quoting,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=plain,
        width=math.inf,
    )
    return text.strip().removesuffix("\n...")


class _Plain(yaml.SafeDumper):
    """A dumper without aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Quoting(_Plain):
    """A dumper that puts every string in double quotes."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


class _Blocks(_Plain):
    """A dumper that writes text of several lines as a block."""


_Blocks.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def _scalar(text: str) -> str:
    return flow([text])[1:-1]


def prompt_lines(text: str) -> list[str]:
    """Return the prompt as a YAML block if it survives that unchanged, else as a quoted string."""
    if _is_odd(text):
        return [f"  prompt: {_scalar(text)}"]
    return ["  prompt: |-", *(f"    {line}".rstrip() for line in text.split("\n"))]


def _comment(text: str) -> str:
    """Return the text as one line without unprintable characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def _is_odd(text: str) -> bool:
    """Return True if a YAML block would not preserve the text."""
    plain = all(character.isprintable() or character == "\n" for character in text)
    return not plain or text != text.strip() or not text or any(line != line.rstrip() for line in text.split("\n"))


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return the wanted name, with a number appended if it is taken."""
    names = set(taken)
    numbered = (f"{wanted}_{number}" for number in range(2, len(names) + 3))
    return wanted if wanted not in names else next(name for name in numbered if name not in names)


def file_name(name: str) -> str:
    """Return a file name for a scenario, without characters that are special in paths."""
    plain = "".join(character if character.isalnum() or character in "_-" else "_" for character in name)
    return PurePosixPath(plain.strip("_") or "scenario").name
