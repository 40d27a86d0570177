"""What tools print: output that is another in each run, and changes that an agent would see."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable

NOW = 1_795_331_640.0  # 2026-11-22 07:14:00 UTC
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
TITLES = ("One", "Two", "Three", "Four", "Five", "Six", "Seven")
Tool = Callable[[random.Random, float], str]


def iso(at: float, form: str) -> str:
    return time.strftime(form, time.gmtime(at))


def hexes(chance: random.Random, length: int) -> str:
    return "".join(chance.choice("0123456789abcdef") for _ in range(length))


def shuffled(chance: random.Random, values: dict[str, object], indent: int | None = None) -> str:
    keys = list(values)
    chance.shuffle(keys)
    return json.dumps({key: values[key] for key in keys}, indent=indent)


# Tools whose output is another in each run.
VOLATILE: dict[str, Tool] = {
    "uuid": lambda c, _: f"created {uuid.UUID(int=c.getrandbits(128))}",
    "short id": lambda c, _: f"task-{hexes(c, 6)} added",
    "short id of letters and digits": lambda c, _: f"fix-{''.join(c.choice(BASE36) for _ in range(4))} added",
    "hash": lambda c, _: f"commit {hexes(c, 40)}\n  Merge {hexes(c, 7)} into main",
    "an id twice": lambda c, _: (lambda i: f"created {i}\nuse `show {i}` to see it")(f"n{c.randrange(10**5, 10**6)}"),
    "nanoid": lambda c, _: "id: " + "".join(c.choice("ABCDEFabcdef0123456789") for _ in range(21)) + "7",
    "iso time": lambda _, at: f"saved at {iso(at, '%Y-%m-%dT%H:%M:%SZ')}",
    "iso with milliseconds": lambda c, at: f"[{iso(at, '%Y-%m-%dT%H:%M:%S')}.{c.randrange(1000):03d}Z] INFO ready",
    "date and time": lambda _, at: f"{iso(at, '%Y-%m-%d %H:%M:%S')} done",
    "ctime": lambda _, at: f"Last change: {iso(at, '%a %b %e %H:%M:%S %Y')}",
    "rfc 2822": lambda _, at: f"Date: {iso(at, '%a, %d %b %Y %H:%M:%S +0000')}",
    "ls -l": lambda c, at: f"total 8\n-rw-r--r-- 1 tidegate-user 12 12 {iso(at, '%b %e %H:%M')} notes.txt",
    "time of day": lambda _, at: f"{iso(at, '%H:%M:%S')} listening",
    "epoch": lambda _, at: f'{{"at": {int(at)}}}',
    "epoch in milliseconds": lambda _, at: f'{{"at": {int(at * 1000)}}}',
    "compact date": lambda _, at: f"backup-{iso(at, '%Y%m%d')}.tar",
    "duration in ms": lambda c, _: f"3 tests passed in {c.randrange(1, 90)} ms",
    "duration in s": lambda c, _: f"Finished in {c.randrange(1, 9) / 100:.2f}s",
    "duration in words": lambda c, _: f"took {c.random() / 20:.3f} seconds",
    "bare duration": lambda c, _: f'{{"elapsed": {c.random() / 10:.6f}}}',
    "temporary file": lambda c, _: f"wrote /tmp/tmp{''.join(c.choice('abcdefgh_0123') for _ in range(8))}/out.json",
    "mktemp": lambda c, _: f"/tmp/tmp.{''.join(c.choice('abcXYZ019') for _ in range(9))}4",
    "pid": lambda c, _: f"started worker (pid {c.randrange(300, 99_999)})",
    "port": lambda c, _: f"listening on http://127.0.0.1:{c.randrange(32_768, 60_999)}/",
    "address": lambda c, _: f"<Task object at 0x7f{hexes(c, 10)}>",
    "order of keys": lambda c, _: shuffled(c, {"id": 1, "title": "Tag", "done": False, "tags": ["a", "b"]}),
    "order of keys over lines": lambda c, _: shuffled(c, {"a": 1, "b": {"x": 1}, "c": None}, indent=2),
    "order of keys in JSON lines": lambda c, _: "\n".join(shuffled(c, {"n": n, "name": f"t{n}"}) for n in range(3)),
    "keys and ids": lambda c, _: shuffled(c, {"id": f"x{hexes(c, 8)}1", "title": "Tag", "n": 2}),
    "order of lines": lambda c, _: "\n".join(sorted((f"- item {n}" for n in range(9)), key=lambda _: c.random())),
    "order of lines with ids": lambda c, _: "\n".join(
        sorted(f"wor-{''.join(c.choice(BASE36) for _ in range(4))} [open] - {title}" for title in TITLES)
    ),
    "table": lambda c, at: f"ID        AGE  TITLE\n{hexes(c, 7)}1  {iso(at, '%H:%M:%S')}  Tag the release",
}

# Changes that an agent would see: what base prints in two runs, and what head prints.
ID = ("k3f8a21b", "k90bc4d1", "k77ae012")
CHANGED: dict[str, tuple[str, str, str]] = {
    "a word": ("added one task", "added one task", "created one task"),
    "a number": ("3 tasks", "3 tasks", "4 tasks"),
    "an option": ("usage: t add [--priority P]", "usage: t add [--priority P]", "usage: t add [--prio P]"),
    "a fixed date": ("due 2026-01-05", "due 2026-01-05", "due 2026-05-01"),
    "a fixed time": ("at 23:59:59", "at 23:59:59", "at 11:59:59"),
    "a fixed month": ("due Jan 5", "due Jan 5", "due May 1"),
    "a limit in seconds": ("timeout: 30 s", "timeout: 30 s", "timeout: 60 s"),
    "a limit in minutes": ("retry after 5 min", "retry after 5 min", "retry after 9 min"),
    "a fixed port": ("http://localhost:8080/", "http://localhost:8080/", "http://localhost:9090/"),
    "a fixed hash": (f"sha256 {'ab12' * 16}", f"sha256 {'ab12' * 16}", f"sha256 {'cd34' * 16}"),
    "a path": ("wrote out/report.json", "wrote out/report.json", "wrote report.json"),
    "a temporary path that is fixed": ("/tmp/app.sock", "/tmp/app.sock", "/tmp/app2.sock"),
    "a version": ("notes 1.2.3", "notes 1.2.3", "notes 1.3.0"),
    "a missing line": ("a\nb\nc", "a\nb\nc", "a\nc"),
    "another line": ("a\nb", "a\nb", "a\nb\nc"),
    "the order of lines": ("a\nb\nc", "a\nb\nc", "c\nb\na"),
    "nothing": ("done", "done", ""),
    "something": ("", "", "warning: old"),
    "a JSON value": ('{"a": 1, "b": true}', '{"b": true, "a": 1}', '{"a": 1, "b": false}'),
    "a JSON key": ('{"id": 1, "name": "x"}', '{"name": "x", "id": 1}', '{"id": 1, "title": "x"}'),
    "a JSON type": ('{"a": 1}', '{"a": 1}', '{"a": "1"}'),
    "the order of a JSON list": ("[1, 2, 3]", "[1, 2, 3]", "[3, 2, 1]"),
    "null for an id": (f'{{"id": "{ID[0]}"}}', f'{{"id": "{ID[1]}"}}', '{"id": null}'),
    "an error for an id": (f"created {ID[0]}", f"created {ID[1]}", "created undefined"),
    "a longer id": (f"created {ID[0]}", f"created {ID[1]}", f"created {ID[2]}{ID[2]}"),
    "an id of another prefix": ("task-8f3a1 ok", "task-91bc2 ok", "note-77ae3 ok"),
    "two ids for one": (f"{ID[0]}\n{ID[0]}", f"{ID[1]}\n{ID[1]}", "k1111222\nk3333444"),
    "one id for two": ("k3f8a21b\nk5f8a21c", "k90bc4d1\nk70bc4d9", "k1111222\nk1111222"),
    "a word beside an id": (f"{ID[0]} added", f"{ID[1]} added", f"{ID[2]} ignored"),
    "a number as it is written": ('{"a": 9.90, "b": 1}', '{"b": 1, "a": 9.90}', '{"a": 9.9, "b": 1}'),
    "an escape": ('{"a": "\\u00e9", "b": 1}', '{"b": 1, "a": "\\u00e9"}', '{"a": "é", "b": 1}'),
    "spaces in JSON": ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"a":1,"b":2}'),
    "a sign": ("balance -5", "balance -5", "balance 5"),
}
