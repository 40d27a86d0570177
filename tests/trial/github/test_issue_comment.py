"""Commands in comments: who may, for which commit, and what nobody can make them do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.gh.emulated.front import Fault
from tests.gh.emulated.runner import pull_request_payload
from tests.gh.fake.server import PullRequest
from tests.gh.fake.state import BOT, CommentRow, RunRow
from tests.gh.fixtures import make_result
from tests.gh.job import Job, connect_here
from tests.make import row
from tests.unit.github.test_artifact import packed
from tidegate.github import Outside
from tidegate.github.comment import with_marker
from tidegate.github.event import PullRequestEvent, read_event
from tidegate.github.job import Job as ActionJob
from tidegate.github.publishing import Subject
from tidegate.github.pull_request import conclude
from tidegate.github.settings import GitHubJob, Settings
from tidegate.github.slash_command import SlashCommand, accepted_record, parse_command
from tidegate.model.comparison import BaseCounts, HeadCounts
from tidegate.model.marker import Marker
from tidegate.model.plan import RowKey
from tidegate.model.progress import Progress
from tidegate.model.suite import RowState
from tidegate.reports.result_json import result_json

LABEL = "tidegate: accept"
OLD, NEW = "1" * 40, "2" * 40


@pytest.fixture
def red(job: Job) -> Job:
    """A pull request whose run 5 has ended with a failed verdict, which stands in the comment."""
    job.pull.push(OLD)
    job.pull.repo.runs.append(RunRow(5, 70, "pull_request", OLD))
    verdict(job.pull, OLD, 5)
    return job


def verdict(pull: PullRequest, head: str, run: int, **fields: Any) -> None:
    regressed = (RowKey(scenario="add a note", agent="docs"),)
    values = {"verdict": "failed", "exit_code": 1, "regressed": regressed, "instance": "default", **fields}
    pull.say(with_marker(Marker(head=head, run=run, attempt=1, **values), "what it says"), BOT)


def reactions(job: Job) -> list[tuple[str, str]]:
    return [reaction for one in job.pull.repo.comments for reaction in one.reactions]


def answer(job: Job) -> str:
    return job.pull.bot_comments()[-1].body


def rerun(job: Job, head: str, **states: RowState) -> tuple[int, str]:
    """The end of the second attempt of the pull request's run, with what it measured; and its log."""
    payload = pull_request_payload(job.pull.repository, job.pull.number, head, "0" * 40)
    step = job.make_step(job.repo.root, job.github.api_url)
    environ = step.environ("pull_request", payload, {"github_token": job.github.token}, run=(5, 2))
    said: list[str] = []
    outside = Outside(environ, Progress(), connect_here, said.append, lambda _: None)
    ours = ActionJob(Settings.from_environ(environ), GitHubJob.from_environ(environ), outside)
    event = read_event("pull_request", payload)
    assert isinstance(event, PullRequestEvent)
    result = make_result(head=head, **(states or {"add a note": "regressed"}))
    code = asyncio.run(conclude(event, result, Subject(job.pull.number, head, ours.connect()), ours))
    return code, "\n".join(said)


def nothing_done(job: Job) -> bool:
    """No label, no re-run, no record."""
    records = [one for one in job.pull.comments() if one.body.startswith("<!-- tidegate-accepted")]
    return not job.pull.row.labels and all(run.attempts == 1 for run in job.pull.repo.runs) and not records


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/tidegate rerun", SlashCommand(verb="rerun")),
        ("/tidegate  rerun  add a note \r\nplease", SlashCommand(verb="rerun", scenario="add a note")),
        ("/tidegate accept `add a note`", SlashCommand(verb="accept", scenario="add a note")),
        ("/tidegate explain add[2]", SlashCommand(verb="explain", scenario="add[2]")),
        ("/tidegate explain", SlashCommand(verb="help")),
        ("/tidegate", SlashCommand(verb="help")),
        ("/tidegate merge", SlashCommand(verb="help")),
        ("/tidegates accept", None),
        (" /tidegate accept", None),
        ("> /tidegate accept", None),
        ("I would write\n/tidegate accept", None),
        ("", None),
    ],
)
def test_a_command_is_the_first_line(body: str, command: SlashCommand | None) -> None:
    assert parse_command(body) == command


def test_an_accepted_regression_is_green_once_the_run_has_ended_again(job: Job) -> None:
    assert job.run()[0].exit_code == 1
    job.pull.repo.runs.append(RunRow(1, 70, "pull_request", job.pull.row.head_sha))

    accepted, _ = job.comment("/tidegate accept")
    again, step = job.run(action="synchronize", attempt=(1, 2))

    assert accepted.exit_code == 0, accepted.stderr
    assert reactions(job) == [(BOT, "+1")]
    assert (job.pull.row.labels, job.pull.repo.runs[0].attempts) == ([LABEL], 2)
    assert (again.exit_code, step.outputs()["reason"]) == (0, "accepted"), again.stdout
    assert any("Accepted by `olivia`" in one.body for one in job.pull.bot_comments())
    assert len([one for one in job.pull.bot_comments() if one.body.startswith("<!-- tidegate ")]) == 1


def test_the_next_push_ends_it_even_if_the_label_stays(red: Job) -> None:
    red.comment("/tidegate accept")
    assert rerun(red, OLD)[0] == 0

    red.pull.push(NEW)

    code, log = rerun(red, NEW)
    assert (code, red.pull.row.labels) == (1, [LABEL])
    assert "no comment of a person that accepts this commit" in log


def taken_back(job: Job, row: CommentRow) -> None:
    job.pull.repo.comments.remove(row)


def edited(job: Job, row: CommentRow) -> None:
    row.body = "never mind"


def by_a_stranger(job: Job, row: CommentRow) -> None:
    row.author = "mallory"


def put_back(job: Job, row: CommentRow) -> None:
    job.pull.row.labels.remove(LABEL)
    job.pull.row.events.append(("unlabeled", LABEL, "tristan", next(job.github.state.clock)))
    job.pull.label(LABEL, by="tristan")


def no_longer_trusted(job: Job, row: CommentRow) -> None:
    job.pull.repo.roles.pop("olivia")


@pytest.mark.parametrize("change", [taken_back, edited, by_a_stranger, put_back, no_longer_trusted])
def test_the_run_asks_github_whether_it_still_holds(red: Job, change: Callable[[Job, CommentRow], None]) -> None:
    red.comment("/tidegate accept")
    (row,) = [one for one in red.pull.repo.comments if one.body == "/tidegate accept"]
    change(red, row)

    assert rerun(red, OLD)[0] == 1


def test_a_record_that_is_not_ours_accepts_nothing(red: Job) -> None:
    """Another workflow sets the label, and a stranger forges the record of a comment that accepted another commit."""
    command = red.pull.say("/tidegate accept", "olivia")
    red.pull.say(f"{accepted_record(command.id, OLD)}\n", "mallory")
    red.pull.label(LABEL, by=BOT)

    code, log = rerun(red, OLD)

    assert code == 1
    assert f"`{BOT}` put the label there" in log


def test_a_label_and_a_record_of_another_bot_accept_nothing(red: Job) -> None:
    """A bot that repeats what a stranger writes, and sets labels on request."""
    command = red.pull.say("/tidegate accept", "olivia")
    red.pull.say(f"{accepted_record(command.id, OLD)}\n", "helper[bot]")
    red.pull.label(LABEL, by="helper[bot]")

    assert rerun(red, OLD)[0] == 1


@pytest.mark.parametrize(
    ("worse", "code"), [({"add a note": "regressed"}, 0), ({"add a note": "regressed", "list": "unconfirmed"}, 1)]
)
def test_an_accepted_scenario_is_all_that_may_have_got_worse(red: Job, worse: dict[str, RowState], code: int) -> None:
    red.comment("/tidegate accept add a note")

    ended, log = rerun(red, OLD, **worse)

    assert ended == code
    assert ("the verdict has other reasons" in log) == (code == 1)


@pytest.mark.parametrize(
    ("body", "worse"), [("/tidegate accept add a note", True), ("/tidegate accept list notes", False)]
)
def test_a_scenario_is_named_only_if_it_is_all_that_got_worse(red: Job, body: str, worse: bool) -> None:
    red.comment(body)

    assert reactions(red) == [(BOT, "+1" if worse else "confused")]
    assert nothing_done(red) != worse
    assert ("what got worse is `add a note`" in answer(red)) != worse


@pytest.mark.parametrize("body", ["/tidegate accept", "/tidegate rerun", "/tidegate explain add a note", "/tidegate"])
@pytest.mark.parametrize("by", ["tristan", "mallory", "ghost"], ids=["who may triage", "a reader", "unknown"])
def test_who_may_not_push_gets_a_reaction_and_nothing_else(red: Job, by: str, body: str) -> None:
    ran, _ = red.comment(body, by)

    assert ran.exit_code == 0
    assert (reactions(red), len(red.pull.comments())) == ([(BOT, "-1")], 2)
    assert nothing_done(red)
    assert f"`{by}` may not push" in ran.stdout


@pytest.mark.parametrize(
    "changes",
    [
        {"user_type": "Bot", "by": BOT},
        {"user_type": "Bot"},
        {"action": "edited"},
        {"action": "deleted"},
        {"sender": "mallory"},
        {"issue": True},
    ],
    ids=["our own", "a bot's", "an edited one", "a deleted one", "another's event", "on an issue"],
)
def test_what_is_no_command_asks_github_for_nothing(red: Job, changes: dict[str, Any]) -> None:
    ran, _ = red.comment("/tidegate accept", **changes)

    assert (ran.exit_code, red.github.front.seen) == (0, [])
    assert nothing_done(red)


def test_an_ordinary_comment_asks_github_for_nothing(red: Job) -> None:
    assert (red.comment("Looks good")[0].exit_code, red.github.front.seen) == (0, [])


def push(job: Job) -> None:
    job.pull.push(NEW)


def push_and_verdict(job: Job) -> None:
    job.pull.push(NEW)
    (standing,) = [row for row in job.pull.repo.comments if row.author == BOT]
    standing.body = standing.body.replace(OLD, NEW)
    standing.updated = next(job.github.state.clock)


@pytest.mark.parametrize(
    ("change", "said"),
    [(push, "There is no verdict on `2222222` yet"), (push_and_verdict, "`2222222` is newer than your comment")],
)
def test_what_is_pushed_after_the_comment_is_not_accepted(red: Job, change: Callable[[Job], None], said: str) -> None:
    red.comment("/tidegate accept", then=lambda _: change(red))

    assert said in answer(red)
    assert reactions(red) == [(BOT, "confused")]
    assert nothing_done(red)


@pytest.mark.parametrize("change", [edited, by_a_stranger, taken_back])
def test_a_comment_that_was_changed_before_it_was_read_does_nothing(
    red: Job, change: Callable[[Job, CommentRow], None]
) -> None:
    red.comment("/tidegate accept", then=lambda row: change(red, row))

    assert nothing_done(red)


def test_green_needs_no_acceptance(job: Job) -> None:
    job.pull.push(OLD)
    verdict(job.pull, OLD, 5, verdict="passed", exit_code=0)

    job.comment("/tidegate accept")

    assert "has to be accepted" in answer(job)
    assert nothing_done(job)


def test_a_label_of_somebody_else_is_set_anew(red: Job) -> None:
    red.pull.label(LABEL, by="tristan")

    red.comment("/tidegate accept")

    assert red.pull.row.labels == [LABEL]
    assert [event[2] for event in red.pull.row.events] == ["tristan", BOT, BOT]


@pytest.mark.parametrize("command", ["rerun", "accept"])
def test_a_page_of_a_proxy_is_no_receipt(red: Job, command: str) -> None:
    red.github.front.faults.append(Fault("POST", "/rerun$", status=200, body="<html>Sign in</html>"))

    ran, _ = red.comment(f"/tidegate {command}")

    assert (ran.exit_code, [reaction for _, reaction in reactions(red)]) == (4, ["confused"])


@pytest.mark.parametrize("command", ["rerun", "accept"])
def test_a_run_that_has_not_ended_is_left_alone(red: Job, command: str) -> None:
    red.pull.repo.runs[0].completed = False

    red.comment(f"/tidegate {command}")

    assert "has not ended yet" in answer(red)
    assert nothing_done(red)


def test_a_run_is_started_again(red: Job) -> None:
    red.comment("/tidegate rerun list notes")

    assert (red.pull.repo.runs[0].attempts, red.pull.row.labels) == (2, [])
    assert "[The run](https://github.com/acme/repo-1/actions/runs/5)" in answer(red)
    assert "It compares all scenarios" in answer(red)
    assert reactions(red) == [(BOT, "+1")]


def test_a_run_that_wrote_no_comment_is_found_by_its_workflow(red: Job) -> None:
    red.pull.push(NEW)
    runs = [(6, 70, "pull_request"), (7, 70, "pull_request"), (8, 71, "pull_request"), (9, 70, "push")]
    red.pull.repo.runs += [RunRow(id, workflow, event, NEW) for id, workflow, event in runs]

    red.comment("/tidegate rerun")

    assert [run.id for run in red.pull.repo.runs if run.attempts == 2] == [7]


def test_without_a_comment_of_ours_there_is_nothing_to_run_again(job: Job) -> None:
    job.comment("/tidegate rerun")

    assert "start it again under Checks" in answer(job)


def test_without_the_permission_it_fails_and_says_which(red: Job) -> None:
    ran, _ = red.comment("/tidegate rerun", profile="publish")

    assert ran.exit_code == 4
    assert "  actions: write" in ran.stderr
    assert reactions(red) == [(BOT, "confused")]


def test_a_dry_run_posts_nothing(red: Job) -> None:
    ran, _ = red.comment("/tidegate accept", inputs={"dry_run": "true"})

    assert (ran.exit_code, red.github.front.writes()) == (0, [])
    assert "would be carried out" in ran.stdout


def test_a_word_that_is_no_command_is_answered_with_those_that_are(red: Job) -> None:
    red.comment("/tidegate merge")

    assert "`/tidegate explain scenario`" in answer(red)


def explainable(job: Job, **fields: Any) -> None:
    rows = (
        row("regressed", scenario="add a note", agent="docs", base=BaseCounts(trials=3, passes=3),
            head=HeadCounts(trials=3, passes=0)),
        row("ok", scenario="list", agent="docs", base=BaseCounts(trials=3, passes=3),
            head=HeadCounts(trials=3, passes=3)),
    )  # fmt: skip
    result = make_result(head=OLD, add="regressed").model_copy(update={"rows": rows})
    job.pull.upload(5, "tidegate-result", packed(result_json(result)))


@pytest.mark.parametrize(
    ("scenario", "said"), [("add a note", "❌ regressed: `add a note`"), ("list", "✅ ok: `list`")]
)
def test_a_scenario_is_explained(red: Job, scenario: str, said: str) -> None:
    explainable(red)

    red.comment(f"/tidegate explain {scenario}")

    assert said.casefold() in answer(red).casefold()
    assert f"{OLD[:7]}" in answer(red)
    assert "runs/5/artifacts/" in answer(red)
    assert reactions(red) == [(BOT, "+1")]
    assert nothing_done(red)


def test_a_name_that_is_none_is_answered_with_those_that_are(red: Job) -> None:
    explainable(red)

    red.comment("/tidegate explain @everybody")

    assert "There is no scenario `@everybody`. These were compared: `add a note`, `list`." in answer(red)


def test_a_result_that_is_gone_is_not_explained(red: Job) -> None:
    red.comment("/tidegate explain list")

    assert "No run on this pull request has uploaded a result" in answer(red)


def test_a_fork_s_result_is_explained_as_not_verified(job: Job) -> None:
    job.pull.push(OLD)
    verdict(job.pull, OLD, 5, exit_code=None)
    explainable(job)

    job.comment("/tidegate explain list")

    assert "Not verified" in answer(job)
