"""33 kinds of fault at each request of the check run."""

from __future__ import annotations

import pytest

from tests.thorough.github.test_fault_layer import KINDS, Layer
from tests.thorough.github.test_fault_layer import layer as layer
from tests.trial.github.test_check_run import counting_quickly as counting_quickly
from tests.trial.github.test_check_run import unharmed


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_changes_neither_the_exit_code_nor_the_comment(layer: Layer, kind: str) -> None:
    unharmed(layer, kind)
