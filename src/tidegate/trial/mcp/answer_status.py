"""The status of a tool call: whether the server's answer is a result, an error, or one that clients refuse.

The recorder's and the mutants' proxies contain this file, so it imports nothing from Tidegate.
"""

from typing import Any

INVALID_STATUS = 3  # of a call whose answer has the first of these faults; the next one is 4, and so on
FAULTS = (
    "it has both `result` and `error`",
    "`isError` is neither true nor false",
    "`content` is not a list of content blocks",
    "`structuredContent` is not an object",
)


def status_of(answer: dict[str, Any]) -> int:
    """Return the status of a call with this answer: 0, 1 for an error, or one for a fault for which clients refuse it.

    A tool could otherwise report an error in a way that does not count as one.
    """
    result = answer.get("result")
    if not isinstance(result, dict):
        return 1
    content = result.get("content")
    faults = (
        answer.get("error") is not None,
        not isinstance(result.get("isError", False), bool),
        not isinstance(content, list) or not all(map(is_block, content)),
        not isinstance(result.get("structuredContent", {}), dict),
    )
    return INVALID_STATUS + faults.index(True) if any(faults) else int(result.get("isError") is True)


def is_block(part: Any) -> bool:
    """Return True for a content block of an answer: an object with a type, and a text if it is of that type."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    return part["type"] != "text" or isinstance(part.get("text"), str)


def fault_of(status: int | None) -> str:
    """Return why clients refuse the answer to a call with this status; "" if they do not."""
    place = (status or 0) - INVALID_STATUS
    return f"the server's answer is not a valid tool result: {FAULTS[place]}" if 0 <= place < len(FAULTS) else ""
