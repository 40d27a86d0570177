"""docs/cli.md: the help of every command, from the parsers themselves."""

from __future__ import annotations

import argparse
import re

from tidegate.cli import COMMANDS, GROUPS, parsers

INTRODUCTION = """# Commands

<!-- Written by `make docs`; change the commands instead. -->

`tidegate COMMAND --help` prints the same. The [exit codes](configuration.md#exit-codes) are the same everywhere.

| | command | what it does |
|---|---|---|
"""


def cli() -> str:
    """Return the page: all commands in groups, and a section for each with its description and its options."""
    commands = parsers(COMMANDS)[1]
    rows = "".join(
        f"| {title if name == next(iter(group)) else ''} | [`{name}`](#tidegate-{name}) | {told} |\n"
        for title, group in GROUPS.items()
        for name, told in group.items()
    )
    return INTRODUCTION + rows + "".join(_section(f"tidegate {name}", commands[name]) for name in COMMANDS)


def _section(title: str, command: argparse.ArgumentParser) -> str:
    nested = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    options = [action for action in command._actions if action.dest != "help" and action not in nested]  # noqa: SLF001
    text = f"\n## `{title}`\n"
    if command.description:
        text += f"\n```text\n{command.description.strip()}\n```\n"
    if options:
        text += "\n| option | meaning |\n|---|---|\n" + "".join(map(_row, options))
    for name, inner in (choice for action in nested for choice in action.choices.items()):
        text += _section(f"{title} {name}", inner).replace("\n## ", "\n### ", 1)
    return text


def _row(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    if isinstance(value, tuple):
        value = " ".join(value)
    takes = action.nargs != 0
    name = " ".join([", ".join(action.option_strings), value if takes else ""]).strip() or value
    told = (action.help or "").replace("%%", "%")
    meaning = re.sub(r"%\((\w+)\)[gs]", lambda match: f"{getattr(action, match[1])}".removesuffix(".0"), told)
    return "| `{}` | {} |\n".format(*(text.replace("|", "\\|") for text in (name, meaning)))
