"""What differs between two runs of the same program is masked, and nothing else."""

from __future__ import annotations

import json
import random
import secrets
import time
import uuid
from collections.abc import Callable

import pytest

from tidegate.text.clock import without_clock
from tidegate.text.steady import Names, Printed, new_names, steady, with_names

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

# Thirty changes that an agent would see: what base prints in two runs, and what head prints.
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
    "a sign": ("balance -5", "balance -5", "balance 5"),
}


@pytest.mark.parametrize("tool", VOLATILE)
def test_another_run_of_the_same_program_agrees(tool: str) -> None:
    for seed in range(20):
        chance = random.Random(f"{tool} {seed}")
        one, other, head = (
            Printed(VOLATILE[tool](chance, at), at, 0.09) for at in (NOW + seed, NOW + seed + 1.3, NOW + seed + 61.7)
        )
        found = steady(one, other)
        assert found is not None, (one.text, other.text)
        assert found.agrees(head, {}), (one.text, head.text, found.volatile)


@pytest.mark.parametrize("change", CHANGED)
def test_a_change_is_not_masked(change: str) -> None:
    one, other, head = (Printed(text, NOW, 0.09) for text in CHANGED[change])
    found = steady(one, other)
    assert found is None or not found.agrees(head, {})


def test_there_are_thirty_of_each_or_more() -> None:
    assert (len(VOLATILE), len(CHANGED)) == (32, 30)


def test_an_id_is_renamed_in_the_same_way_in_all_steps() -> None:
    names: Names = {}
    created = steady(Printed("created k3f8a21b"), Printed("created k90bc4d1"))
    shown = steady(Printed("k3f8a21b: open"), Printed("k90bc4d1: open"))
    assert created is not None
    assert shown is not None
    assert created.agrees(Printed("created k77ae012"), names)
    assert shown.agrees(Printed("k77ae012: open"), names)
    assert not shown.agrees(Printed("k12ab345: open"), names)


def test_a_form_that_base_does_not_need_is_not_used() -> None:
    """Lines in another order are a change, unless base's own order varies."""
    fixed = steady(Printed("a\nb"), Printed("a\nb"))
    varies = steady(Printed("a\nb"), Printed("b\na"))
    assert fixed is not None
    assert varies is not None
    assert not fixed.agrees(Printed("b\na"), {})
    assert varies.agrees(Printed("b\na"), {})


def test_runs_that_agree_in_no_form_are_not_steady() -> None:
    assert steady(Printed("added"), Printed("ignored")) is None
    assert steady(Printed("a"), Printed("a\nb")) is None


def test_ids_that_a_tool_generates_replace_the_recorded_ones() -> None:
    new = secrets.token_hex(4) + "7"
    names = new_names(Printed("created k3f8a21b9 in 3 ms", 0, 1), Printed(f"created {new} in 5 ms", 0, 1))
    assert with_names("show k3f8a21b9 --all", names) == f"show {new} --all"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at 2026-11-22T07:13:59Z", "at <time>"),
        ("at 2026-11-19", "at 2026-11-19"),
        ("took 80 ms", "took <duration>"),
        ("wait 80 s", "wait 80 s"),
        ("-rw 1 u 12 Nov 22 07:13 x", "-rw 1 u 12 <time> x"),
        ("1795331640 and 1234567890", "<time> and 1234567890"),
        ("version 2026.11.22.1", "version 2026.11.22.1"),
    ],
)
def test_only_a_clock_of_now_and_possible_durations_are_masked(text: str, left: str) -> None:
    assert without_clock(text, NOW, 0.1) == left


def test_cut_and_reordered_records_are_found_in_a_replay() -> None:
    """Agents print both outputs of a command in an order of their own, and cut long ones."""
    found = steady(Printed("one\ntwo 3f8a1\nthree"), Printed("one\ntwo 91bc2\nthree"))
    assert found is not None
    assert found.holds(Printed("three\none\ntwo 77ae3"), cut=False)
    assert not found.holds(Printed("three"), cut=False)
    assert found.holds(Printed("three"), cut=True)
    assert not found.holds(Printed("four"), cut=True)
