"""The messages of a case as one prompt, as AgentV 1.5 writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Told(NamedTuple):
    """A part of a message: its text, the text that only names a file, and whether it says something by itself."""

    text: str
    name: str
    says: bool = True

    @classmethod
    def attached(cls, file: str) -> Told:
        """Return the note that a guideline file belongs to the message; its content is told apart."""
        return cls(f"<Attached: {file}>", f"<Attached: {file}>", says=False)


Turn = tuple[str, list[Told]]
"""A message: its role, and its parts."""


def conversation(turns: Sequence[Turn], *, named: bool = False) -> str:
    """Return the messages as one text. With `named`, files are named and not quoted.

    If several messages say something, or one is not from the user's side, each begins with its role: `@[System]:`.
    """
    spoken = [(role, parts) for role, parts in turns if any(part.says and part.text.strip() for part in parts)]
    texts = [(role, [part.name if named else part.text for part in parts]) for role, parts in spoken]
    if len(spoken) > 1 or any(role in ("assistant", "tool") for role, _ in turns):
        return "\n\n".join(f"@[{role.capitalize()}]:\n" + "\n".join(parts) for role, parts in texts).strip()
    single = [part.name if named else part.text for _, parts in turns for part in parts]
    return "\n\n".join(filter(None, map(str.strip, single)))


def tagged(path: str, content: str) -> str:
    """Return the content of a file between tags with its path."""
    return f'<file path="{path}">\n{content.strip()}\n</file>'
