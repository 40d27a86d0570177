"""What a mutant of a command-line tool changes in what a call prints. The wrapper contains this file.

A call's result is a tuple: exit code, stdout, stderr.
"""

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
