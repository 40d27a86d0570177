"""A small MCP server on stdio, a program of its own: `python3 mcp_server.py [QUIRK…]`; its tool `add` keeps titles.

Called with some titles `add` does what no tool should; quirks are of the whole server. Standard library only, for it
runs as whoever a trial runs as.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
LONG = 600  # seconds: more than any test waits
QUIRKS = set(sys.argv[1:])
SHELVES = {"shelf": {"enum": ["top", "low"], "default": "top"}} if "shelves" in QUIRKS else {}
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}, **SHELVES}}
WHO = {} if "nameless" in QUIRKS else {"serverInfo": {"name": "shelf", "version": "1"}}
NOISE = 'starting up…\n\n{"half": \n[1, 2]\n' + "[" * 100_000


def say(message: Json) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said: str) -> Json:
    return {"result": {"content": [{"type": "text", "text": said}]}}


def sleep() -> Json:
    time.sleep(LONG)
    return text("good morning")


def hog() -> Json:
    held = [bytearray(b"x" * 4_000_000) for _ in range(200)]
    time.sleep(LONG)
    return text(f"{len(held)}")


def ask() -> Json:
    """Requests of the server's own, and what the client says to them."""
    say({"id": 0, "method": "ping"})
    say({"id": "s", "method": "sampling/createMessage", "params": {}})
    return text(f"{sys.stdin.readline()}{sys.stdin.readline()}")


def pester() -> Json:
    """Asks and does not listen."""
    for number in range(100_000):
        say({"id": f"p{number}", "method": "ping"})
    return text("are you there?")


def withdraw() -> Json:
    """Lists the tool `where` no longer, and says so."""
    QUIRKS.add("withdrawn")
    say({"method": "notifications/tools/list_changed"})
    return text("withdrawn")


STRANGE: dict[str, Callable[[], Json]] = {
    "refuse": lambda: {"error": {"code": 1, "message": "no"}},
    "strange": lambda: {"result": {"content": [{"type": "image", "data": "eA==", "mimeType": "image/png"}]}},
    "structured": lambda: {"result": {"content": [], "structuredContent": {"n": 1}}},
    "resource": lambda: {
        "result": {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "half \ud800"}}]}
    },
    "nothing": lambda: {"result": [1]},
    "flag 1": lambda: {"result": {"content": [], "isError": 1}},
    "flag true": lambda: {"result": {"content": [], "isError": "true"}},
    "both": lambda: {**text("no"), "error": {"code": 1, "message": "no"}},
    "no content": lambda: {"result": {}},
    "no block": lambda: {"result": {"content": [7]}},
    "no text": lambda: {"result": {"content": [{"type": "text"}]}},
    "no object": lambda: {"result": {"content": [], "structuredContent": [1]}},
    "die": lambda: os._exit(3),
    "sleep": sleep,
    "huge": lambda: text("x" * 3_000_000),
    "hog": hog,
    "ask": ask,
    "pester": pester,
    "withdraw": withdraw,
}


def add(title: str | None, shelf: str = "") -> Json:
    """The tool."""
    if title is None:
        return {"result": {**text("add: needs a title")["result"], "isError": True}}
    if title in STRANGE:
        return STRANGE[title]()
    with Path("titles.txt").open("a") as file:
        file.write(f"{title}{shelf}\n")
    return text(f"added {title}")


def listed(cursor: str | None) -> Json:
    names = [] if "empty" in QUIRKS else ["put" if "renamed" in QUIRKS else "add", "where"]
    page = int(cursor or 0)
    if "withdrawn" in QUIRKS:
        names.remove("where")
    if "session" in QUIRKS:
        names.append(f"close_{os.getpid()}")
    if "pages" in QUIRKS:
        names = [f"{names[0]}{page}"]
    tools = [{"name": name, "description": f"{name}s it", "inputSchema": SCHEMA} for name in names]
    if "spiral" in QUIRKS or ("pages" in QUIRKS and page < 2):
        return {"tools": tools, "nextCursor": str(page + 1)}
    return {"tools": tools, **({"nextCursor": "0"} if "circle" in QUIRKS else {})}


def answer(method: str, params: Json) -> Json:
    match method, params.get("name"):
        case _ if "upset" in QUIRKS:
            return {"error": {"code": -32002, "message": "not initialized"}}
        case _ if "late" in QUIRKS:  # its first answer is an error
            QUIRKS.remove("late")
            return {"error": {"code": -32603, "message": "not yet"}}
        case "initialize", _:
            more: Json = {"resources": {}} if "shapeless" in QUIRKS else {}  # and no answer to a request for them
            more |= {"resources": {}, "prompts": {}} if "parts" in QUIRKS else {}
            version = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}, **more}}
            return {"result": {**version, **WHO, "instructions": "Be kind."}}
        case "resources/list", _ if "parts" in QUIRKS:
            return {"result": {"resources": [{"uri": "titles://all", "name": "all"}]}}
        case "resources/templates/list", _ if "parts" in QUIRKS:
            return {"result": {"resourceTemplates": [{"uriTemplate": "titles://{id}/text", "name": "one"}]}}
        case "prompts/list", _ if "parts" in QUIRKS:
            return {"result": {"prompts": [{"name": "plan", "arguments": [{"name": "topic", "required": True}]}]}}
        case "tools/list", _:
            return {"result": listed(params.get("cursor"))}
        case "tools/call", "where":
            return text(f"{Path.cwd()} {os.getuid()} {sorted(os.environ)}")
        case "tools/call", _:
            given = params.get("arguments", {})
            return add(given.get("title"), given.get("shelf", ""))
        case _:
            return {"result": {}}


def be_stubborn() -> None:
    """No signal that can be ignored ends it, and it has a child that is nobody's."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(LONG)
        os._exit(0)


def main() -> None:
    print("starting", file=sys.stderr, flush=True)
    if "broken" in QUIRKS:
        sys.exit("no database")
    if "mute" in QUIRKS:
        time.sleep(LONG)
    if "stubborn" in QUIRKS:
        be_stubborn()
    for place, line in enumerate(sys.stdin):
        message = json.loads(line)
        if "strict" in QUIRKS and place == 0 and message["method"] != "initialize":
            QUIRKS.add("upset")
        if "noisy" in QUIRKS:
            print(NOISE, flush=True)
            say({"method": "notifications/message", "params": {"data": "hello"}})
            say({"id": 999_999, "result": {"content": []}})
        if "id" in message:
            number = str(message["id"]) if "text_ids" in QUIRKS else message["id"]
            say({"id": number, **answer(message["method"], message.get("params") or {})})
            if "twice" in QUIRKS and message["method"] == "tools/call":
                say({"id": number, "error": {"code": 1, "message": "no"}})
    if "stubborn" in QUIRKS:
        time.sleep(LONG)


if __name__ == "__main__":
    main()
