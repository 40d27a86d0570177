"""Whole jobs in real time with a fault at one of their requests to GitHub: no pause is shortened (`make faults`)."""

from __future__ import annotations

import itertools
import os
import queue
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Repository
from tests.gh.emulated.front import Fault, Front
from tests.gh.emulated.runner import Step, pull_request_payload
from tests.gh.fake.server import BlobHost, FakeGitHub, PullRequest
from tests.gh.fake.state import BOT
from tests.gh.job import RENAMED
from tests.journeys.conftest import FILES
from tests.thorough.github.test_fault_layer import ENDLESS, HEAD, KINDS, LABEL, verdicts_of
from tests.warm import Warm
from tidegate.github.comment import with_marker
from tidegate.model.marker import Marker
from tidegate.model.result import Result

REQUIRED = "TIDEGATE_FAULTS"  # set by `make faults` to the number of jobs at a time; without it these tests are skipped
LIMIT = 61.0  # seconds for GitHub: a minute, and one for what cannot be measured exactly
OLD = "0" * 40
CHANGES: dict[str, dict[str, Any]] = {
    "opened": {"action": "opened"},
    "pushed": {"action": "synchronize"},
    "accepted": {"action": "labeled", "label": LABEL, "sender": "olivia"},
}
NUMBERS = re.compile(r"(?<=/)([0-9a-f]{40}|\d+)(?=[/?]|$)")


def drip(start: bytes, part: bytes) -> Callable[[Any], None]:
    """An answer that goes on for longer than any job waits."""

    def speak(out: Any) -> None:
        out.write(start)
        for _ in range(200):
            out.write(part)
            out.flush()
            time.sleep(0.5)

    return speak


FOR_EVER: dict[str, dict[str, Any]] = {
    "202 for ever": KINDS["202 for ever"],
    "no answer": {"speak": drip(b"", b"")},
    "a byte now and then, of the headers": {"speak": drip(HEAD, b"X: y\r\n")},
    "a byte now and then, of the body": {"speak": drip(HEAD + b"Content-Length: 999\r\n\r\n", b"[")},
}


class Case(NamedTuple):
    """One job: what happened to the pull request, which request goes wrong, how, and how often."""

    event: str
    method: str
    path: str
    kind: str
    times: int


@dataclass
class Ended:
    """What the job left behind. `seconds`: all of it but the comparison."""

    code: int
    seconds: float
    stderr: str
    verdicts: list[str]
    asked: list[tuple[str, str]]


class Place:
    """A GitHub, and a loaded program, for one job after another."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.front, self.blobs, self.warm = Front(), BlobHost(), Warm()
        self.github = FakeGitHub(self.front, self.blobs)
        self.folder, self.template, self.jobs = folder, template, 0

    def stop(self) -> None:
        self.warm.stop()
        self.front.stop()
        self.blobs.stop()

    def run(self, event: str, fault: Fault | None = None, *, asks: bool = True) -> Ended:
        """One job on a new pull request. `asks`: it has a token, so that it asks GitHub."""
        self.jobs += 1
        folder = self.folder / str(self.jobs)
        repository = Repository.__new__(Repository)
        repository.root = Path(shutil.copytree(self.template, folder / "work", symlinks=True))
        self.front.reset()
        self.github.state.left.clear()
        pull, head = self.github.pull_request(), repository.git("rev-parse", "pr")
        pull.push(head)
        _before(event, pull)
        self.front.faults[:] = [fault] if fault else []
        payload = pull_request_payload(
            pull.repository, 1, head, repository.git("rev-parse", "main"), "pr", **CHANGES[event]
        )
        step = Step(folder / "step", repository.root, self.front.url)
        inputs = {"github_token": self.github.token_like("documented") if asks else ""}
        environ = step.environ("pull_request", payload, inputs, (9, 2 if event == "accepted" else 1))
        ran, seconds = self._timed(environ, repository.root)
        result = Result.model_validate_json((repository.root / ".tidegate/pr/result.json").read_bytes())
        asked = [(seen.method, _pattern(seen.path)) for seen in self.front.seen]
        self.front.faults.clear()
        shutil.rmtree(folder)
        verdicts = verdicts_of(pull, head)
        return Ended(ran[0], seconds - result.cost.seconds, ran[1], verdicts, asked)

    def _timed(self, environ: dict[str, str], root: Path) -> tuple[tuple[int, str], float]:
        before = time.monotonic()
        done = self.warm.run(["action"], root, environ, "", 600)
        return (done.returncode, done.stderr), time.monotonic() - before


def _before(event: str, pull: PullRequest) -> None:
    """Older commits were green, twice, and accepted; or nothing was there."""
    for run in range(0 if event == "opened" else 2):
        older = Marker(instance="default", head=OLD, run=run, attempt=1, verdict="passed")
        pull.say(with_marker(older, "passed"), BOT)
    if event != "opened":
        pull.label(LABEL)


def _pattern(path: str) -> str:
    """The request's path with every repository and every number, and without its query."""
    path = re.sub(r"^/repos/acme/repo-\d+", "", path.partition("?")[0])
    return NUMBERS.sub("[0-9a-f]+", path) + "([?]|$)"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[queue.Queue[Place]]:
    """As many as jobs at a time. Most of a job is waiting."""
    if not os.environ.get(REQUIRED):
        pytest.skip("takes an hour: make faults")
    template = Repository(tmp_path_factory.mktemp("template") / "work")
    template.commit(FILES)
    template.branch("pr", {"bin/notes": RENAMED})
    template.git("checkout", "--quiet", "--detach", "pr")
    free: queue.Queue[Place] = queue.Queue()
    made = [Place(tmp_path_factory.mktemp("place"), template.root) for _ in range(int(os.environ[REQUIRED]))]
    for place in made:
        place.warm.run(["--version"], template.root, {}, "", 600)  # now it has loaded
        free.put(place)
    yield free
    for place in made:
        place.stop()


@contextmanager
def one_of(places: queue.Queue[Place]) -> Iterator[Place]:
    place = places.get()
    try:
        yield place
    finally:
        places.put(place)


def cases(places: queue.Queue[Place]) -> list[Case]:
    """Every kind of fault at every request that a job makes, once and for ever."""
    events: dict[tuple[str, str], list[str]] = {}
    for event in CHANGES:
        with one_of(places) as place:
            ended = place.run(event)
        assert is_right(Case(event, "", "", "none", 0), ended), ended
        assert (ended.code, len(ended.verdicts)) == (event != "accepted", 1), ended
        for request in dict.fromkeys(ended.asked):
            events.setdefault(request, []).append(event)
    asked = itertools.product(events.items(), enumerate(KINDS), (1, 99))
    return [Case(on[number % len(on)], *request, kind, times) for (request, on), (number, kind), times in asked]


def run_case(case: Case, places: queue.Queue[Place], *, exactly: bool = False) -> Ended:
    """One job with the fault. `exactly`: without the seconds of the job's own work, measured without a token."""
    fault = Fault(case.method, case.path, times=case.times, **(KINDS | FOR_EVER)[case.kind])
    with one_of(places) as place:
        own = place.run(case.event, asks=False).seconds if exactly else 0.0
        ended = place.run(case.event, fault)
    return replace(ended, seconds=ended.seconds - own)


def test_no_fault_takes_longer_than_the_limit(places: queue.Queue[Place]) -> None:
    """What is over the limit is run again, a few at a time, without the job's own work in its time."""
    every = cases(places)
    assert len(every) >= 500
    ended: dict[Case, Ended] = {}
    with ThreadPoolExecutor(places.qsize()) as pool:
        for case, job in zip(every, pool.map(lambda one: run_case(one, places), every), strict=True):
            ended[case] = job
            if len(ended) % 100 == 0:
                print(f"{len(ended)} of {len(every)} jobs", flush=True)
        print(told(ended), flush=True)
    late = [case for case, job in ended.items() if job.seconds > LIMIT]
    with ThreadPoolExecutor(4) as pool:
        again = pool.map(lambda one: run_case(one, places, exactly=True), late)
        ended |= dict(zip(late, again, strict=True))
    print(f"without their own work in {len(late)}: {told(ended)}")

    assert [(case, job) for case, job in ended.items() if not is_right(case, job)] == []


def is_right(case: Case, ended: Ended) -> bool:
    """The verdict is the exit code; an acceptance that GitHub does not confirm is none."""
    codes = (0, 1) if case.event == "accepted" else (1,)
    shown = {"passed" if ended.code == 0 else "failed"}
    return (
        ended.code in codes
        and ended.seconds <= LIMIT
        and len(ended.verdicts) <= 1
        and set(ended.verdicts) <= shown
        and "Traceback" not in ended.stderr
    )


def told(ended: Mapping[Case, Ended]) -> str:
    """The numbers of all jobs."""
    jobs = list(ended.values())
    seconds = sorted(job.seconds for job in jobs)
    wrong, late = sum(not is_right(*one) for one in ended.items()), sum(second > LIMIT for second in seconds)
    comments = Counter(len(job.verdicts) for job in jobs)
    return (
        f"{len(jobs)} jobs, {wrong} wrong, {late} over {LIMIT:g} s; the longest {seconds[-1]:.1f} s, the median"
        f" {seconds[len(seconds) // 2]:.1f} s;"
        f" comments {dict(sorted(comments.items()))}"
    )


def test_all_that_never_ends_does_so_here() -> None:
    assert set(FOR_EVER) == set(ENDLESS)
