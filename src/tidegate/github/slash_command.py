"""Commands that people write in a comment on a pull request, and the record that one of them was obeyed."""

from __future__ import annotations

import re
from typing import Literal

from tidegate.github.port import Comment
from tidegate.model.value import Value

USAGE = "`/tidegate rerun`, `/tidegate accept [scenario]`, `/tidegate explain scenario`"
_COMMAND = re.compile(r"/tidegate(?:[ \t]+(?P<verb>\S+))?(?:[ \t]+(?P<scenario>\S.*))?", re.ASCII)
_RECORD = re.compile(r"<!-- tidegate-accepted comment=(\d{1,19}) head=([0-9a-f]{40,64}) -->", re.ASCII)


class SlashCommand(Value):
    """What the first line of a comment asks for. `help`: it begins with `/tidegate` and cannot be understood."""

    verb: Literal["rerun", "accept", "explain", "help"]
    scenario: str = ""


def accepted_record(comment: int, head: str) -> str:
    """Return the first line of our answer to an accepting comment: the comment's id and the commit."""
    return f"<!-- tidegate-accepted comment={comment} head={head} -->"


def parse_command(body: str) -> SlashCommand | None:
    """Return the command in the comment's first line, or None if the comment does not begin with `/tidegate`."""
    found = _COMMAND.fullmatch(body.partition("\n")[0].rstrip())
    if found is None:
        return None
    scenario = (found["scenario"] or "").strip("`").strip()
    match found["verb"]:
        case "rerun":
            return SlashCommand(verb="rerun", scenario=scenario)
        case "accept":
            return SlashCommand(verb="accept", scenario=scenario)
        case "explain" if scenario:
            return SlashCommand(verb="explain", scenario=scenario)
        case _:
            return SlashCommand(verb="help")


def accepting_comment(comments: list[Comment], viewer: str, head: str) -> Comment | None:
    """Return the newest comment that our record says accepted this commit, or None.

    The record counts only in a comment of our own, and only while the accepting comment still stands.
    """
    by_id = {comment.id: comment for comment in comments}
    for comment in reversed(comments):
        found = _RECORD.fullmatch(comment.body.partition("\n")[0].rstrip())
        if found and found[2] == head and comment.author.casefold() == viewer.casefold():
            return by_id.get(int(found[1]))
    return None
