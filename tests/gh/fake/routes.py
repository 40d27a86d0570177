"""The endpoints that the product uses: each enforces GitHub's rules before it does anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.gh.emulated.front import Answer
from tests.gh.fake import rules
from tests.gh.fake.asked import Asked, said
from tests.gh.fake.rules import Refused, may, not_found
from tests.gh.fake.runs import RunRoutes
from tests.gh.fake.state import CommentRow, Pull, Repo, State, StatusRow, Token, told_time

ISSUES = ("issues", "pull-requests")  # either will do for a pull request's conversation


class Routes(RunRoutes):
    """The API below one address; `blobs` is where archives lie, which is another host on GitHub."""

    def __init__(self, state: State, url: str, blobs: str) -> None:
        self.state, self.url, self.blobs = state, url, blobs
        repo = r"/repos/([^/]+/[^/]+)"
        table: list[tuple[str, str, Callable[[Asked], Answer]]] = [
            ("GET", rf"{repo}/issues/(\d+)/comments", self._list_comments),
            ("POST", rf"{repo}/issues/(\d+)/comments", self._create_comment),
            ("PATCH", rf"{repo}/issues/comments/(\d+)", self._update_comment),
            ("DELETE", rf"{repo}/issues/comments/(\d+)", self._delete_comment),
            ("GET", rf"{repo}/issues/(\d+)/events", self._list_events),
            ("DELETE", rf"{repo}/issues/(\d+)/labels/([^/]+)", self._remove_label),
            ("GET", rf"{repo}/pulls", self._list_pulls),
            ("GET", rf"{repo}/pulls/(\d+)", self._get_pull),
            ("GET", rf"{repo}/collaborators/([^/]+)/permission", self._permission),
            ("POST", rf"{repo}/statuses/([0-9a-f]+)", self._create_status),
            ("GET", rf"{repo}/actions/runs/(\d+)/artifacts", self._list_artifacts),
            ("GET", rf"{repo}/actions/artifacts", self._list_all_artifacts),
            ("GET", rf"{repo}/actions/artifacts/(\d+)/zip", self._archive),
            ("GET", rf"{repo}/commits/([0-9a-f]+)/pulls", self._pulls_of_commit),
        ]
        self._table = [(method, re.compile(pattern), route) for method, pattern, route in table]

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """What GitHub answers."""
        authorization = next((value for name, value in headers.items() if name.lower() == "authorization"), "")
        address = urlsplit(target)
        try:
            token = rules.token_of(self.state, authorization)
            self._spend(token)
            read = json.loads(body) if body else {}
            return self._routed(method, address.path, parse_qs(address.query), read, token)
        except Refused as refused:
            return refused.answer()

    def _spend(self, token: Token | None) -> None:
        name = token.login if token else ""
        left = self.state.left.setdefault(name, rules.PRIMARY_LIMIT)
        if left <= 0:
            raise Refused(403, "API rate limit exceeded for installation.")
        self.state.left[name] = left - 1

    def _routed(self, method: str, path: str, query: Mapping[str, list[str]], body: Any, token: Token | None) -> Answer:
        if (method, path) == ("GET", "/user"):
            return self._user(token)
        if path == "/graphql":
            return self._viewer(token)
        for wanted, pattern, route in self._table:
            if wanted == method and (match := pattern.fullmatch(path)):
                name, *found = match.groups()
                repo = self.state.repos.get(name)
                if repo is None:
                    raise not_found()
                return route(Asked(token, repo, path, query, body, tuple(map(unquote, found))))
        raise not_found()

    # Who

    def _user(self, token: Token | None) -> Answer:
        if token is None:
            raise Refused(401, "Requires authentication")
        if token.is_installation:
            raise Refused(403, "Resource not accessible by integration")
        return said({"login": token.login, "id": 1, "type": "User", "url": f"{self.url}/users/{token.login}"})

    def _viewer(self, token: Token | None) -> Answer:
        """GraphQL knows an app's bot by its name without the suffix."""
        if token is None:
            raise Refused(401, "This endpoint requires you to be authenticated.")
        return said({"data": {"viewer": {"login": token.login.removesuffix("[bot]")}}})

    def _permission(self, asked: Asked) -> Answer:
        login = asked.found[0]
        if login not in self.state.people:
            raise not_found()
        role = asked.repo.roles.get(login, "none" if asked.repo.private else "read")
        told = {"maintain": "write", "triage": "read"}.get(role, role)
        return said({"permission": told, "role_name": role, "user": {"login": login}})

    # Comments

    def _list_comments(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ISSUES, "read", "read")
        number = asked.pull.number
        return self._page(
            asked, [self._comment(asked.repo, row) for row in asked.repo.comments if row.number == number]
        )

    def _create_comment(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ISSUES, "write", "read")
        rules.unlocked(asked.pull, asked.token, asked.repo)
        assert asked.token is not None
        body, now = rules.comment_body(asked.body), next(self.state.clock)
        row = CommentRow(next(self.state.ids), asked.pull.number, asked.token.login, body, now)
        asked.repo.comments.append(row)
        return said(self._comment(asked.repo, row), 201)

    def _update_comment(self, asked: Asked) -> Answer:
        row = self._row(asked)
        row.body, row.updated = rules.comment_body(asked.body), next(self.state.clock)
        return said(self._comment(asked.repo, row))

    def _delete_comment(self, asked: Asked) -> Answer:
        asked.repo.comments.remove(self._row(asked))
        return Answer(204, {}, b"")

    def _row(self, asked: Asked) -> CommentRow:
        """The comment that is to be changed, if the token may: an app's write permission holds for everybody's."""
        row = next((row for row in asked.repo.comments if row.id == int(asked.found[0])), None)
        own = row is not None and asked.token is not None and row.author == asked.token.login
        may(asked.token, asked.repo, ISSUES, "write", "read" if own else "write")
        if row is None:
            raise not_found()
        return row

    def _comment(self, repo: Repo, row: CommentRow) -> dict[str, Any]:
        return {
            "id": row.id,
            "node_id": f"node-{row.id}",
            "body": row.body,
            "user": {"login": row.author, "id": 1, "type": "Bot" if row.author.endswith("[bot]") else "User"},
            "html_url": f"https://github.com/{repo.name}/pull/{row.number}#issuecomment-{row.id}",
            "url": f"{self.url}/repos/{repo.name}/issues/comments/{row.id}",
            "updated_at": told_time(row.updated),
        }

    # Pull requests and labels

    def _list_events(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ISSUES, "read", "read")
        return self._page(
            asked,
            [
                {
                    "id": number,
                    "event": event,
                    "created_at": told_time(when),
                    **({"label": {"name": label}} if label else {}),
                    "actor": {"login": actor, "id": 1, "type": "User"},
                }
                for number, (event, label, actor, when) in enumerate(asked.pull.events)
            ],
        )

    def _remove_label(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ISSUES, "write", "triage")
        pull, label = asked.pull, asked.found[1]
        if label not in pull.labels:
            raise Refused(404, "Label does not exist")
        pull.labels.remove(label)
        assert asked.token is not None
        pull.events.append(("unlabeled", label, asked.token.login, next(self.state.clock)))
        return said([{"name": name} for name in pull.labels])

    def _list_pulls(self, asked: Asked) -> Answer:
        """A filter `head` without a colon is ignored, as all that GitHub cannot read in a query."""
        may(asked.token, asked.repo, ("pull-requests",), "read", "read")
        state, (head, *_) = asked.query.get("state", ["open"])[0], asked.query.get("head", [""])
        owner, colon, branch = head.partition(":")
        pulls = [
            pull
            for pull in asked.repo.pulls.values()
            if state in ("all", pull.state)
            and (not colon or (str(pull.head_repo).partition("/")[0], pull.head_ref) == (owner, branch))
        ]
        return self._page(asked, [self._pull(asked.repo, pull) for pull in reversed(pulls)])

    def _get_pull(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("pull-requests",), "read", "read")
        return said(self._pull(asked.repo, asked.pull))

    def _pull(self, repo: Repo, pull: Pull) -> dict[str, Any]:
        head_repo = None if pull.head_repo is None else {"full_name": pull.head_repo}
        return {
            "number": pull.number,
            "state": pull.state,
            "draft": pull.draft,
            "locked": pull.locked,
            "title": pull.title,
            "labels": [{"name": name} for name in pull.labels],
            "head": {"sha": pull.head_sha, "ref": pull.head_ref, "repo": head_repo},
            "base": {"sha": "0" * 40, "ref": pull.base_ref, "repo": {"full_name": repo.name}},
        }

    # Statuses

    def _create_status(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("statuses",), "write", "write")
        sha, body = asked.found[0], asked.body
        rules.status(asked.repo, sha, body)
        row = StatusRow(
            sha, body["state"], body.get("context", "default"), body.get("description", ""), body.get("target_url", "")
        )
        asked.repo.statuses.append(row)
        return said({"id": next(self.state.ids), "state": row.state, "context": row.context}, 201)

    def _pulls_of_commit(self, asked: Asked) -> Answer:
        may(asked.token, asked.repo, ("pull-requests",), "read", "read")
        pulls = [pull for pull in asked.repo.pulls.values() if asked.found[0] in (pull.merged_by, pull.head_sha)]
        return self._page(
            asked,
            [
                {
                    **self._pull(asked.repo, pull),
                    "merged_at": "2026-11-21T00:00:00Z" if pull.merged_by else None,
                    "merge_commit_sha": pull.merged_by,
                }
                for pull in pulls
            ],
        )

    def _page(self, asked: Asked, items: list[dict[str, Any]]) -> Answer:
        """One page, 30 items by default, with the links to the others."""
        size = min(int(asked.query.get("per_page", [str(rules.PER_PAGE)])[0]), rules.MAX_PER_PAGE)
        page = int(asked.query.get("page", ["1"])[0])
        last = max(1, -(-len(items) // size))
        links = {"next": page + 1, "last": last} if page < last else {}
        shown = items[(page - 1) * size : page * size]
        return said(shown, headers={"Link": ", ".join(self._links(asked, size, links.items()))} if links else {})

    def _links(self, asked: Asked, size: int, pages: Iterable[tuple[str, int]]) -> Iterable[str]:
        for name, page in pages:
            yield f'<{self.url}{asked.path}?per_page={size}&page={page}>; rel="{name}"'
