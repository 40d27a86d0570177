"""The executor `ray`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from tidegate.errors import CannotRunError
from tidegate.model.executor import RESULTS_FILE, BatchJob, BatchLostError, Carry, Engine, EngineContext
from tidegate.text.shorten import excerpt

# Ends the worker when Ray's process ends, which Ray kills when its node is removed or the task is cancelled.
_TIED = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
os.execv(sys.argv[1], sys.argv[1:])
"""


class RayExecutor(Engine):
    """Tasks on a Ray cluster that runs already. Needs `pip install 'tidegate[ray]'`, on each node too.

    `address` is the cluster's, as for `ray.init`. Each batch is one task, which takes `cpus` of its node. A batch whose
    node is lost is run again, on another one if there is one.
    """

    type: Literal["ray"]
    address: str = "auto"
    cpus: float = Field(default=1, gt=0)

    @asynccontextmanager
    async def opened(self, context: EngineContext) -> AsyncIterator[Carry]:
        """Connect to the cluster."""
        import asyncio  # it takes 20 ms, and few suites have an executor

        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise CannotRunError(
                "The executor `ray` needs Ray.", "Install it: `pip install 'tidegate[ray]'`."
            ) from None
        try:
            await asyncio.to_thread(ray.init, address=self.address, logging_level="warning", log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            why = excerpt(str(error))
            raise CannotRunError(
                f"The Ray cluster `{self.address}` cannot be reached: {why}", "Check `executor.address`."
            ) from None
        try:
            # Our own code carries on after a failure: a task that Ray repeats itself would mix both sides again.
            task = ray.remote(num_cpus=self.cpus, max_retries=0)(run_bundle)

            async def carry(job: BatchJob) -> None:
                await _carry(ray, task, job)

            yield carry
        finally:
            await asyncio.to_thread(ray.shutdown)


class BatchEnd(NamedTuple):
    """How a batch ended on its node: its bundle of results, or the end of what the worker printed."""

    results: bytes
    status: int
    said: str


def run_bundle(bundle: bytes) -> BatchEnd:
    """Run a batch on this node, in processes of its own."""
    import tempfile  # 2 ms

    with tempfile.TemporaryDirectory(prefix="tidegate-") as name:
        folder = Path(name)
        out = folder / "out"
        (folder / "bundle.zip").write_bytes(bundle)
        words = [sys.executable, "-m", "tidegate", "trials", "run", str(folder / "bundle.zip"), "--out", str(out)]
        ran = subprocess.run(
            [sys.executable, "-c", _TIED, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        results = out / RESULTS_FILE
        return BatchEnd(
            results.read_bytes() if results.exists() else b"",
            ran.returncode,
            ran.stdout[-2000:].decode(errors="replace"),
        )


async def _carry(ray: Any, task: Any, job: BatchJob) -> None:
    import asyncio  # 20 ms

    bundle = await asyncio.to_thread(job.bundle.read_bytes)
    waiting = task.options(name=job.name).remote(bundle)
    try:
        async with asyncio.timeout(job.secs):
            ran = await waiting
    except TimeoutError:
        ray.cancel(waiting, force=True)
        raise BatchLostError(f"the Ray task did not end within {job.secs / 60:.3g} minutes") from None
    except asyncio.CancelledError:
        ray.cancel(waiting, force=True)
        raise
    except ray.exceptions.RayError as error:
        raise BatchLostError(f"the Ray task was lost: {excerpt(str(error))}") from None
    if ran.status:
        raise BatchLostError(f"the worker ended with {ran.status}: {excerpt(ran.said) or 'it printed nothing'}")
    await asyncio.to_thread((job.out / RESULTS_FILE).write_bytes, ran.results)
