"""Gates that look at a file, or for a text, words or a pattern in a file or in the output of a command."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import Field

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import NonEmpty, Regex, WorkspacePath
from tidegate.model.event import CommandResult
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import FileAnswer, ReadFile
from tidegate.text.patterns import PatternTooSlowError, search
from tidegate.text.shorten import excerpt

_NO_TEXT = {
    "present": "could not be read",
    "missing": "does not exist",
    "escapes": "leads out of the workspace through a link",
    "not_a_file": "is not a file",
    "too_large": "is too large to be read",
    "unreadable": "could not be read",
}


class FileGate(Gate):
    """A gate that checks one file of the workspace."""

    says = "{path}"
    path: WorkspacePath

    def request(self) -> ReadFile:
        """Read the file."""
        return ReadFile(path=self.path)

    def decide(self, seen: GateInput) -> GateDecision:
        """Fail if the file has no readable text, else decide on the text."""
        if not isinstance(seen.answer, FileAnswer):
            return GateDecision(passed=False, message="the file was not looked for")
        if seen.answer.text is None:
            return self.decide_without_text(seen.answer)
        return self.decide_text(seen.answer.text, f"`{self.path}`")

    def decide_without_text(self, answer: FileAnswer) -> GateDecision:
        """Fail with the reason why there is not text."""
        return GateDecision(passed=False, message=f"`{self.path}` {_NO_TEXT[answer.state]}")

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Decide on the file's text; messages call it `what`."""
        raise NotImplementedError


class FileExists(FileGate):
    """Passes when a file exists at `path` in the workspace. A folder does not count."""

    type: Literal["file_exists"] = "file_exists"

    def decide_without_text(self, answer: FileAnswer) -> GateDecision:
        """Pass if the file exists, even though it is too large or not text."""
        if answer.state in ("present", "too_large"):
            return self.decide_text("", f"`{self.path}`")
        return super().decide_without_text(answer)

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Pass for any content."""
        return GateDecision(passed=True, message=f"{what} exists")


class _Contains(Gate):
    substring: NonEmpty

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Search for the substring."""
        return contains(what, text, self.substring)


class _Matches(Gate):
    pattern: Regex

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Search for a match."""
        return matches(what, text, self.pattern)


class FileContains(_Contains, FileGate):
    """Passes when the file at `path` contains `substring`."""

    says = '{path} must contain "{substring}"'
    type: Literal["file_contains"] = "file_contains"


class FileMatches(_Matches, FileGate):
    """Passes when the file at `path` matches the regular expression `pattern`.

    The syntax is that of Python's `re`. The pattern may match anywhere in the file, as in `re.search`.
    """

    says = "{path} must match {pattern}"
    type: Literal["file_matches"] = "file_matches"


class CommandOutputContains(_Contains, CommandGate):
    """Passes when `command` exits with `status` and its standard output contains `substring`."""

    says = '{command} must print "{substring}"'
    type: Literal["command_output_contains"] = "command_output_contains"


class CommandOutputMatches(_Matches, CommandGate):
    """Passes when `command` exits with `status` and its standard output matches the regular expression `pattern`.

    The syntax is that of Python's `re`. The pattern may match anywhere in the output, as in `re.search`.
    """

    says = "{command} must print a match of {pattern}"
    type: Literal["command_output_matches"] = "command_output_matches"


def contains(what: str, text: str, substring: str) -> GateDecision:
    """Pass if the text contains the substring. The message of a failure shows an excerpt of the text."""
    if substring in text:
        return GateDecision(passed=True, message=f"{what} contains `{excerpt(substring)}`")
    return GateDecision(passed=False, message=f"{what} does not contain `{excerpt(substring)}`: {_shown(text)}")


def matches(what: str, text: str, pattern: str) -> GateDecision:
    """Pass if the regular expression matches. The message shows the match, or an excerpt of the text."""
    try:
        found = search(pattern, text)
    except PatternTooSlowError as error:
        return GateDecision(passed=False, message=f"`{excerpt(pattern)}` is not decided for {what}: {error}")
    if found:
        part = f": {_shown(found[0])}" if found[0] else ""  # a match of lookaheads alone has no text
        return GateDecision(passed=True, message=f"{what} matches `{excerpt(pattern)}`{part}")
    return GateDecision(passed=False, message=f"{what} does not match `{excerpt(pattern)}`: {_shown(text)}")


def _shown(text: str) -> str:
    return f"`{shown}`" if (shown := excerpt(text)) else "it is empty"


MOST_NAMED = 8  # missing words in a message
# Another name of an entry, maybe with its value, and what separates it from the next: `-d DATE, `, `add|`, `-d `.
_OTHER_NAME = r"[\w-]+(?:[ =][A-Z<\[][^\s,|/]*)?(?:, ?| ?\| ?| / |[ \t]+(?=-))"


class CommandOutputWords(CommandGate):
    """Passes when `command` exits with `status` and its standard output contains each of `words`, in any order.

    Words match as a whole: `--prio` is not in `--priority`, and `list` is not in `list-all`; but `15` is in `0,15`.
    With `listed`, each word begins a line, after spaces and other names of the same entry: `--due` in
    `  -d, --due DATE`, not in a sentence.
    """

    type: Literal["command_output_words"] = "command_output_words"
    words: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
    listed: bool = False

    @property
    def subject(self) -> str:
        """The command and the words."""
        return excerpt(f"{self.command} must {'list' if self.listed else 'print'} {', '.join(self.words)}")

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Search for each word."""
        has = lists if self.listed else _has
        missing = [word for word in self.words if not has(result.stdout, word)]
        if not missing:
            verb = "lists" if self.listed else "has"
            return GateDecision(passed=True, message=f"the output {verb} {_counted(len(self.words))}")
        named = ", ".join(f"`{excerpt(word)}`" for word in missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        lacks = "does not list" if self.listed else "lacks"
        message = f"the output {lacks} {named}{more}"
        return GateDecision(passed=False, message=message, missing=tuple(missing))


_UNSEEN = ("Cc", "Cf", "Mn", "Me")  # categories of characters; white space is none of them
# Of a word: also `--prio.level` and `--prio[rity]` are other words, and so is one with an invisible character. `15` is
# not in `15,000`, `0.15` and `1/15`, nor `150` in `2,150`; thousands may be separated by other marks.
_GROUP = "[,'\u2019\u00a0\u2009\u202f]"
_START = rf"(?<![\w-])(?<!\w\.)(?<!\d/)(?!(?<=\d{_GROUP})\d{{3}}(?!\d))"
_END = rf"(?![\w-]|[.:/]\w|\[\w|(?<=\d){_GROUP}\d{{3}}(?!\d))"
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2013\u2212\ufe63\uff0d"), "-")
_COLOUR = re.compile(r"\x1b\[[\d;:]*m")
_RARE = re.compile(r"[^\s!-~]|[\x1c-\x1f\x85]")


def _counted(words: int) -> str:
    return "the word" if words == 1 else f"all {words} words"


def _seen(text: str) -> str:
    """Return the text without colours, with a letter for each invisible character, and with plain hyphens."""
    text = _COLOUR.sub("", text).translate(_HYPHENS)
    return _RARE.sub(lambda one: "_" if unicodedata.category(one[0]) in _UNSEEN else one[0], text)


def _has(text: str, word: str) -> bool:
    return re.search(rf"{_START}{re.escape(_seen(word))}{_END}", _seen(text)) is not None


def lists(text: str, word: str) -> bool:
    """Return True if the word begins a line, after spaces and other names of the same entry and kind."""
    others = f"(?:{'(?=-)' if word.startswith('-') else '(?!-)'}{_OTHER_NAME})*"
    return re.search(rf"^[ \t]*{others}{re.escape(_seen(word))}{_END}", _seen(text), re.MULTILINE) is not None
