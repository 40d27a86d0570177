"""AgentV's `cli` provider with `provider_batching`: one process runs all cases and prints one JSON line for each."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from tidegate.agents.agentv_cli import AgentVCli, CliCase, how_it_failed
from tidegate.agents.streams import agentv
from tidegate.model.agent import NoAnswerError, Session
from tidegate.model.command import CommandResult
from tidegate.model.event import End

BATCH = "batch"  # the value of {EVAL_ID}


class _Batch:
    """The output of one process: its lines by id, and how it ended."""

    def __init__(self, text: str, result: CommandResult) -> None:
        self.result = result
        self.lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            if (identity := _id(line)) is not None:
                self.lines.setdefault(identity, []).append(line)

    def line(self, identity: str) -> str:
        """Return the only line with that id. Raises NoAnswerError if there is none or more than one."""
        lines = self.lines.get(identity, [])
        if len(lines) == 1:
            return lines[0]
        count = f"{len(lines)} lines" if lines else "no line"
        failed = "" if self.result.ok else f" ({how_it_failed(self.result)})"
        raise NoAnswerError(
            f"the batch printed {count} for the case `{identity}`{failed}; "
            f'let its command print one JSON line for every case: {{"id": {json.dumps(identity)}, "text": …}}'
        )


class AgentVBatch(AgentVCli):
    """Runs `command_template` once for all cases of an attempt. {PROMPT} and {GUIDELINES} are empty; {FILES} are all
    files.

    The first trial of an attempt starts the process in its own workspace. The others wait for its output: one JSON line
    `{id, text}` or `{id, output_messages}` per case. A case whose id is missing or repeated is not measured. Nothing
    runs twice.
    """

    _batches: dict[tuple[Path, str], asyncio.Future[_Batch]] = PrivateAttr(default_factory=dict)

    async def run(self, session: Session) -> End:
        """Take this case's line of the batch."""
        attempt = session.trial_id.rpartition("/")[2]
        key = (session.repo, attempt)
        if key in self._batches:
            batch = await session.in_time(asyncio.shield(self._batches[key]))
        else:
            batch = await self._begin(session, key)
        line = batch.line(self.case(session).eval_id)
        for event in agentv.parse(line):
            session.emit(event)
        ok = batch.result.ok
        return End(
            end="completed" if ok else "crashed",
            message="" if ok else how_it_failed(batch.result),
            traced=agentv.is_traced(line),
        )

    async def _begin(self, session: Session, key: tuple[Path, str]) -> _Batch:
        future: asyncio.Future[_Batch] = asyncio.get_running_loop().create_future()
        self._batches[key] = future
        files = tuple(dict.fromkeys(file for case in self.cases.values() for file in case.files))
        try:
            result, text = await self.program(session, CliCase(eval_id=BATCH, question="", files=files))
        except BaseException:
            first = self.case(session).eval_id
            what = (
                f"the batch was ended before it had printed everything; the trial of `{first}`, which ran it, says why"
            )
            future.set_exception(NoAnswerError(what))
            future.exception()  # marks the exception as retrieved, since no other trial may wait for it
            raise
        batch = _Batch(text, result)
        future.set_result(batch)
        return batch


def _id(line: str) -> str | None:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str) else None
