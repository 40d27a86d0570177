"""Line 1 of the pull request comment: it identifies the comment and holds all that the next run needs from it."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from typing import Self
from urllib.parse import quote, unquote

from tidegate.model.plan import RowKey
from tidegate.model.value import Value

MAX_ROWS_BYTES = 4_000  # bytes of regressed rows' names; rows that do not fit are dropped
MAX_RED = 400  # names of what is red; those that do not fit are not accepted
REGRESSED = " regressed"  # the end of a regressed row's name
MAX_BYTES = MAX_ROWS_BYTES + 17 * MAX_RED + 4_000  # of the whole line; Settings limits the instance's name
_LINE = re.compile(r"<!-- tidegate((?: [a-z]+=[\w.~%/,-]*)+) -->", re.ASCII)


class Acceptance(Value):
    """Who accepted the regressions of a commit against a base branch, and the workflow run that recorded it.

    `red`: what the comment showed as red when the label was put there, as in the marker.
    """

    sha: str
    base: str
    actor: str
    run: int
    red: tuple[str, ...] = ()

    def format(self) -> str:
        """Return the value as it is written in the marker."""
        return f"{_encoded(self.sha)}/{_encoded(self.base[:200])}/{_encoded(self.actor)}/{self.run}"

    def covers(self, name: str) -> bool:
        """Return True if it is about this name; that a row regressed covers also that nothing is proven of it."""
        return not {short(name), short(name + REGRESSED)}.isdisjoint(self.red)

    @classmethod
    def parse(cls, text: str, red: tuple[str, ...]) -> Self | None:
        """Return the acceptance; None if there is none or it is damaged."""
        sha, base, actor, run = (*text.split("/"), "", "", "", "")[:4]
        if not (sha and base and actor and run.isdecimal()):
            return None
        return cls(sha=unquote(sha), base=unquote(base), actor=unquote(actor), run=int(run), red=red)


class Marker(Value):
    """The comment's instance, head and run, and how that run ended: `verdict` and `reason` are the verdict's.

    `run` and `attempt` are GitHub's run id and attempt, 0 outside GitHub. `regressed` lists the rows shown as
    regressed. `red` has the `short` of all that made the verdict red, or that was accepted. `accepted` is set if a
    maintainer accepted this head. `exit_code` is None without a verdict, and for one of a fork's own run. `base` is the
    branch that head was compared with. `seal` shows that a job with the model's key wrote it.
    """

    instance: str
    head: str
    run: int = 0
    attempt: int = 0
    verdict: str = ""
    reason: str = ""
    exit_code: int | None = None
    base: str = ""
    regressed: tuple[RowKey, ...] = ()
    red: tuple[str, ...] = ()
    accepted: Acceptance | None = None
    seal: str = ""

    def sealed(self, key: bytes) -> Self:
        """Return the marker with a seal that cannot be forged without the key; none without a key or a verdict."""
        accepted = self.accepted.format() if self.accepted else ""
        text = "\0".join((self.instance, self.head, self.base[:200], self.verdict, str(self.exit_code), accepted))
        known = key and self.exit_code is not None
        return self.model_copy(update={"seal": hmac.new(key, text.encode(), "sha256").hexdigest() if known else ""})

    def has_seal_of(self, key: bytes) -> bool:
        """Return True if a job with this key wrote the verdict."""
        return bool(key) and hmac.compare_digest(self.sealed(key).seal, self.seal)

    @property
    def age(self) -> tuple[int, int]:
        """A sort key: the newer run is larger."""
        return self.run, self.attempt

    def format(self) -> str:
        """Return the line. Values are percent-encoded, so none can end the HTML comment; empty ones are left out."""
        values = {
            "instance": _encoded(self.instance),
            "head": _encoded(self.head),
            "run": str(self.run or ""),
            "attempt": str(self.attempt or ""),
            "verdict": _encoded(self.verdict),
            "reason": _encoded(self.reason),
            "base": _encoded(self.base[:200]),
            "exit": "" if self.exit_code is None else str(self.exit_code),
            "regressed": ",".join(_that_fit(self.regressed)),
            "red": ",".join(self.red[:MAX_RED]),
            "accepted": self.accepted.format() if self.accepted else "",
            "seal": self.seal,
        }
        return f"<!-- tidegate {' '.join(f'{name}={value}' for name, value in values.items() if value)} -->"

    @classmethod
    def parse(cls, body: str) -> Self | None:
        """Return the marker from a comment's first line; None if there is none or it is damaged."""
        found = _LINE.fullmatch(body.partition("\n")[0].rstrip())
        if found is None:
            return None
        values = dict(pair.split("=", 1) for pair in found[1].split())
        run, attempt = values.get("run", "0"), values.get("attempt", "0")
        red = tuple(filter(None, values.get("red", "").split(",")))
        if not (values.get("instance") and run.isdecimal() and attempt.isdecimal()):
            return None
        return cls(
            instance=unquote(values["instance"]),
            head=unquote(values.get("head", "")),
            run=int(run),
            attempt=int(attempt),
            verdict=unquote(values.get("verdict", "")),
            reason=unquote(values.get("reason", "")),
            base=unquote(values.get("base", "")),
            exit_code=int(values["exit"]) if values.get("exit", "").isdecimal() else None,
            regressed=tuple(_rows(values.get("regressed", ""))),
            red=red,
            accepted=Acceptance.parse(values.get("accepted", ""), red),
            seal=values.get("seal", "") if values.get("seal", "").isalnum() else "",
        )


class Fixed(Value):
    """Rows that were regressed at head `since` and pass again."""

    since: str
    rows: tuple[RowKey, ...]


def short(name: str) -> str:
    """Return a name of what is red as the marker has it: of 16 characters, whatever its length."""
    return hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()[:16]


def _encoded(text: str) -> str:
    return quote(text, safe="").replace("--", "-%2D")


def _that_fit(rows: Iterable[RowKey]) -> Iterator[str]:
    left = MAX_ROWS_BYTES
    for row in rows:
        text = f"{_encoded(row.scenario)}/{_encoded(row.agent)}"
        left -= len(text) + 1
        if left < 0:
            return
        yield text


def _rows(text: str) -> Iterator[RowKey]:
    for name in filter(None, text.split(",")):
        scenario, _, agent = name.partition("/")
        yield RowKey(scenario=unquote(scenario), agent=unquote(agent))
