"""The gate `command_output_words`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import NonEmpty
from tidegate.model.event import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt

MOST_NAMED = 8  # missing words in a message
# Another name of an entry, maybe with its value, and what separates it from the next: `-d DATE, `, `add|`.
_OTHER_NAME = r"[\w-]+(?:[ =][A-Z<\[][^\s,|/]*)?(?:, ?| ?\| ?| / )"


class CommandOutputWords(CommandGate):
    """Passes when `command` exits with status 0 and its standard output contains each of `words`, in any order.

    Words match as a whole: `--prio` is not in `--priority`, and `list` is not in `list-all`. With `listed`, each word
    begins a line, after spaces and other names of the same entry: `--due` in `  -d, --due DATE`, not in a sentence.
    """

    type: Literal["command_output_words"] = "command_output_words"
    words: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
    listed: bool = False

    @property
    def subject(self) -> str:
        """The command and the words."""
        return excerpt(f"{self.command} must {'list' if self.listed else 'print'} {', '.join(self.words)}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Search for each word. Cut output can prove that a word is there, but not that it is missing."""
        has = lists if self.listed else _has
        missing = [word for word in self.words if not has(result.stdout, word)]
        if not missing:
            verb = "lists" if self.listed else "has"
            return Decision(passed=True, message=f"the output {verb} {_counted(len(self.words))}")
        named = ", ".join(f"`{excerpt(word)}`" for word in missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        cut = " (the output was cut: print less)" if result.truncated else ""
        lacks = "does not list" if self.listed else "lacks"
        message = f"the output {lacks} {named}{more}{cut}"
        return Decision(passed=False, message=message, missing=tuple(missing))


def _counted(words: int) -> str:
    return "the word" if words == 1 else f"all {words} words"


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def lists(text: str, word: str) -> bool:
    """Return True if the word begins a line, after spaces and other names of the same entry."""
    return re.search(rf"^[ \t]*(?:{_OTHER_NAME})*{re.escape(word)}(?![\w-])", text, re.MULTILINE) is not None
