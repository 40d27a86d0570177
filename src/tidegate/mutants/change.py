"""What a mutant of a command-line tool changes in one call. The wrapper contains this file, so it imports no Tidegate.

A mutant is a dict: `kind`, `command`, `name`, `aliases`, `takes_value`, `commands` (all subcommands, longest first).
A call's result is a tuple: exit code, stdout, stderr.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Result: TypeAlias = tuple[int, str, str]
USAGE_ERROR = 2
HELP = ("--help", "-h", "help")
WRONG_ERROR = "Error: something went wrong\n"


def before(mutant: dict[str, Any], argv: list[str]) -> tuple[list[str], Result | None]:
    """Return the arguments that the tool gets, or instead the result that the caller gets."""
    if not meets(mutant, argv) or is_help(argv):
        return argv, None
    kind, name = mutant["kind"], mutant["name"]
    if kind in ("subcommand_removed", "subcommand_renamed"):
        renamed = place_of(argv, new_name(mutant))
        if renamed is not None and kind == "subcommand_renamed":
            return [*argv[:renamed], *name.split(), *argv[renamed + len(name.split()) :]], None
        return argv, (USAGE_ERROR, "", f"error: unknown command '{name}'\n")
    if kind == "option_renamed" and new_name(mutant) in [word.partition("=")[0] for word in argv]:
        return [
            name + word[len(new_name(mutant)) :] if word.startswith(new_name(mutant)) else word for word in argv
        ], None
    if kind in ("option_removed", "option_renamed"):
        return argv, (USAGE_ERROR, "", f"error: unrecognized arguments: {named(mutant, argv)}\n")
    if kind == "option_ignored":
        return without(mutant, argv), None
    if kind == "value_refused":
        return argv, (USAGE_ERROR, "", f"error: invalid value for {named(mutant, argv)}: '{mutant['value']}'\n")
    if kind == "default_changed":
        return with_default(mutant, argv), None
    if kind == "prompts":
        return argv, (1, "Are you sure? [y/N] ", "Aborted.\n")
    return argv, None


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
    if kind in ("option_removed", "option_ignored", "option_renamed"):
        return place_of_option(mutant, argv) is not None or any(word.startswith(new_name(mutant)) for word in argv)
    if kind == "value_refused":
        return value_of(mutant, argv) == str(mutant["value"])
    if kind == "default_changed":
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


def fails(_: dict[str, Any], result: Result) -> Result:
    """Return the result with exit code 1 if it was 0."""
    return (1, *result[1:]) if result[0] == 0 else result


def succeeds(_: dict[str, Any], result: Result) -> Result:
    """Return the result with exit code 0."""
    return 0, *result[1:]


def error_emptied(_: dict[str, Any], result: Result) -> Result:
    """Return a failure without its message."""
    return (result[0], "" if not result[2] else result[1], "") if result[0] else result


def error_wrong(_: dict[str, Any], result: Result) -> Result:
    """Return a failure with a message that says nothing."""
    return (result[0], result[1] if result[2] else "", WRONG_ERROR) if result[0] else result


def line_dropped(_: dict[str, Any], result: Result) -> Result:
    """Return the result without the last line of output, if there are more."""
    lines = result[1].splitlines(keepends=True)
    return (result[0], "".join(lines[:-1]), result[2]) if len(lines) > 1 else result


def truncated(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the first half of the output."""
    return result[0], result[1][: len(result[1]) // 2], result[2]


def json_changed(mutant: dict[str, Any], result: Result) -> Result:
    """Return the result with one key of its JSON renamed, dropped, or with values of another type."""
    kind, key = mutant["kind"], mutant["name"]
    if kind == "json_key_renamed":
        written = re.escape(json.dumps(key)) + r"(?=\s*:)"
        return result[0], re.sub(written, lambda _: json.dumps(f"{key}_"), result[1]), result[2]
    for indent in (None, 2, 4, "\t", 1, 3):
        for separators in ((", ", ": "), (",", ":"), (",", ": ")):
            for ascii_only in (True, False):
                text = rewritten(
                    result[1], kind, key, {"indent": indent, "separators": separators, "ensure_ascii": ascii_only}
                )
                if text is not None:
                    return result[0], text, result[2]
    return result


def rewritten(text: str, kind: str, key: str, style: dict[str, Any]) -> str | None:
    """Return the JSON with the change, in its own style; None if that is another one."""
    for lines in ([text.strip()], text.strip().splitlines()):
        try:
            values = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            continue
        if [json.dumps(value, **style) for value in values] == lines:
            return text.replace(
                "\n".join(lines), "\n".join(json.dumps(edited(one, kind, key), **style) for one in values)
            )
    return None


def edited(value: Any, kind: str, key: str) -> Any:
    """Return a JSON value in which the key is dropped, or its values have another type."""
    if isinstance(value, list):
        return [edited(one, kind, key) for one in value]
    if not isinstance(value, dict):
        return value
    dropped = kind == "json_key_dropped"
    return {
        name: retyped(one) if name == key else edited(one, kind, key)
        for name, one in value.items()
        if not (dropped and name == key)
    }


def retyped(value: Any) -> Any:
    """Return the value as text if it is a number or a flag, as an object if it is a list, else in a list."""
    if isinstance(value, bool | int | float):
        return str(value)
    return {"items": value} if isinstance(value, list) else [value]


CHANGES: "dict[str, Callable[[dict[str, Any], Result], Result]]" = {
    "exit_fails": fails,
    "exit_succeeds": succeeds,
    "error_emptied": error_emptied,
    "error_wrong": error_wrong,
    "json_key_renamed": json_changed,
    "json_key_dropped": json_changed,
    "json_key_retyped": json_changed,
    "line_dropped": line_dropped,
    "output_truncated": truncated,
    "output_emptied": lambda _, result: (result[0], "", result[2]),
    "streams_swapped": lambda _, result: (result[0], result[2], result[1]),
}
