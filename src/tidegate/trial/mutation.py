"""What a mutant of a command-line tool changes in one call. The wrapper contains this file.

A mutant is a dict: `kind`, `command`, `name`, `aliases`, `takes_value`, `commands` (all subcommands, longest first).
A call's result is a tuple: exit code, stdout, stderr.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Result: TypeAlias = tuple[int, str, str]
WARNING = "warning: this command is deprecated\n"
NEW_WORD = "Now"
COLOUR = r"\x1b\[[0-9;]*[A-Za-z]"


def fails(_: dict[str, Any], result: Result) -> Result:
    """Return the result with exit code 1 if it was 0."""
    return (1, *result[1:]) if result[0] == 0 else result


def succeeds(_: dict[str, Any], result: Result) -> Result:
    """Return the result with exit code 0."""
    return 0, *result[1:]


def error_emptied(_: dict[str, Any], result: Result) -> Result:
    """Return a failure without its message."""
    return (result[0], "" if not result[2] else result[1], "") if result[0] else result


def line_dropped(_: dict[str, Any], result: Result) -> Result:
    """Return the result without the last line of output, if there are more."""
    lines = result[1].splitlines(keepends=True)
    return (result[0], "".join(lines[:-1]), result[2]) if len(lines) > 1 else result


def lines_reversed(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the lines of output in reverse order."""
    return result[0], "".join(f"{line}\n" for line in reversed(result[1].splitlines())), result[2]


def number_changed(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the first number of the output plus one."""
    text = result[1]
    for found in re.finditer(rf"{COLOUR}(\d+)(?![\w.-])|{COLOUR}|(?<![\w.-])(\d+)(?![\w.-])", text):
        if number := found[1] or found[2]:
            start = found.end() - len(number)
            return result[0], f"{text[:start]}{int(number) + 1}{text[found.end() :]}", result[2]
    return result


def warned(_: dict[str, Any], result: Result) -> Result:
    """Return the result with a warning before its output."""
    return result[0], WARNING + result[1] if result[1] else "", result[2]


def word_replaced(_: dict[str, Any], result: Result) -> Result:
    """Return the result with another first word, if it is on the first line and no JSON key."""
    first, end, rest = result[1].partition("\n")
    return result[0], re.sub(r"(?<![\"\w-])[A-Za-z]{3,}(?![\"\w-])", NEW_WORD, first, count=1) + end + rest, result[2]


def middle_changed(_: dict[str, Any], result: Result) -> Result:
    """Return the result with another number in the middle of its output, or another word if it has no number."""
    found = list(re.finditer(r"(?<![\w.])\d+(?!\w)", result[1])) or list(re.finditer(r"[A-Za-z]{3,}", result[1]))
    if not found:
        return result
    one = found[len(found) // 2]
    new = str(int(one[0]) + 1) if one[0].isdigit() else NEW_WORD
    return result[0], result[1][: one.start()] + new + result[1][one.end() :], result[2]


def input_crashes(_: dict[str, Any], result: Result) -> Result:
    """Return a crash in place of the result."""
    return 1, "", "Traceback (most recent call last):\nKeyError: 'value'\n"


def wrapped(_: dict[str, Any], result: Result) -> Result:
    """Return the result with its JSON as the only key of an object."""
    return result[0], f'{{"data": {result[1].strip()}}}\n' if result[1] else "", result[2]


def lists_cut(_: dict[str, Any], result: Result) -> Result:
    """Return the result with only the first entry of the lists in its JSON."""
    try:
        value = json.loads(result[1])
    except (ValueError, RecursionError):
        return result
    changed = first_of_lists(value)
    indent = 2 if "\n" in result[1].strip() else None
    return result if changed == value else (result[0], json.dumps(changed, indent=indent) + "\n", result[2])


def first_of_lists(value: Any) -> Any:
    """Return a JSON value of whose lists only the first entry is left."""
    if isinstance(value, list):
        return [first_of_lists(one) for one in value[:1]]
    return {name: first_of_lists(one) for name, one in value.items()} if isinstance(value, dict) else value


def json_changed(mutant: dict[str, Any], result: Result) -> Result:
    """Return the result with one key of its JSON renamed, dropped, or with other values."""
    kind, key = mutant["kind"], mutant["name"]
    if kind == "json_key_renamed":
        written = re.escape(json.dumps(key)) + r"(?=\s*:)"
        return result[0], re.sub(written, lambda _: json.dumps(f"{key}_"), result[1]), result[2]
    for lines in ([result[1].strip()], result[1].strip().splitlines()):
        try:
            values = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            continue
        changed = [edited(value, kind, key) for value in values]
        if changed == values:  # also of an empty output
            return result
        indent = 2 if "\n" in lines[0] else None
        text = "".join(json.dumps(value, indent=indent, ensure_ascii=False) + "\n" for value in changed)
        return result[0], text, result[2]
    return result


def edited(value: Any, kind: str, key: str) -> Any:
    """Return a JSON value in which the key is dropped, or its values are wrong, or of another type."""
    if isinstance(value, list):
        return [edited(one, kind, key) for one in value]
    if not isinstance(value, dict):
        return value
    dropped = kind == "json_key_dropped"
    return {
        name: (wrong if kind == "json_value_wrong" else retyped)(one) if name == key else edited(one, kind, key)
        for name, one in value.items()
        if not (dropped and name == key)
    }


def retyped(value: Any) -> Any:
    """Return the value as text if it is a number or a flag, as an object if it is a list, else in a list."""
    if isinstance(value, bool | int | float):
        return str(value)
    return {"items": value} if isinstance(value, list) else [value]


def wrong(value: Any) -> Any:
    """Return another value of the same type; of a list or an object an empty one, or the reverse."""
    if isinstance(value, bool | int | float):
        return not value if isinstance(value, bool) else value + 1
    if isinstance(value, list | dict):
        return type(value)() if value else retyped(value)
    return "wrong" if value is None else f"{value}?"


CHANGES: dict[str, Callable[[dict[str, Any], Result], Result]] = {
    "exit_fails": fails,
    "exit_succeeds": succeeds,
    "error_emptied": error_emptied,
    "json_key_renamed": json_changed,
    "json_key_dropped": json_changed,
    "json_key_retyped": json_changed,
    "json_value_wrong": json_changed,
    "json_wrapped": wrapped,
    "json_list_cut": lists_cut,
    "line_dropped": line_dropped,
    "lines_reversed": lines_reversed,
    "number_changed": number_changed,
    "warning_printed": warned,
    "word_replaced": word_replaced,
    "output_emptied": lambda _, result: (result[0], "", result[2]),
    "middle_changed": middle_changed,
    "input_fails": fails,
    "input_crashes": input_crashes,
}


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
    if kind not in ("option_removed", "option_renamed", "help_dropped", "subcommand_removed", "subcommand_renamed"):
        return result
    if kind.endswith("renamed"):
        again = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        return code, re.sub(again, new_name(mutant), out), re.sub(again, new_name(mutant), err)
    return code, without_lines(name, out), without_lines(name, err)


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
