"""What a reader should do after every verdict but "passed", and the reports of a run without a result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidegate.model.result import VerdictReason
from tidegate.reports.filters import code, fenced, prose

if TYPE_CHECKING:
    from tidegate.model.comparison import Row
    from tidegate.model.result import Result
    from tidegate.model.trial_spec import NotMeasured


_ACCEPT = "Intentional? A maintainer can accept this with the label `tidegate: accept`."
_AT_BASE = "This setting is read from the base branch: a change takes effect after merging."
_AGAIN = "Run it again"
_ACCEPTABLE: frozenset[VerdictReason] = frozenset({"regression", "checks_less", "metric", "interface", "unproven"})

OF_VERDICT: dict[VerdictReason, str] = {
    "regression": "Fix what broke these scenarios, in the code or in the docs that agents read.",
    "setup_regression": "Fix what keeps head's trials from starting; the row shows its output.",
    "checks_less": "Restore what is listed under “From the merge on”: it may check less.",
    "metric": f"Bring the metric back, or raise its margin in `policy.block_metrics`. {_AT_BASE}",
    "interface": "Restore what callers rely on, correct the docs, or shorten what every session has to read.",
    "unconfirmed": (
        "This may be noise. If the evidence shows a cause, fix it; if not, allow more trials with `trials.max` in"
        f" `tidegate.yaml`. {_AT_BASE}"
    ),
    "unproven": (
        "Fix what the row names: what keeps head's trials from passing or from being measured, or a changed file that"
        " the build replaces. If the budget ended the run, raise `budget` in `tidegate.yaml`. If only base is broken,"
        " fix base first."
    ),
    "nothing_passes": (
        "Fix the scenarios, or the docs that agents read, until one passes on base. Each scenario's page in"
        " `report.html` shows which gates fail."
    ),
    "missing_key": "Give the agent its key as an environment variable of the job, from a secret.",
    "no_scenarios": "Name scenario files under `scenarios` in `tidegate.yaml`; `tidegate check` lists what it finds.",
    "draft": "Mark the pull request as ready for review to run Tidegate.",
    "fork_without_key": (
        "A maintainer can review the changes and then run Tidegate with the key, if the repository has a workflow for"
        " that (`workflow_dispatch`)."
    ),
    "cancelled": f"{_AGAIN}, or push another commit.",
}
OF_UNMEASURED: dict[NotMeasured, str] = {
    "setup": "Fix the scenario's `setup`; the row shows its output.",
    "health_check": "Fix the tool under test, or its `health_check`; the row shows its output.",
    "build": "Fix `build` in `tidegate.yaml`, or what it builds; the row shows its output.",
    "secret": "List the variable in `pass_env`, and set it in the job from a secret; jobs of forks get no secrets.",
    "missing_agent": "Install the agent's program where the job runs.",
    "auth": "Give the agent a valid key: the provider refused this job's key.",
    "outage": f"{_AGAIN} when the provider answers; this pull request needs no change.",
    "infrastructure": f"{_AGAIN}. If it fails the same way again, fix what the trials' messages name on the machine.",
    "budget": f"Raise `budget` in `tidegate.yaml`, or run fewer scenarios or trials. {_AT_BASE}",
    "cancelled": OF_VERDICT["cancelled"],
    "judge": f"{_AGAIN} when the judge answers; the row shows why it did not.",
    "unreadable_judge": "Find out why the judge's answer cannot be read; the row shows it.",
    "evaluator": "Fix the evaluator; the row shows its message. `tidegate regrade` then needs no agent.",
    "no_trace": "Use an agent that records its calls, or an evaluator that does not need them.",
    "unfinished": f"{_AGAIN}: the run ended before this trial.",
    "record_lost": "Find out what removes the record of the tool's calls, or writes into it.",
    "rewritten": (
        "Let the tool leave alone what its trials begin with; a trial that does counts. If the change is meant, accept"
        " it: it counts once base's trials make it, too."
    ),
    "no_session": "Fix what keeps the agent's session or the MCP server from starting; the row has its output.",
    "resources": f"{_AGAIN}. If it fails the same way again, find out what fills the disk or the memory.",
    "refused_request": "Fix the tool's description or schema that the model's provider refuses.",
    "supervisor_lost": f"{_AGAIN}. If it fails the same way again, find out what stops the trial's processes.",
    "agent_error": "Fix what makes the agent's program stop; the row has its output.",
    "overtime": "Find out why head takes so much longer than base, or raise `budget` in `tidegate.yaml`.",
    "replay_only": "Run it without `--replay-only`, so that agents are run.",
    "worker_lost": f"{_AGAIN}. If it ends like this again, find out why the executor returned no results.",
    "lost_shard": "Run the job of the lost shard again, or raise its time limit; its log says why it ended.",
    "reported_outage": f"{_AGAIN}. If only head fails, see the agent's log.",
}
_BASE_FAILS = (
    "Find out why base fails here although its history passes: head's build or trials may have left something on the"
    " machine. If the target branch itself is broken now, run its history workflow (locally: `tidegate run --rev BRANCH"
    " --history`), then run this again."
)
_OF_SUITE = "No single row explains it: look in the table for small drops in many rows."
_CALM: frozenset[VerdictReason] = frozenset({"no_regression", "nothing_to_do", "nothing_compared", "accepted"})


def acceptance(result: Result) -> str:
    """Return how a maintainer accepts what got worse; '' if nothing is blocked or nothing can be accepted."""
    verdict = result.verdict
    return _ACCEPT if verdict.reason in _ACCEPTABLE and verdict.mode == "blocking" else ""


def advice(result: Result) -> tuple[str, ...]:
    """Return one text per cause, prefixed with the cause's name if there are several; none if nothing is to be done."""
    verdict = result.verdict
    if verdict.reason in _CALM:
        return ()
    by_cause = verdict.reason == "cancelled" or (
        verdict.reason in ("unproven", "unconfirmed") and any(map(_cause, result.rows))
    )
    if verdict.reason in OF_VERDICT and not by_cause:
        return (f"{_of_verdict(result)} {acceptance(result)}".rstrip(),)
    kinds = tuple(dict.fromkeys(_unmeasured(result))) or ("cancelled",)
    several = len(kinds) > 1
    steps = [f"{kind.replace('_', ' ')}: {OF_UNMEASURED[kind]}" if several else OF_UNMEASURED[kind] for kind in kinds]
    return (*steps, _ACCEPT) if verdict.reason == "unproven" and acceptance(result) else tuple(steps)


def _of_verdict(result: Result) -> str:
    if result.verdict.reason == "regression" and not any(row.state == "regressed" for row in result.rows):
        return _OF_SUITE
    if result.verdict.reason == "unproven" and any(row.kind == "base_fails" for row in result.rows):
        return _BASE_FAILS
    return OF_VERDICT[result.verdict.reason]


def _cause(row: Row) -> NotMeasured | None:
    """Return why the row or some of its trials have no outcome, if that is what to fix."""
    return row.why.cause if row.why is not None and row.why.code == "some_lost" else row.not_measured


def _unmeasured(result: Result) -> Iterable[NotMeasured]:
    """Return why rows were not measured; if all rows were, why single trials were not."""
    from tidegate.model.trial_spec import SETUP_KINDS

    rows = [cause for row in result.rows if (cause := _cause(row))]
    trials = [trial.not_measured for trial in result.trials if trial.not_measured]
    return rows or [kind for kind in trials if kind not in SETUP_KINDS]


_WORDS: dict[VerdictReason, str] = {
    "fork_without_key": "a fork has no key",
    "draft": "the pull request is a draft",
    "nothing_to_do": "nothing to do",
}
_NOT_GREEN = "Nothing was measured: this is neither a pass nor a failure."
_FORK = "The check is still green, because the author of a fork cannot fix this."


def render_not_run(reason: VerdictReason, sentence: str) -> str:
    """Return the summary of a run that was skipped. Its heading must not look like a pass."""
    said = _WORDS.get(reason, reason.replace("_", " "))
    parts = [f"## ⏭️ Tidegate: not run · {said}", prose(sentence, 600), _NOT_GREEN]
    if reason == "fork_without_key":
        parts.append(_FORK)
    if reason in OF_VERDICT:
        parts.append(_what_to_do(OF_VERDICT[reason]))
    return "\n\n".join(parts) + "\n"


def render_could_not_run(message: str, advice: str) -> str:
    """Return the summary of a run that ended in an error. Both texts may quote files of the pull request."""
    return f"## ⛔ Tidegate could not run\n\n{render_error(message, advice)}"


def render_error(message: str, advice: str) -> str:
    """Return an error and its advice, without a heading."""
    return f"{fenced(message)}\n\n{_what_to_do(prose(advice, 600))}\n"


def render_no_verdict(instance: str, head: str, why: str, detail: str) -> str:
    """Return the comment of a run without a verdict on the commit `head`. `why` is a few words, `detail` Markdown."""
    named = "" if instance == "default" else f" {code(instance)}"
    return f"## ⛔ Tidegate{named}: no verdict for {code(head[:7])}: {why}\n\n{detail.strip()}\n"


def render_cancelled() -> str:
    """Return the summary of a run that was cancelled before it had a verdict."""
    return f"## ⏹️ Tidegate: cancelled\n\n{CANCELLED}"


def _what_to_do(advice: str) -> str:
    return f"**What to do:** {advice}"


CANCELLED = (
    "The run was cancelled before it reached a verdict: nothing is known about this commit.\n\n"
    f"{_what_to_do(OF_VERDICT['cancelled'])}\n"
)
