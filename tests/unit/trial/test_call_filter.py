"""The filter of system calls, step by step as the kernel runs it."""

from __future__ import annotations

import os
from struct import pack, unpack_from

import pytest

from tidegate.trial.sandbox import jail


def decided(program: bytes, architecture: int, number: int) -> tuple[int, int]:
    """What the program returns for a call whose arguments are all 0, and after how many steps."""
    data = pack("=IIQ6Q", number, architecture, *[0] * 7)
    place = value = steps = 0
    while True:
        code, if_true, if_false, operand = unpack_from("=HBBI", program, 8 * place)
        place, steps = place + 1, steps + 1
        if code == jail.RETURN:
            return operand, steps
        if code == jail.LOAD:
            (value,) = unpack_from("=I", data, operand)
            continue
        is_true = {
            jail.EQUAL: value == operand,
            jail.AT_LEAST: value >= operand,
            jail.ANY_BIT: bool(value & operand),
        }
        place += if_true if is_true[code] else if_false


@pytest.mark.parametrize("shared_memory", [False, True])
@pytest.mark.parametrize("name", jail.OF_MACHINE.get(os.uname().machine, ()))
def test_the_filter_refuses_the_calls_of_its_table_and_no_others(name: str, *, shared_memory: bool) -> None:
    table = jail.TABLES[name]
    refused = {*table.refused, *jail.NEW, *(table.of_all if shared_memory else ())}
    refused.add(table.priorities[1])  # of ioprio_set, 0 is no kind that a process may use
    program = jail.filter_steps(shared_memory=shared_memory)

    found = {number: decided(program, table.architecture, number) for number in range(1000)}

    assert {number for number, (answer, _) in found.items() if answer == jail.REFUSE} == refused
    assert {number for number, (answer, _) in found.items() if answer == jail.UNKNOWN} == {jail.CLONE3}
    assert {answer for answer, _ in found.values()} == {jail.REFUSE, jail.UNKNOWN, jail.ALLOW}
    assert max(steps for _, steps in found.values()) <= 30, "the kernel takes them for each number"
