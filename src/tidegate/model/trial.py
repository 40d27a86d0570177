"""The raw record of a trial, what is kept of it for readers, and the session that a replay makes of it."""

import re
from typing import Any, Literal

from tidegate.model.access import RefusedHost
from tidegate.model.event import CallStatus, CommandResult, Event, Invocation, TrialEnd
from tidegate.model.plan import RowKey
from tidegate.model.probe import Answer
from tidegate.model.trial_spec import NotMeasured, TrialSpec
from tidegate.model.value import Value

# In a recorded session, these names stand for the folders and the user.
TRIAL, CHECKOUT, USER = "/tidegate-place/trial", "/tidegate-place/checkout", "tidegate-user"


class Places(Value):
    """The folders of one trial, and its user's number; '' if that is not known or not the trial's own."""

    trial: str = ""
    checkout: str = ""
    user: str = ""

    def hide(self, text: str) -> str:
        """Return the text with the names that stand for these places."""
        for place, name in ((self.trial, TRIAL), (self.checkout, CHECKOUT)):
            text = text.replace(name, f"{name} as text").replace(place, name) if place else text
        return re.sub(rf"\b{self.user}\b", USER, text) if self.user else text

    def fill_in(self, text: str) -> str:
        """Return the text with these places instead of the names that stand for them."""
        for place, name in ((self.trial, TRIAL), (self.checkout, CHECKOUT), (self.user, USER)):
            text = text.replace(name, place) if place else text
        return text


class Step(Value):
    """One command of setup, health check, post scripts or evaluator scripts, with its result."""

    kind: Literal["setup", "health_check", "post", "evaluator"]
    name: str = ""
    result: CommandResult


class Trial(Value):
    """The raw record of a trial, complete enough to measure it again without running anything.

    `end` is None if the agent never started. `not_measured` is the cause if there is no outcome, and `reason` states it
    in one sentence. `answers` are parallel to the scenario's gates (None: the gate has no request). `evaluator_answers`
    are parallel to its evaluators, each in the order of its requests. `judge_answers` belong to the scenario's own
    judge. Trials that read the same and have the same `opinion` share the judge's answers. `places` are the folders
    that it ran in.
    """

    spec: TrialSpec
    end: TrialEnd | None = None
    end_message: str = ""
    not_measured: NotMeasured | None = None
    reason: str = ""
    started_at: float = 0.0
    agent_started_at: float = 0.0  # seconds since the epoch; 0 if it never started
    duration_s: float | None = None  # seconds of the agent's step only
    around_s: float | None = None  # seconds of all else: setup, health check, gates and scripts
    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    calls_known: bool = True  # False if nothing recorded how often the tool was called, as in some imported logs
    answers: tuple[Answer | None, ...] = ()
    evaluator_answers: tuple[tuple[Answer, ...], ...] = ()
    judge_answers: tuple[Answer, ...] = ()
    opinion: str = ""
    places: Places = Places()
    guidance: str = ""  # hash of the guidance files that the agent was given
    rewritten: tuple[str, ...] = ()  # files of its start that the trial has changed or removed
    made: tuple[str, ...] = ()  # files and links of its start that the setup has made
    untested: tuple[str, ...] = ()  # the program that head's `path` finds, if any, and another one that was used
    faults: dict[str, str] = {}  # see TrialResult
    workspace_lost: bool = False  # the agent's changes can no longer be read
    unshown: tuple[str, ...] = ()  # changes that the diff does not show, such as repositories in the workspace
    warnings: tuple[str, ...] = ()
    refused_hosts: tuple[RefusedHost, ...] = ()

    def answers_of(self, number: int) -> tuple[Answer, ...]:
        """Return the answers to the evaluator at that position, from 0; empty if it was never asked."""
        return self.evaluator_answers[number] if number < len(self.evaluator_answers) else ()


class Record(Value):
    """What is kept of a trial for readers: its prompt, its events, and a diff of the agent's changes in the workspace.

    `problem` says what is missing from it.
    """

    prompt: str = ""
    events: tuple[Event, ...] = ()
    diff: str = ""
    problem: str = ""


LINK = " -> "  # after the name of a link that a setup has made, before where it leads
MANY = "more files than are named"  # that a setup has made
_STEP = re.compile(r" \((?:setup|check) \d+\)$")


def name_of(changed: str) -> str:
    """Return the name of a changed file, without the command that changed it."""
    return _STEP.sub("", changed)


TOOLS_MARK = "descriptions of the tools: sha256:"  # in the output of the check of an MCP server
FOLDER_MARK = "tidegate-folder:"  # in a replay's output, before the folder in which a shell command ended
STDERR = "standard error: "  # before what a step of a replay has printed there


def without_folder(output: str) -> str:
    """Return a replay's output without the last line that names the folder."""
    before, mark, after = output.rpartition(f"\n{FOLDER_MARK}")
    rest = after.partition("\n")[2]
    return f"{before}\n{rest}" if mark else output


class SessionStep(Value):
    """One call of an agent's tool, with its result. `command` is set for a shell."""

    tool: str
    command: str | None = None
    input: dict[str, Any] = {}
    status: CallStatus
    exit_code: int | None = None
    output: str = ""  # as the agent's log has it, cut to a few thousand characters
    at: float = 0.0  # seconds since the epoch, when it ended
    secs: float = 0.0  # how long it took, by the agent's log


Problem = Literal[
    "untraced",  # the agent's log does not have all of its calls
    "unended",  # a call or a step did not end
    "unrepeatable",  # a step cannot be done again
    "empty",  # the agent did nothing
]


class SessionRecord(Value):
    """What the agent did in one trial, and all that decides whether it can be replayed.

    `sha` is the commit that it ran on, `trial` its id. `shell` runs the agent's commands; with `keeps_folder`, a `cd`
    holds for the later ones. `problem`: why it cannot be replayed.
    """

    schema_version: Literal[1] = 1
    scenario: str
    agent: str
    trial: str
    sha: str
    at: float
    passed: bool
    guidance: str = ""  # hash of the guidance files that the agent was given
    shell: Literal["sh", "bash"] = "sh"
    keeps_folder: bool = False
    server: str = ""  # name of the MCP server under test
    tools: str = ""  # hash of the descriptions of its tools, as the agent was given them
    steps: tuple[SessionStep, ...] = ()
    problem: Problem | None = None

    @property
    def key(self) -> RowKey:
        """The row that this session belongs to."""
        return RowKey(scenario=self.scenario, agent=self.agent)
