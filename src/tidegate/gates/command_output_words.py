"""The gate `command_output_words`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from tidegate.gates.command_gate import CommandGate
from tidegate.gates.fields import NonEmpty
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt

MOST_NAMED = 8  # missing words in a message


class CommandOutputWords(CommandGate):
    """Passes when `command` exits with status 0 and its standard output contains each of `words`, in any order.

    Words match as a whole: `--prio` is not in `--priority`, and `list` is not in `list-all`.
    """

    type: Literal["command_output_words"] = "command_output_words"
    words: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]

    @property
    def subject(self) -> str:
        """The command and the words."""
        return excerpt(f"{self.command} must print {', '.join(self.words)}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Search for each word. Cut output can prove that a word is there, but not that it is missing."""
        missing = [word for word in self.words if not _has(result.stdout, word)]
        if not missing:
            return Decision(passed=True, message=f"the output has {_counted(len(self.words))}")
        named = ", ".join(f"`{excerpt(word)}`" for word in missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        cut = " (the output was cut: print less)" if result.truncated else ""
        return Decision(passed=False, message=f"the output lacks {named}{more}{cut}")


def _counted(words: int) -> str:
    return "the word" if words == 1 else f"all {words} words"


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
