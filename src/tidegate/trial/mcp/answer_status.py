"""The status of a request to an MCP server: whether its answer is a result, an error, or one that clients refuse.

The recorder's and the mutants' proxies contain this file, so it imports nothing from Tidegate.
"""

import json
from typing import Any

CALL, READ, PROMPT, COMPLETE = "tools/call", "resources/read", "prompts/get", "completion/complete"
ANY_STRUCTURE_FROM = "2026-07-28"  # the version in which `structuredContent` may be any JSON; they sort as text
RESULT_TYPES = ("complete", "input_required", "task")  # from that version on
INVALID_STATUS = 3  # of a call whose answer has the first of these faults; the next one is 4, and so on
FAULTS = (
    "it has both `result` and `error`",
    "`isError` is neither true nor false",
    "`content` is not a list of content blocks",
    "`structuredContent` is not an object",
    "`contents` is not a list of resources",
    "`messages` is not a list of messages",
    "`completion` has no list `values`",
    "`jsonrpc` is not `2.0`",
    "it has half of a surrogate pair, which is not a character",
    "a field that may be left out is null, or a hint is neither true nor false",
    "it has a key twice in one object",
    "its `resultType` is not one of the protocol's",
)
NOT_JSON_RPC, NOT_TEXT, NOT_STRICT, DOUBLED, UNKNOWN_TYPE = range(INVALID_STATUS + 7, INVALID_STATUS + 12)
DOUBLED_KEY = "tidegate/doubled"  # of an answer in which an object has a key twice: parsers disagree on which counts
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
OPTIONAL = ("title", "description", "instructions", "nextCursor", "mimeType", "annotations", "_meta", "outputSchema")
CAPABILITIES = ("tools", "resources", "prompts", "logging", "completions")
ANY_JSON = ("structuredContent", "inputSchema", "outputSchema", "_meta")  # in these, a field may have these names
BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
BLOCKS = {  # the texts that a content block has, by its type
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}


def status_of(answer: dict[str, Any], method: str = CALL, version: str = "") -> int:
    """Return the status of a request with this answer: 0, 1 for an error, or one for a fault for which clients refuse
    it. A tool could otherwise report an error in a way that does not count as one.

    `version` is the session's protocol version, where it is known.
    """
    result = answer.get("result")
    if answer.get("jsonrpc") != "2.0":
        return NOT_JSON_RPC
    if not isinstance(result, dict):
        return 1
    if "error" in answer:
        return INVALID_STATUS
    if DOUBLED_KEY in answer:
        return DOUBLED
    if not _is_text(result):
        return NOT_TEXT
    if is_loose(result):
        return NOT_STRICT
    if version >= ANY_STRUCTURE_FROM and result.get("resultType", "complete") not in RESULT_TYPES:
        return UNKNOWN_TYPE
    if method != CALL:
        return _status_without_tool(result, method)
    content = result.get("content")
    faults = (
        False,
        not isinstance(result.get("isError", False), bool),
        not isinstance(content, list) or not all(map(is_block, content)),
        version < ANY_STRUCTURE_FROM and not isinstance(result.get("structuredContent", {}), dict),
    )
    return INVALID_STATUS + faults.index(True) if any(faults) else int(result.get("isError") is True)


def _status_without_tool(result: dict[str, Any], method: str) -> int:
    """Return the status of a result of another request than a tool's call."""
    key, fault = {READ: ("contents", 4), PROMPT: ("messages", 5), COMPLETE: ("values", 6)}[method]
    place = result.get("completion") if method == COMPLETE else result
    listed = place.get(key) if isinstance(place, dict) else None
    is_valid = isinstance(listed, list) and (method == COMPLETE or all(map(_is_entry, listed)))
    return 0 if is_valid else INVALID_STATUS + fault


def _is_entry(one: Any) -> bool:
    """Return True for an object, whose blob is base64 if it has one, and which then has no text."""
    return isinstance(one, dict) and is_base64(str(one.get("blob", ""))) and not {"blob", "text"} <= one.keys()


def is_loose(result: Any) -> bool:
    """Return True if a field that may be left out is null in it, or a hint no boolean. Some clients refuse that."""
    todo = [result]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo += one
        elif isinstance(one, dict):
            if any(key in one and one[key] is None for key in (*OPTIONAL, *CAPABILITIES)):
                return True
            if any(not isinstance(one.get(key, True), bool) for key in HINTS):
                return True
            todo += [value for key, value in one.items() if key not in ANY_JSON]
    return False


def is_base64(text: str) -> bool:
    """Return True for base64, with or without blanks and its padding."""
    plain = "".join(text.split()).rstrip("=")
    return len(plain) % 4 != 1 and BASE64.issuperset(plain)


def _is_text(result: dict[str, Any]) -> bool:
    """Return True if all texts in it consist of characters, as they do not if a server has cut one in two."""
    try:
        json.dumps(result, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def is_block(part: Any) -> bool:
    """Return True for a content block of an answer, with the texts that the protocol asks for."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in BLOCKS:
        return False
    if kind == "resource":
        inner = part.get("resource")
        return isinstance(inner, dict) and is_contents(inner)
    return _has_texts(part, BLOCKS[kind]) and is_base64(part.get("data", ""))


def is_contents(part: dict[str, Any]) -> bool:
    """Return True for what a resource contains: a text, or a blob in base64, not both."""
    if {"blob", "text"} <= part.keys():
        return False
    return _has_texts(part, ("uri", "text")) or (_has_texts(part, ("uri", "blob")) and is_base64(part["blob"]))


def _has_texts(part: dict[str, Any], names: tuple[str, ...]) -> bool:
    return all(isinstance(part.get(name), str) for name in names)


def fault_of(status: int | None) -> str:
    """Return why clients refuse the answer to a call with this status; "" if they do not."""
    place = (status or 0) - INVALID_STATUS
    return f"the server's answer is not a valid result: {FAULTS[place]}" if 0 <= place < len(FAULTS) else ""
