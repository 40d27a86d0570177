"""The executor interface: where trials run. An engine carries a bundle of trials out and one of results back."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from tidegate.model.field_types import Count, Positive
from tidegate.model.value import Value

RESULTS_FILE = "results.zip"


class BatchLostError(Exception):
    """Raised when a batch has no usable results. The message is one sentence that says what the engine did."""


class BatchJob(NamedTuple):
    """One batch: the engine has `bundle` turned into `out` by `tidegate trials run BUNDLE --out OUT`."""

    name: str  # unique; letters, digits and hyphens only
    bundle: Path  # a file
    out: Path  # an empty folder, in which the worker's RESULTS_FILE has to arrive
    secs: float  # the engine's time; a batch that takes longer is cancelled and lost


class EngineContext(NamedTuple):
    """What engines work with. `folder` is the checkout that defines the suite, which is base's on a pull request."""

    folder: Path
    environ: Mapping[str, str]


Carry = Callable[[BatchJob], Awaitable[None]]
"""Runs one batch to its end. Raises BatchLostError if it fails. When it is cancelled, it stops the batch."""


class Executor(Value):
    """Where trials run."""

    type: str


class LocalExecutor(Executor):
    """This machine, on which Tidegate runs."""

    type: Literal["local"] = "local"


class Engine(Executor):
    """Another system that runs batches of trials.

    `parallel` is how many batches run at the same time, and `trials` how many trials one has at most; the trials of a
    row stay together, so that base and head meet the same machine. A batch that takes longer than `minutes` is lost.
    """

    parallel: Count = 4
    trials: Count = 20
    minutes: Positive = 60

    def opened(self, context: EngineContext) -> AbstractAsyncContextManager[Carry]:
        """Connect to the engine for one run. Raises CannotRunError if that is not possible."""
        raise NotImplementedError
