"""The rule-enforcing GitHub as tests use it: a server, its tokens, and pull requests by whom one likes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import SecretStr

from tests.gh.emulated.front import Front
from tests.gh.fake.routes import Routes
from tests.gh.fake.state import BOT, PROFILES, ArtifactRow, CommentRow, Pull, Repo, State, StatusRow, Token
from tidegate.github.api import Comment
from tidegate.github.client import GitHubComments, GitHubRepository, RequestPace, connect

OWNER, STRANGER = "olivia", "mallory"
NO_WAITING = RequestPace(timeout=60, backoff=0, longest_wait=1, between_writes=0)
HEAD_SHA = "d" * 40


class FakeGitHub:
    """A GitHub for one test, behind a front that may be told to fail.

    `address`: what it calls itself, where that is not the front's own: below `/api/v3`, or behind a proxy.
    """

    def __init__(self, front: Front, blobs: BlobHost, address: str = "") -> None:
        self.front, self.blobs, self.state = front, blobs, State()
        self.api_url = address or front.url
        front.base_path = self.api_url.removeprefix(front.url)
        front.forward = Routes(self.state, self.api_url, blobs.url).answer
        blobs.state = self.state
        for login in self.state.people:
            self.state.tokens[f"token-of-{login}"] = Token(login)

    @property
    def token(self) -> str:
        """A GITHUB_TOKEN with the documented permissions."""
        return self.token_like("documented")

    def token_like(self, profile: str) -> str:
        """A GITHUB_TOKEN as a kind of job gets it (PROFILES)."""
        return self.token_with(PROFILES[profile])

    def token_with(self, permissions: Mapping[str, str]) -> str:
        """A GITHUB_TOKEN with permissions of one's own choice."""
        name = "ghs_" + "_".join(f"{key}-{level}" for key, level in sorted(permissions.items()))
        self.state.tokens[name] = Token(BOT, permissions)
        return name

    def pull_request(self, head_repo: str | None = "", head_ref: str = "shorter-flag") -> PullRequest:
        """In a new repository; `head_repo`: another one for a fork, None for a fork that was deleted."""
        repo = Repo(f"acme/repo-{len(self.state.repos) + 1}")
        self.state.repos[repo.name] = repo
        pull = Pull(1, HEAD_SHA, head_ref, repo.name if head_repo == "" else head_repo)
        repo.pulls[pull.number] = pull
        return PullRequest(self, repo, pull)


class PullRequest:
    """One pull request, and what people do to it."""

    def __init__(self, github: FakeGitHub, repo: Repo, row: Pull) -> None:
        self.github, self.repo, self.row = github, repo, row
        self.repository, self.number = repo.name, row.number

    def comments(self) -> list[Comment]:
        """All that stand, oldest first."""
        return [
            Comment(id=row.id, author=row.author, body=row.body, url=self._url(row.id))
            for row in self.repo.comments
            if row.number == self.number
        ]

    def bot_comments(self) -> list[Comment]:
        """Those by GITHUB_TOKEN."""
        return [comment for comment in self.comments() if comment.author == BOT]

    def statuses(self) -> list[StatusRow]:
        """Of all commits."""
        return self.repo.statuses

    def say(self, body: str, by: str = STRANGER) -> CommentRow:
        """A person comments."""
        state = self.github.state
        self.repo.comments.append(CommentRow(next(state.ids), self.number, by, body, next(state.clock)))
        return self.repo.comments[-1]

    def delete(self, comment: Comment) -> None:
        """The owner deletes a comment."""
        self.repo.comments = [row for row in self.repo.comments if row.id != comment.id]

    def push(self, sha: str) -> None:
        """The author pushes."""
        self.row.head_sha = sha

    def merge(self, sha: str) -> None:
        """A maintainer merges it, which makes that commit."""
        self.row.state, self.row.merged_by = "closed", sha

    def label(self, name: str, by: str = OWNER) -> None:
        """A person puts a label there."""
        self.row.labels.append(name)
        self.row.events.append(("labeled", name, by, next(self.github.state.clock)))

    def force_push(self, sha: str) -> None:
        """The author replaces the branch's commits."""
        self.push(sha)
        self.row.events.append(("head_ref_force_pushed", "", STRANGER, next(self.github.state.clock)))

    def upload(self, run: int, name: str, archive: bytes, *, size: int | None = None, expired: bool = False) -> None:
        """A run of the pull request's workflow uploads an artifact."""
        said = len(archive) if size is None else size
        self.repo.artifacts.append(
            ArtifactRow(
                next(self.github.state.ids), run, name, archive, said, expired, self.row.head_sha, self.row.head_repo
            )
        )

    def connect(self, token: str | None = None, pace: RequestPace = NO_WAITING) -> GitHubRepository:
        """Our own port to the repository, through the front, without pauses."""
        return connect(self.github.api_url, SecretStr(token or self.github.token), self.repository, pace)

    def port(self, token: str | None = None) -> GitHubComments:
        """Our own port to the comments."""
        return self.connect(token).comments(self.number)

    def _url(self, comment: int) -> str:
        return f"https://github.com/{self.repository}/pull/{self.number}#issuecomment-{comment}"


class BlobHost:
    """Where archives lie: not GitHub, so a request that carries GitHub's token there is a leak and is refused."""

    def __init__(self) -> None:
        self.state = State()
        self.leaks: list[str] = []
        host = self

        class Handler(_BlobHandler):
            """Bound to this host."""

            owner = host

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def archive(self, path: str) -> bytes | None:
        """The bytes at that path."""
        number = path.strip("/").partition("?")[0]
        rows = [row for repo in self.state.repos.values() for row in repo.artifacts if str(row.id) == number]
        return rows[0].archive if rows else None


class _BlobHandler(BaseHTTPRequestHandler):
    owner: BlobHost

    def do_GET(self) -> None:
        """One archive; Azure refuses a header of authorization beside the signature in the address."""
        if authorization := self.headers.get("Authorization"):
            self.owner.leaks.append(authorization)
            self.send_error(403, "InvalidAuthenticationInfo")
            return
        archive = self.owner.archive(self.path)
        if archive is None:
            self.send_error(404)
            return
        self.send_response_only(200)
        self.send_header("Content-Type", "application/zip")
        self.end_headers()
        try:
            self.wfile.write(archive)
        except OSError:
            return  # the client has read enough

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
