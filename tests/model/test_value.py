"""Values take little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest

from tests.make import trial_result
from tidegate.model.metrics import Metrics
from tidegate.model.value import Value, compact

COUNT = 200


def memory_of(make: Callable[[], object]) -> float:
    """Return the bytes that one value takes."""
    tracemalloc.start()
    made = [make() for _ in range(COUNT)]
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / len(made)


@pytest.mark.parametrize("value", [trial_result(), Metrics(turns=3)])
def test_a_compact_value_is_equal_and_takes_about_half_of_the_memory(value: Value) -> None:
    small, text = compact(value), value.model_dump_json()
    assert small == value
    assert small.model_dump_json() == text
    assert memory_of(partial(compact, value)) < 0.6 * memory_of(partial(type(value).model_validate_json, text))


def test_a_copy_has_the_changed_fields_and_remembers_no_names_of_them() -> None:
    before = Metrics(turns=3)
    after = before.model_copy(update={"turns": 4})
    assert (after.turns, before.turns) == (4, 3)
    assert after.model_fields_set == before.model_fields_set == set()


def test_a_copy_of_a_compact_value_can_be_changed() -> None:
    small = compact(Metrics(turns=3))
    assert small.model_copy(update={"turns": 4}) == Metrics(turns=4)
    assert small == Metrics(turns=3)
