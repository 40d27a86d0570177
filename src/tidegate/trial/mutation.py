"""What a mutant of a command-line tool changes in one call. The wrapper contains this file and `outputs.py`.

A mutant is a dict: `kind`, `command`, `name`, `aliases`, `takes_value`, `commands` (all subcommands, longest first).
A call's result is a tuple: exit code, stdout, stderr.
"""

import re
from typing import Any

from tidegate.trial.mutated_outputs import CHANGES, Result

USAGE_ERROR = 2
JOIN = "\x1f"  # between the arguments of the one call that a mutant changes


def before(mutant: dict[str, Any], argv: list[str]) -> tuple[list[str], Result | None]:
    """Return the arguments that the tool gets, or instead the result that the caller gets."""
    if not meets(mutant, argv) or is_help(argv):
        return argv, None
    kind, name = mutant["kind"], mutant["name"]
    if kind == "subcommand_renamed" and (renamed := place_of(argv, new_name(mutant))) is not None:
        return [*argv[:renamed], *name.split(), *argv[renamed + len(name.split()) :]], None
    if kind == "option_renamed" and new_name(mutant) in [word.partition("=")[0] for word in argv]:
        new = new_name(mutant)
        return [name + word[len(new) :] if word.startswith(new) else word for word in argv], None
    if why := refusal(mutant, argv):
        return argv, (USAGE_ERROR, "", f"error: {why}\n")
    if kind == "prompts":
        return argv, (1, "Are you sure? [y/N] ", "Aborted.\n")
    return given(mutant, argv), None


def refusal(mutant: dict[str, Any], argv: list[str]) -> str:
    """Return why the tool refuses the arguments; '' if it does not."""
    kind, name = mutant["kind"], mutant["name"]
    if kind in ("subcommand_removed", "subcommand_renamed"):
        return f"unknown command '{name}'"
    if kind in ("option_removed", "option_renamed", "alias_removed"):
        return f"unrecognized arguments: {named(mutant, argv)}"
    if kind == "value_refused":
        return f"invalid value for {named(mutant, argv)}: '{mutant['value']}'"
    if kind == "option_required":
        return f"the following arguments are required: {name}"
    if kind == "argument_refused":
        refused = last_argument(mutant, argv)
    else:
        refused = late_option(mutant, argv) if kind == "options_first" else ""
    return refused and f"unrecognized arguments: {refused}"


def given(mutant: dict[str, Any], argv: list[str]) -> list[str]:
    """Return the arguments as the mutant takes them."""
    if mutant["kind"] == "option_ignored":
        return without(mutant, argv)
    if mutant["kind"] == "default_changed":
        return with_default(mutant, argv)
    return argv


def own_words(mutant: dict[str, Any], argv: list[str]) -> list[str]:
    """Return what follows the subcommand."""
    words = mutant["command"].split()
    return argv[(place_of(argv, mutant["command"]) or 0) + len(words) :] if words else argv


def last_argument(mutant: dict[str, Any], argv: list[str]) -> str:
    """Return the last word if it is an argument that is not the value of an option, else ''."""
    own = own_words(mutant, argv)
    option = any(word.startswith("-") for word in own[-2:])
    return own[-1] if own and not option else ""


def late_option(mutant: dict[str, Any], argv: list[str]) -> str:
    """Return the first option after an argument that is not the value of an option; '' if there is none."""
    own = own_words(mutant, argv)
    own = own[: own.index("--")] if "--" in own else own
    for place, word in enumerate(own[1:], 1):
        before_it = own[max(place - 2, 0) : place]
        if len(word) > 1 and word.startswith("-") and not any(one.startswith("-") for one in before_it):
            return word
    return ""


def after(mutant: dict[str, Any], argv: list[str], result: Result) -> Result:
    """Return what the caller gets of what the tool returned."""
    if is_help(argv):
        return changed_help(mutant, argv, result)
    change = CHANGES.get(mutant["kind"])
    return change(mutant, result) if change and meets(mutant, argv) else result


def meets(mutant: dict[str, Any], argv: list[str]) -> bool:
    """Return True if the call uses what the mutant changes."""
    kind, name = mutant["kind"], mutant["name"]
    if kind in ("subcommand_removed", "subcommand_renamed"):
        return place_of(argv, name) is not None or place_of(argv, new_name(mutant)) is not None
    if mutant["command"] and command_of(argv, mutant["commands"]) != mutant["command"]:
        return False
    if kind in ("input_fails", "input_crashes"):
        return bool(JOIN.join(argv) == mutant["value"])
    if kind == "alias_removed":
        return place_of_option(mutant, argv) is not None
    if kind in ("option_removed", "option_ignored", "option_renamed"):
        return place_of_option(mutant, argv) is not None or any(word.startswith(new_name(mutant)) for word in argv)
    if kind == "value_refused":
        return value_of(mutant, argv) == str(mutant["value"])
    if kind in ("default_changed", "option_required"):
        return place_of_option(mutant, argv) is None
    return bool(mutant["command"]) or not command_of(argv, mutant["commands"])


def is_help(argv: list[str]) -> bool:
    """Return True if the call asks for help."""
    return "--help" in argv or "-h" in argv[-1:] or argv[:1] == ["help"]


def new_name(mutant: dict[str, Any]) -> str:
    """Return the name that a renamed option or subcommand has."""
    name = str(mutant["name"])
    if not name.startswith("-"):
        return f"{name}-item"
    return f"--new-{name.lstrip('-')}"


def command_of(argv: list[str], names: list[str]) -> str:
    """Return the call's subcommand; '' if it has none."""
    return next((name for name in names if place_of(argv, name) is not None), "")


def place_of(argv: list[str], name: str) -> int | None:
    """Return where the words of the subcommand begin; None if the call has another one, or none."""
    words = name.split()
    for place, word in enumerate(argv):
        if argv[place : place + len(words)] == words:
            return place
        after_option = place > 0 and argv[place - 1].startswith("-") and "=" not in argv[place - 1]
        if not word.startswith("-") and not after_option:
            return None
    return None


def place_of_option(mutant: dict[str, Any], argv: list[str]) -> int | None:
    """Return where the option is: as a word, as `--due=x`, or as the first of joined short ones; None if it is not."""
    names = {mutant["name"], *mutant["aliases"]}
    for place, word in enumerate(argv):
        if word == "--":
            return None
        if word in names or word.partition("=")[0] in names:
            return place
        if re.match(r"-[A-Za-z0-9]{2,}$", word) and word[:2] in names:
            return place
    return None


def named(mutant: dict[str, Any], argv: list[str]) -> str:
    """Return the option as the call writes it."""
    place = place_of_option(mutant, argv)
    return str(mutant["name"]) if place is None else argv[place]


def value_of(mutant: dict[str, Any], argv: list[str]) -> str | None:
    """Return the option's value: the next word, or the rest of its own; None if the call has none."""
    place = place_of_option(mutant, argv)
    if place is None:
        return None
    word = argv[place]
    if word in {mutant["name"], *mutant["aliases"]}:
        return argv[place + 1] if place + 1 < len(argv) else None
    return word.partition("=")[2] if "=" in word else word[2:]


def with_default(mutant: dict[str, Any], argv: list[str]) -> list[str]:
    """Return the arguments with the option, which the caller leaves out, and its new default."""
    words = mutant["command"].split()
    at = (place_of(argv, mutant["command"]) or 0) + len(words) if words else 0
    given = [mutant["name"], mutant["value"]] if mutant["takes_value"] else [mutant["name"]]
    return [*argv[:at], *given, *argv[at:]]


def without(mutant: dict[str, Any], argv: list[str]) -> list[str]:
    """Return the arguments without the option and its value."""
    place = place_of_option(mutant, argv)
    if place is None:
        return argv
    word = argv[place]
    names = {mutant["name"], *mutant["aliases"]}
    if word not in names and "=" not in word and not mutant["takes_value"]:
        return [*argv[:place], f"-{word[2:]}", *argv[place + 1 :]]
    alone = word in names and mutant["takes_value"]
    return argv[:place] + argv[place + (2 if alone else 1) :]


def changed_help(mutant: dict[str, Any], argv: list[str], result: Result) -> Result:
    """Return the help without what the mutant removes, and with the new names of what it renames."""
    code, out, err = result
    kind, name = mutant["kind"], mutant["name"]
    if kind in ("value_refused", "default_changed") and mutant["command"] in ("", " ".join(argv[:-1])):
        return code, with_entry(mutant, out), with_entry(mutant, err)
    if kind == "alias_removed":
        again, after_it = rf"{re.escape(name)}(?:[ =][A-Z<\[]\S*?)?", r"(?:, | \| |/)"
        alias = re.compile(rf"(?<![\w-]){again}{after_it}|{after_it}{again}(?![\w-])")
        return code, alias.sub("", out), alias.sub("", err)
    if kind not in ("option_removed", "option_renamed", "help_dropped", "subcommand_removed", "subcommand_renamed"):
        return result
    if kind.endswith("renamed"):
        again = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        return code, re.sub(again, new_name(mutant), out), re.sub(again, new_name(mutant), err)
    return code, without_lines(name, out), without_lines(name, err)


def with_entry(mutant: dict[str, Any], text: str) -> str:
    """Return a help text in which the option's entry lacks the refused value, or has the new default."""
    start = re.search(rf"^\s+(?:-\w(?: \S+)?, )?{re.escape(mutant['name'])}(?![\w-])", text, re.MULTILINE)
    if start is None:
        return text
    end = re.compile(r"^\s+-|^\s*$", re.MULTILINE).search(text, start.end())
    entry = text[start.end() : end.start() if end else len(text)]
    value = re.escape(mutant["value"])
    if mutant["kind"] == "value_refused":
        changed = re.sub(rf"(?<=[{{\[<|,]){value}[,|]|[,|] ?{value}(?=[}}\]>|,])", "", entry, count=1)
    else:
        old = re.escape(mutant["default"])
        changed = re.sub(rf"(default\W+){old}(?![\w.-])", lambda found: found[1] + mutant["value"], entry, count=1)
    return text[: start.end()] + changed + text[start.end() + len(entry) :]


def without_lines(name: str, text: str) -> str:
    """Return a help text without the entry of an option or a subcommand, and without it in the usage."""
    kept: list[str] = []
    indent = -1
    for line in text.splitlines(keepends=True):
        here = len(line) - len(line.lstrip())
        if 0 <= indent < here and line.strip():
            continue  # the rest of the entry's description
        indent = -1
        if re.match(rf"\s+(?:-\w(?: \S+)?, )?{re.escape(name)}(?![\w-])", line):
            indent = here
            continue
        kept.append(
            re.sub(rf" ?\[{re.escape(name)}(?![\w-])[^\]]*\]|{re.escape(name)},|,{re.escape(name)}(?=\}})", "", line)
        )
    return "".join(kept)
