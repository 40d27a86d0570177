"""The event that started the job: its name and payload → one frozen value."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.value import Value

DEPENDABOT = "dependabot[bot]"


class PullRequestEvent(Value):
    """A pull request was opened, got new commits, a label, … `title` and the refs are its author's words: data."""

    number: int
    action: str
    title: str
    draft: bool
    head_sha: str
    head_ref: str
    head_repo: str | None  # owner/name; None: the fork has been deleted
    base_sha: str
    base_ref: str
    base_repo: str
    sender: str

    @property
    def is_fork(self) -> bool:
        """Head is not a branch of this repository, so the job has neither secrets nor a token that may write."""
        return self.head_repo != self.base_repo

    @property
    def without_secrets(self) -> bool:
        """GitHub gives no secrets: a fork, or Dependabot, which it treats as one."""
        return self.is_fork or self.sender == DEPENDABOT


class MergeGroupEvent(Value):
    """A merge queue asks whether these commits may go in together; there is no pull request to comment on."""

    head_sha: str
    base_sha: str
    base_ref: str


class OtherEvent(Value):
    """Any event that has no two sides to compare."""

    name: str

    @property
    def explanation(self) -> str:
        """One sentence for the log."""
        return f"`{self.name}` is no pull request: there are no two sides to compare."


Event = PullRequestEvent | MergeGroupEvent | OtherEvent


def read_event(name: str, payload: Mapping[str, object]) -> Event:
    """What happened. ConfigurationError for `pull_request_target`, and for a payload that lacks what GitHub sends."""
    if name == "pull_request_target":
        raise ConfigurationError(
            "the event `pull_request_target` is refused: it would run the pull request's code with a token that may"
            " write and with the repository's secrets.",
            "Use `on: pull_request`. For forks, docs/action.md says what holds there.",
        )
    try:
        if name == "pull_request":
            return _pull_request(_PullRequestPayload.model_validate(payload))
        if name == "merge_group":
            group = _MergeGroupPayload.model_validate(payload).merge_group
            return MergeGroupEvent(head_sha=group.head_sha, base_sha=group.base_sha, base_ref=group.base_ref)
    except ValidationError as error:
        missing = ", ".join(".".join(map(str, wrong["loc"])) for wrong in error.errors(include_input=False))
        raise ConfigurationError(
            f"the payload of `{name}` lacks: {missing}.", "GITHUB_EVENT_PATH has to name the runner's own file."
        ) from None
    return OtherEvent(name=name)


def _pull_request(payload: _PullRequestPayload) -> PullRequestEvent:
    pull = payload.pull_request
    return PullRequestEvent(
        number=payload.number,
        action=payload.action,
        title=pull.title,
        draft=pull.draft,
        head_sha=pull.head.sha,
        head_ref=pull.head.ref,
        head_repo=pull.head.repo and pull.head.repo.full_name,
        base_sha=pull.base.sha,
        base_ref=pull.base.ref,
        base_repo=payload.repository.full_name,
        sender=payload.sender.login,
    )


# --- what is read of GitHub's payloads; all the rest of them is ignored


class _Repository(BaseModel):
    full_name: str


class _User(BaseModel):
    login: str


class _Head(BaseModel):
    sha: str
    ref: str
    repo: _Repository | None


class _Base(BaseModel):
    sha: str
    ref: str


class _PullRequest(BaseModel):
    title: str
    draft: bool = False
    head: _Head
    base: _Base


class _PullRequestPayload(BaseModel):
    number: int
    action: str
    pull_request: _PullRequest
    repository: _Repository
    sender: _User


class _MergeGroup(BaseModel):
    head_sha: str
    base_sha: str
    base_ref: str


class _MergeGroupPayload(BaseModel):
    merge_group: _MergeGroup
