"""What is recorded of messages that few servers send: tasks, batches, and results of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tidegate.trial.mcp import answer_status, recording, session_notes
from tidegate.trial.recorder import Stops

for name in ("CALL", "COMPLETE", "PROMPT", "READ", "status_of"):  # the proxy is one file with these
    setattr(session_notes, name, getattr(answer_status, name))

TEXT = {"content": [{"type": "text", "text": "done"}]}
LIST = {**TEXT, "structuredContent": [1]}


def recorded(folder: Path, *messages: dict[str, Any]) -> list[tuple[str, ...]]:
    """The recorded calls; requests have a `method` and an even id, and the server's messages an odd `from`."""
    record = folder / "calls"
    record.touch()
    notes = session_notes.Notes(str(record))
    for message in messages:
        said = {"jsonrpc": "2.0", **{key: value for key, value in message.items() if key != "server"}}
        (notes.answered if "server" in message else notes.asked)(json.dumps(said).encode())
    return [(*call.argv, call.status) for call in recording.read(record, Stops()).invocations]


def call(number: int, **params: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": "add", **params}}


def asked(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"id": number, "method": method, "params": params}


def answer(number: int, **result: Any) -> dict[str, Any]:
    return {"server": True, "id": number, "result": result}


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ([asked(2, "tasks/result", taskId="t"), answer(2, **TEXT)], "ok"),
        ([asked(2, "tasks/result", taskId="t"), answer(2, **TEXT, isError=True)], "error"),
        ([asked(2, "tasks/get", taskId="t"), answer(2, taskId="t", status="working")], "error"),
        ([asked(2, "tasks/get", taskId="t"), answer(2, taskId="t", status="failed")], "error"),
        ([asked(2, "tasks/get", taskId="t"), answer(2, taskId="t", status="completed", result=TEXT)], "ok"),
        ([asked(2, "tasks/cancel", taskId="t"), answer(2, taskId="t", status="cancelled")], "timeout"),
    ],
)
@pytest.mark.parametrize("started", [{"task": {"taskId": "t"}}, {"resultType": "task", "taskId": "t"}])
def test_a_call_that_becomes_a_task_ends_with_it(
    tmp_path: Path, started: dict[str, Any], end: list[dict[str, Any]], status: str
) -> None:
    assert recorded(tmp_path, call(1), answer(1, **started), *end) == [("add", status)]


def test_a_call_whose_input_is_never_given_has_failed(tmp_path: Path) -> None:
    waiting = answer(1, resultType="input_required", requestState="s")
    assert recorded(tmp_path, call(1), waiting) == [("add", "error")]


def test_two_calls_that_wait_for_input_are_told_apart(tmp_path: Path) -> None:
    first, second = (answer(number, resultType="input_required", requestState=f"s{number}") for number in (1, 2))
    rest = [call(3, requestState="s2"), answer(3, **TEXT), call(4, requestState="s1"), answer(4, **TEXT, isError=True)]
    found = recorded(tmp_path, call(1, arguments={"a": 1}), call(2, arguments={"a": 2}), first, second, *rest)
    assert found == [("add", '{"a": 1}', "error"), ("add", '{"a": 2}', "ok")]


@pytest.mark.parametrize(("version", "status"), [("2025-11-25", "error"), ("2026-07-28", "ok")])
def test_structured_content_may_be_a_list_in_todays_version(tmp_path: Path, version: str, status: str) -> None:
    greeting = [asked(0, "initialize"), answer(0, protocolVersion=version)]
    assert recorded(tmp_path, *greeting, call(1), answer(1, **LIST)) == [("add", status)]
    meta = {"_meta": {session_notes.VERSION_KEY: version}}
    assert recorded(tmp_path, call(3, **meta), answer(3, **LIST))[-1] == ("add", status)


@pytest.mark.parametrize(
    ("method", "params", "good"),
    [
        ("resources/read", {"uri": "x:y"}, {"contents": []}),
        ("prompts/get", {"name": "p"}, {"messages": [{"role": "user"}]}),
        ("completion/complete", {"ref": {"name": "p"}, "argument": {}}, {"completion": {"values": []}}),
    ],
)
def test_an_answer_of_another_shape_is_refused_by_clients(
    tmp_path: Path, method: str, params: dict[str, Any], good: dict[str, Any]
) -> None:
    messages = [asked(1, method, **params), answer(1, **good), asked(2, method, **params), answer(2, x=1)]
    assert [status for *_, status in recorded(tmp_path, *messages)] == ["ok", "error"]


@pytest.mark.parametrize(
    ("fields", "block", "status"),
    [
        ({}, {"type": "text", "text": "done 🚀"}, "ok"),
        ({}, {"type": "text", "text": "done \ud83d"}, "error"),
        ({"jsonrpc": "1.0"}, {"type": "text", "text": "done"}, "error"),
        ({"jsonrpc": 2.0}, {"type": "text", "text": "done"}, "error"),
        ({"jsonrpc": None}, {"type": "text", "text": "done"}, "error"),
        ({}, {"type": "text"}, "error"),
        ({}, {"type": "foo"}, "error"),
        ({}, {"type": ["text"]}, "error"),
        ({}, {"type": "image", "data": "", "mimeType": "image/png"}, "ok"),
        ({}, {"type": "image", "data": ""}, "error"),
        ({}, {"type": "resource_link", "uri": "x:y", "name": "y"}, "ok"),
        ({}, {"type": "resource_link", "uri": "x:y"}, "error"),
        ({}, {"type": "resource", "resource": {"uri": "x:y", "blob": ""}}, "ok"),
        ({}, {"type": "resource", "resource": {"uri": "x:y"}}, "error"),
        ({}, {"type": "resource", "resource": "x:y"}, "error"),
    ],
)
def test_an_answer_that_the_official_clients_cannot_read_is_an_error(
    tmp_path: Path, fields: dict[str, Any], block: dict[str, Any], status: str
) -> None:
    assert recorded(tmp_path, call(1), {**answer(1, content=[block]), **fields}) == [("add", status)]


def test_an_answer_that_clients_do_not_read_is_an_error(tmp_path: Path) -> None:
    """Such as one with another status of HTTP."""
    (tmp_path / "calls").touch()
    notes = session_notes.Notes(str(tmp_path / "calls"))
    for number, is_read in ((1, True), (2, False)):
        notes.asked(json.dumps(call(number)).encode())
        said = {"jsonrpc": "2.0", "id": number, "result": TEXT}
        notes.answered(json.dumps(said).encode(), is_read=is_read)
    found = recording.read(tmp_path / "calls", Stops()).invocations
    assert [one.status for one in found] == ["ok", "error"]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ('{"content": [], "isError": false}', "ok"),
        ('{"content": [], "isError": true, "isError": false}', "error"),
        ('{"content": [], "structuredContent": {"a": {"b": 1, "b": 2}}}', "error"),
    ],
)
def test_an_answer_with_a_key_twice_in_one_object_is_an_error(tmp_path: Path, result: str, status: str) -> None:
    (tmp_path / "calls").touch()
    notes = session_notes.Notes(str(tmp_path / "calls"))
    notes.asked(json.dumps(call(1)).encode())
    notes.answered(f'{{"jsonrpc": "2.0", "id": 1, "result": {result}}}'.encode())
    assert [one.status for one in recording.read(tmp_path / "calls", Stops()).invocations] == [status]


LINE = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'


@pytest.mark.parametrize(
    "line",
    [
        b"\xef\xbb\xbf" + LINE,
        LINE.decode().encode("utf-16-be"),
        LINE.replace(b"{}", b'{"n": NaN}'),
        LINE.replace(b"{}", b'{"n": -Infinity}'),
        LINE.replace(b"{}", b'{"n": "\xff"}'),
        b"[" + LINE + b"]",
    ],
)
def test_a_line_that_no_client_reads_has_no_messages(line: bytes) -> None:
    assert len(list(session_notes.messages(LINE, "2025-06-18"))) == 1
    assert not list(session_notes.messages(line, "2025-06-18"))


def test_a_message_says_that_a_key_is_there_twice() -> None:
    (message,) = session_notes.messages(LINE.replace(b"{}", b'{"n": [{"a": 1, "a": 2}]}'))
    assert answer_status.status_of(message) == answer_status.DOUBLED


def test_a_batch_is_read_in_the_version_that_has_it() -> None:
    assert len(list(session_notes.messages(b"[" + LINE + b"]", "2025-03-26"))) == 1


BLOCK = {"type": "text", "text": "done"}
IMAGE = {"type": "image", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("method", "result", "status"),
    [
        ("tools/call", {"content": [{**BLOCK, "annotations": None}]}, answer_status.NOT_STRICT),
        ("tools/call", {"content": [BLOCK], "_meta": None}, answer_status.NOT_STRICT),
        ("tools/call", {"content": [BLOCK], "structuredContent": {"description": None}}, 0),
        ("tools/call", {"content": [{**IMAGE, "data": "!!!"}]}, answer_status.INVALID_STATUS + 2),
        ("tools/call", {"content": [{**IMAGE, "data": "eA"}]}, 0),
        ("resources/read", {"contents": [{"uri": "x:y", "blob": "!!!"}]}, answer_status.INVALID_STATUS + 4),
        ("resources/read", {"contents": [{"uri": "x:y", "mimeType": None, "text": ""}]}, answer_status.NOT_STRICT),
        ("prompts/get", {"description": None, "messages": []}, answer_status.NOT_STRICT),
    ],
)
def test_an_answer_that_strict_clients_refuse_is_a_failed_call(
    method: str, result: dict[str, Any], status: int
) -> None:
    answered = {"jsonrpc": "2.0", "result": result}
    assert answer_status.status_of(answered, method) == status
    assert answer_status.status_of({**answered, "error": None}, method) == answer_status.INVALID_STATUS


@pytest.mark.parametrize(
    ("tool", "is_loose"),
    [
        ({"description": None}, True),
        ({"annotations": {"readOnlyHint": "yes"}}, True),
        ({"annotations": {"readOnlyHint": True}}, False),
        ({"inputSchema": {"properties": {"title": None}}}, False),
    ],
)
def test_a_list_with_null_or_a_hint_that_is_no_boolean_is_loose(tool: dict[str, Any], is_loose: bool) -> None:
    assert answer_status.is_loose({"tools": [tool]}) == is_loose


@pytest.mark.parametrize(
    ("kind", "version", "status"),
    [
        ("complete", "2026-07-28", 0),
        ("later", "2026-07-28", answer_status.UNKNOWN_TYPE),
        ("later", "2025-11-25", 0),
    ],
)
def test_a_result_of_an_unknown_type_is_not_valid_where_the_protocol_has_types(
    kind: str, version: str, status: int
) -> None:
    result = {"content": [{"type": "text", "text": "done"}], "resultType": kind}
    assert answer_status.status_of({"jsonrpc": "2.0", "id": 1, "result": result}, version=version) == status


def test_what_a_resource_contains_is_a_text_or_a_blob() -> None:
    assert answer_status.is_contents({"uri": "a:b", "text": "x"})
    assert not answer_status.is_contents({"uri": "a:b", "text": "x", "blob": ""})
    both = {"jsonrpc": "2.0", "id": 1, "result": {"contents": [{"uri": "a:b", "text": "x", "blob": ""}]}}
    assert answer_status.status_of(both, answer_status.READ) > 0
