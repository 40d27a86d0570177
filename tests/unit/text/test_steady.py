"""What differs between two runs of the same program is masked, and nothing else."""

from __future__ import annotations

import random
import secrets

import pytest

from tests.make import sure
from tests.unit.text.printed import CHANGED, NOW, VOLATILE
from tidegate.text.noise import Names, Printed, new_names, steady, with_names, without_clock


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
    assert (len(VOLATILE), len(CHANGED)) == (32, 33)


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
        ("at 0000-11-19", "at 0000-11-19"),
        ("took 80 ms", "took <duration>"),
        ("wait 80 s", "wait 80 s"),
        ("-rw 1 u 12 Nov 22 07:13 x", "-rw 1 u 12 <time> x"),
        ("at 7:13 AM, 07:13", "at <time>, <time>"),
        ("at 7:13 PM", "at 7:13 PM"),
        ("1795331640 and 1234567890", "<time> and 1234567890"),
        ("version 2026.11.22.1", "version 2026.11.22.1"),
    ],
)
def test_only_a_clock_of_now_and_possible_durations_are_masked(text: str, left: str) -> None:
    assert without_clock(text, NOW, 0.1) == left


def test_cut_and_reordered_records_are_found_in_a_replay() -> None:
    """Agents print both outputs of a command in an order of their own, and cut long ones."""
    found = sure(steady(Printed("one\ntwo 3f8a1\nthree"), Printed("one\ntwo 91bc2\nthree")))
    assert found.holds(Printed("three\none\ntwo 77ae3"), cut=False)
    assert not found.holds(Printed("three"), cut=False)
    assert found.holds(Printed("three"), cut=True)
    assert not found.holds(Printed("four"), cut=True)


@pytest.mark.parametrize(
    ("before", "now", "agrees"),
    [
        ("2026-11-22", "2026-11-23", False),
        ("2026-11-22T07:14:00Z", "2026-11-22T07:14:02Z", True),
        ("2026-11-22T07:14:00Z", "2026-11-21T07:14:00Z", False),
        ("1795331640", "1795245240", False),
        ("2026-11-22", "Nov 22 2026", False),
        ("2026-11-22", "2026/11/22", False),
        ("2026-11-22", "2026-11-22 07:14", False),
        ("2026-11-22", "1795331640", False),
        ("1795331640", "1795331641", True),
        ("1795331640", "1795331640000", False),
        ("07:14:00", "07:14:01", True),
        ("07:14:00", "7:14:01", False),
        ("2026-11-22T07:14:00.123Z", "2026-11-22T07:14:00.123456Z", False),
    ],
)
def test_a_time_in_another_form_or_of_another_day_is_a_difference(before: str, now: str, agrees: bool) -> None:
    found = sure(steady(Printed(f"due {before}", NOW, 0.1), Printed(f"due {before}", NOW, 0.1)))
    assert found.agrees(Printed(f"due {now}", NOW, 0.1), {}) == agrees


@pytest.mark.parametrize("now", ["a b 7\n", "a\tb -5\n", "a\tb 7 \n", "a\tb 7\r\n"])
def test_only_what_differs_between_base_s_runs_is_masked(now: str) -> None:
    """A tab, a sign, white space at the end and line ends are not."""
    found = sure(steady(Printed("a\tb 5\n"), Printed("a\tb 6\n")))
    assert found.agrees(Printed("a\tb 7\n"), {})
    assert not found.agrees(Printed(now), {})


def test_a_key_that_occurs_twice_is_a_difference() -> None:
    found = sure(steady(Printed('{"a": 1}'), Printed('{"a": 1}')))
    assert not found.agrees(Printed('{"a": 2, "a": 1}'), {})


def test_numbers_that_differ_on_base_differ_on_head_and_are_about_as_long() -> None:
    found = sure(steady(Printed("made 412345678, 998877665"), Printed("made 312345678, 598877665")))
    assert found.agrees(Printed("made 712345678, 698877665"), {})
    assert not found.agrees(Printed("made 712345678, 712345678"), {})
    assert not found.agrees(Printed("made 0, 698877665"), {})
