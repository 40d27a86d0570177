"""What a mutant of a command-line tool changes in what a call prints. The wrapper contains this file.

A call's result is a tuple: exit code, stdout, stderr.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Result: TypeAlias = tuple[int, str, str]
WRONG_ERROR = "Error: something went wrong\n"
WARNING = "warning: this command is deprecated\n"
NEW_WORD = "Now"
COLOUR = r"\x1b\[[0-9;]*[A-Za-z]"
WIDTH = 20  # characters of a line that is cut


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


def first_line_dropped(_: dict[str, Any], result: Result) -> Result:
    """Return the result without the first line of output, if there are more."""
    lines = result[1].splitlines(keepends=True)
    return (result[0], "".join(lines[1:]), result[2]) if len(lines) > 1 else result


def lines_reversed(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the lines of output in reverse order."""
    return result[0], "".join(f"{line}\n" for line in reversed(result[1].splitlines())), result[2]


def lines_cut(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the first characters of each line of output, as for a narrow terminal."""
    return result[0], re.sub(rf"(?m)^(.{{{WIDTH}}}).+$", "\\1…", result[1]), result[2]


def coloured(_: dict[str, Any], result: Result) -> Result:
    """Return the result with codes for colour around each line of output."""
    return result[0], re.sub(r"(?m)^(.+)$", "\x1b[32m\\1\x1b[0m", result[1]), result[2]


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


def warned_on_stderr(_: dict[str, Any], result: Result) -> Result:
    """Return the result with a warning before what is on stderr."""
    return result[0], result[1], WARNING + result[2]


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


def fields_swapped(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the first and the last word of its middle line with several exchanged."""
    lines = result[1].splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if len(set(line.split())) > 1]
    if places:
        place = places[len(places) // 2]
        lines[place] = re.sub(r"^(\s*)(\S+)(.*?)(\S+)(\s*)$", r"\1\4\3\2\5", lines[place], flags=re.DOTALL)
    return result[0], "".join(lines), result[2]


def rounded(_: dict[str, Any], result: Result) -> Result:
    """Return the result with its decimal numbers as whole ones."""
    pattern = r"(?<![\w.])(\d+)\.\d+(?![\w.])"
    return result[0], re.sub(pattern, lambda found: str(round(float(found[0]))), result[1]), result[2]


def lines_swapped(_: dict[str, Any], result: Result) -> Result:
    """Return the result with two lines in the middle of its output exchanged."""
    lines = result[1].splitlines(keepends=True)
    if len(lines) < 2:
        return result
    middle = len(lines) // 2
    lines[middle - 1], lines[middle] = lines[middle].rstrip("\n") + "\n", lines[middle - 1]
    return result[0], "".join(lines), result[2]


def input_crashes(_: dict[str, Any], result: Result) -> Result:
    """Return a crash in place of the result."""
    return 1, "", "Traceback (most recent call last):\nKeyError: 'value'\n"


def exit_changed(_: dict[str, Any], result: Result) -> Result:
    """Return a failure with another exit code."""
    return (result[0] % 120 + 1, *result[1:]) if result[0] else result


def wrapped(_: dict[str, Any], result: Result) -> Result:
    """Return the result with its JSON as the only key of an object."""
    return result[0], f'{{"data": {result[1].strip()}}}\n' if result[1] else "", result[2]


def reshaped(mutant: dict[str, Any], result: Result) -> Result:
    """Return the result with its JSON in other lines, or with shorter or reversed lists."""
    try:
        value = json.loads(result[1])
    except (ValueError, RecursionError):
        return result
    lines = "\n" in result[1].strip()
    if mutant["kind"] == "json_reformatted":
        return result[0], json.dumps(value, indent=None if lines else 2) + "\n", result[2]
    changed = lists(value, slice(1) if mutant["kind"] == "json_list_cut" else slice(None, None, -1))
    return (
        (result[0], json.dumps(changed, indent=2 if lines else None) + "\n", result[2]) if changed != value else result
    )


def lists(value: Any, part: slice) -> Any:
    """Return a JSON value of whose lists only a part is left."""
    if isinstance(value, list):
        return [lists(one, part) for one in value[part]]
    return {name: lists(one, part) for name, one in value.items()} if isinstance(value, dict) else value


def truncated(_: dict[str, Any], result: Result) -> Result:
    """Return the result with the first half of the output."""
    return result[0], result[1][: len(result[1]) // 2], result[2]


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
    """Return a JSON value in which the key is dropped, or its values are null, wrong, or of another type."""
    if isinstance(value, list):
        return [edited(one, kind, key) for one in value]
    if not isinstance(value, dict):
        return value
    dropped = kind == "json_key_dropped"
    return {
        name: CHANGED_VALUES.get(kind, retyped)(one) if name == key else edited(one, kind, key)
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


CHANGED_VALUES: "dict[str, Callable[[Any], Any]]" = {"json_value_wrong": wrong, "json_value_null": lambda _: None}
CHANGES: "dict[str, Callable[[dict[str, Any], Result], Result]]" = {
    "exit_fails": fails,
    "exit_succeeds": succeeds,
    "error_emptied": error_emptied,
    "error_wrong": error_wrong,
    "json_key_renamed": json_changed,
    "json_key_dropped": json_changed,
    "json_key_retyped": json_changed,
    "json_value_wrong": json_changed,
    "json_value_null": json_changed,
    "json_wrapped": wrapped,
    "json_reformatted": reshaped,
    "json_list_cut": reshaped,
    "json_list_reversed": reshaped,
    "exit_changed": exit_changed,
    "line_dropped": line_dropped,
    "first_line_dropped": first_line_dropped,
    "lines_reversed": lines_reversed,
    "lines_cut": lines_cut,
    "number_changed": number_changed,
    "coloured": coloured,
    "warning_printed": warned,
    "warning_on_stderr": warned_on_stderr,
    "word_replaced": word_replaced,
    "lines_prefixed": lambda _, result: (result[0], re.sub(r"(?m)^(?=.)", "INFO: ", result[1]), result[2]),
    "line_ends_changed": lambda _, result: (result[0], re.sub(r"(?<!\r)\n", "\r\n", result[1]), result[2]),
    "letters_lowered": lambda _, result: (result[0], result[1].lower(), result[2]),
    "spaces_doubled": lambda _, result: (result[0], re.sub(r"(?<=\S) (?=\S)", "  ", result[1]), result[2]),
    "output_repeated": lambda _, result: (result[0], result[1] * 2, result[2]),
    "output_truncated": truncated,
    "output_emptied": lambda _, result: (result[0], "", result[2]),
    "middle_changed": middle_changed,
    "fields_swapped": fields_swapped,
    "rounded": rounded,
    "lines_swapped": lines_swapped,
    "input_fails": fails,
    "input_crashes": input_crashes,
    "streams_swapped": lambda _, result: (result[0], result[2], result[1]),
}
