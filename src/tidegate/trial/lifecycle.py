"""Runs one trial from workspace to record: setup, agent, post scripts, gates and evaluators."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from tidegate.checks.rubrics.work import line
from tidegate.errors import CannotRunError
from tidegate.model.access import NetworkStep, RefusedHost
from tidegate.model.event import Event
from tidegate.model.trial import Places, Step, Trial
from tidegate.trial.agent_step import run_agent
from tidegate.trial.checks import BudgetEndedError, Checks, Notes
from tidegate.trial.directories import Attempt, Folders
from tidegate.trial.environment import Environments, free_port, has_commands, with_port
from tidegate.trial.guidance_swap import guidance_for_agent
from tidegate.trial.processes import Refused, SupervisorLost
from tidegate.trial.rewritten import WatchedFiles, named
from tidegate.trial.safe_files import write_file
from tidegate.trial.sandbox.file_jail import explained
from tidegate.trial.snapshot import Snapshot
from tidegate.trial.start import NotReadyError, Start
from tidegate.trial.workspace import MOST_SECS, copy_workspace
from tidegate.trial.workspace_diff import NoDiffError, WorkspaceDiff, new_folders, patch, small_snapshot, workspace_diff


def store_trial(folders: Folders, trial: Trial) -> None:
    """Write trial.json. If the trial has filled the disk, remove its folders first."""
    file, data = folders.record / "trial.json", trial.model_dump_json(indent=1).encode()
    try:
        write_file(file, data)
    except OSError:
        folders.remove_scratch()
        write_file(file, data)


def write_transcript(folders: Folders, events: Sequence[Event]) -> None:
    """Write transcript.txt."""
    text = "".join(f"{line(event)}\n" for event in events)
    write_file(folders.record / "transcript.txt", text.encode())


async def run_trial(attempt: Attempt) -> Trial:
    """Run one trial and return its record, which is written to the attempt's record folder while the trial runs.

    Errors inside the trial are stored in the record and never raised; only a cancellation is passed on.
    """
    course = _TrialRun(attempt)
    try:
        trial = await course.run()
    except Refused as error:
        trial = course.trial(not_measured="resources", reason=str(error))
    except SupervisorLost as error:
        trial = course.trial(not_measured="supervisor_lost", reason=str(error))
    except OSError as error:
        trial = course.trial(not_measured="resources", reason=f"the trial could not be run: {error}")
    store_trial(attempt.folders, trial)
    return trial


class _TrialRun:
    """The state of one trial while it runs."""

    def __init__(self, attempt: Attempt) -> None:
        self._port = free_port()
        scenario = with_port(attempt.scenario, self._port)
        if scenario is not attempt.scenario:
            attempt = replace(attempt, row=attempt.row.model_copy(update={"scenario": scenario}))
        if scenario.target.mcp is not None and scenario.target.mcp.url:
            attempt = replace(attempt, server_port=int(free_port()))
        self._attempt = attempt
        self._scenario = scenario
        self._folders = attempt.folders
        self._place = attempt.place
        self._steps: list[Step] = []
        self._warnings = [*self._place.prepared.warnings]
        self._unshown = tuple[str, ...]()  # changes that the diff does not show
        self._refused_hosts: list[RefusedHost] = []
        self._started_at = time.time()
        self._network_step: NetworkStep = "setup"
        self._environments = Environments.of(attempt, self._port)

    async def run(self) -> Trial:
        """Run the steps in the order that scenarios.md describes."""
        account = self._attempt.supervisor.account
        self._folders.make(account)
        try:
            left = min(MOST_SECS, self._attempt.deadline - time.monotonic())
            copying = (self._place.prepared, self._folders.workspace, left, account)
            if self._place.prepared.files is None:
                await asyncio.to_thread(copy_workspace, *copying)
            else:  # it is small, and a thread would cost more
                copy_workspace(*copying)
        except CannotRunError:
            self._stop_on_full_disk()
            raise
        self._environments.wrap_target(self._attempt)
        gates, _, agent, server, _ = self._environments
        start = Start(self._attempt, {**gates, "TMPDIR": agent["TMPDIR"]}, server)
        self._enter("setup")
        try:
            self._watched = WatchedFiles(self._place.prepared, self._folders.workspace, self._places().hide)
            await start.set_up(self._steps, self._watched.begin)
            await start.check(self._steps)
        except NotReadyError as not_ready:
            self._stop_on_full_disk()
            reason = f"{not_ready}{explained(self._attempt.supervisor.confinement.take_refused_files())}"
            self._warn_of_refused()
            return self.trial(not_measured=not_ready.kind, reason=reason)
        async with AsyncExitStack() as self._kept:
            return await self._measured()

    async def _measured(self) -> Trial:
        self._enter("agent")
        checked = sum(step.result.duration_s for step in self._steps if step.kind == "health_check")
        place, account = self._place, self._attempt.supervisor.account
        with guidance_for_agent(place.prepared, place.of_agent, self._folders, account) as written:
            step = await run_agent(self._attempt, self._environments, checked, self._kept)
        if place.of_agent is place.prepared:  # what base's tool writes, with whatever text, is a product of the task
            self._watched.rewritten |= written
        if has_commands(self._scenario):
            self._folders.make_for_checks(account)
        self._enter("gates")
        self._warnings.extend(step.warnings)
        write_transcript(self._folders, step.events)
        trial = self.trial(
            end=step.end.end,
            end_message=step.end.message,
            not_measured=step.not_measured,
            reason=step.end.message if step.not_measured else "",
            agent_started_at=step.started_at,
            duration_s=step.duration_s,
            events=step.events,
            invocations=step.invocations,
        )
        trial = await self._checked(trial)
        self._warn_of_refused()
        return trial.model_copy(update=self._noted())

    async def _checked(self, trial: Trial) -> Trial:
        """Return the trial with all answers. What the agent changed is kept before checks run."""
        place, folders = self._place, self._folders
        after = small_snapshot(place.prepared, folders.workspace)
        lost = not await self._keep_diff(after)
        trial = trial.model_copy(update={"workspace_lost": lost, "unshown": self._unshown})
        if trial.not_measured is not None:
            return trial
        notes = Notes(self._steps, self._warnings)
        looked = after is not None and not self._attempt.server_port  # a server with a URL still runs
        if looked:
            self._watched.look(after)
        checks = Checks(self._attempt, self._environments, notes, self._port, self._watched, looked=looked)
        try:
            answers = await checks.run(trial)
            self._stop_on_full_disk()
        except BudgetEndedError as ended:
            return trial.model_copy(update={"not_measured": "budget", "reason": str(ended)})
        files = {"rewritten": named(self._watched.rewritten), "made": self._watched.made}
        return trial.model_copy(update={**answers, **files})

    def _stop_on_full_disk(self) -> None:
        """Raise OSError if the disk is full, because a failure may then not be the agent's or the tool's fault."""
        if (full := self._folders.on_full_disk()) is not None:
            raise OSError(f"there is no room left on the disk of {full}")

    def _enter(self, step: NetworkStep) -> None:
        """Let the commands from now on reach what this step may reach."""
        self._warn_of_refused()
        self._network_step = step
        self._attempt.supervisor.confinement.reach(
            self._place.network.of(step), int(self._port), self._attempt.server_port
        )
        self._attempt.supervisor.confinement.use(self._attempt.file_rules(step))

    def _warn_of_refused(self) -> None:
        """Name the hosts that the suite's `network` has kept from the step, and the files that it was refused."""
        confinement = self._attempt.supervisor.confinement
        for host, times in confinement.take_refused_hosts().items():
            self._refused_hosts.append(RefusedHost(step=self._network_step, host=host, times=times))
            again = f" {times} times" if times > 1 else ""
            self._warnings.append(
                f"{host} was refused{again}: `network.{self._network_step}` in the suite does not list it"
            )
        if paths := confinement.take_refused_files():
            self._warnings.append(explained(paths).strip(" ()"))

    def trial(self, **fields: object) -> Trial:
        """Return the record so far, with these fields set."""
        base = {"spec": self._attempt.spec, "started_at": self._started_at, "places": self._places()}
        base |= {"guidance": self._place.of_agent.guidance_hash, "untested": self._place.untested}
        return Trial.model_validate({**base, **self._noted(), **fields})

    def _noted(self) -> dict[str, object]:
        """Return what has been noted so far, as fields of the record."""
        hosts = tuple(self._refused_hosts)
        noted = {"steps": tuple(self._steps), "warnings": tuple(self._warnings), "refused_hosts": hosts}
        return {**noted, "faults": self._attempt.faults}

    def _places(self) -> Places:
        account = self._attempt.supervisor.account
        user = "" if account is None else str(account.uid)
        return Places(trial=str(self._folders.scratch), checkout=str(self._place.repo), user=user)

    async def _keep_diff(self, after: Snapshot | None) -> bool:
        """Store the agent's changes as a diff. Return False if some cannot be kept; the trial counts nevertheless.

        `after`: what the agent has left, if that is small.
        """
        scratch, workspace = self._folders.scratch / "diff", self._folders.workspace
        try:
            start = self._place.prepared.files
            diff = None if start is None or after is None else patch(start, after)
            if start is not None and after is not None and diff is not None:
                found = WorkspaceDiff(diff, unshown=new_folders(start, after))
            else:
                found = await asyncio.to_thread(workspace_diff, self._place.prepared, workspace, scratch)
            self._unshown = found.unshown
            write_file(self._folders.record / "workspace.diff", found.patch)
            if found.left_out:
                shown = ", ".join(found.left_out[:5])
                self._warnings.append(f"large files are not in the diff of what the agent changed: {shown}")
                return False
        except (OSError, NoDiffError) as error:
            self._warnings.append(f"what the agent changed is not kept: {error}")
            return False
        return True
