"""The emulated GitHub as tests use it: repositories, pull requests, and comments by whom one likes."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from github import Auth, GithubIntegration
from pydantic import SecretStr

from tests.gh.emulated.front import Front
from tests.gh.emulated.node import emulate_command
from tidegate.github.api import Comment
from tidegate.github.client import GitHubComments, RequestPace, connect

BOT = "github-actions[bot]"
ORGANISATION, OWNER, STRANGER = "acme", "olivia", "mallory"
APP, INSTALLATION = 15368, 1
JOB_PERMISSIONS = {"contents": "read", "pull_requests": "write"}  # what the documented workflow gives
NO_WAITING = RequestPace(backoff=0, longest_wait=1, between_writes=0)


class GitHub:
    """A running emulated GitHub behind its front. Tests that share it have a repository each."""

    def __init__(self, folder: Path) -> None:
        self._key = _private_key()
        self._numbers = itertools.count(1)
        self._tokens: dict[str, str] = {}
        self.front = Front()
        self.front.backend = _free_port()
        self._direct = f"http://127.0.0.1:{self.front.backend}"
        seed = folder / "seed.json"
        seed.write_text(json.dumps(_seed(self._key)), encoding="utf-8")
        self._log = (folder / "emulate.log").open("w+", encoding="utf-8")
        listening = ["--port", str(self.front.backend), "--host", "127.0.0.1", "--base-url", self.front.url]
        self._process = subprocess.Popen(
            [*emulate_command(), "start", "--service", "github", "--seed", str(seed), *listening],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._await_start()

    def stop(self) -> None:
        """Nothing of it still runs afterwards."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        self.front.stop()

    @property
    def api_url(self) -> str:
        """GITHUB_API_URL of a job."""
        return self.front.url

    @property
    def token(self) -> str:
        """A GITHUB_TOKEN with the documented permissions: its comments are by github-actions[bot]."""
        return self.token_with(JOB_PERMISSIONS)

    def token_with(self, permissions: Mapping[str, str]) -> str:
        """A GITHUB_TOKEN with other permissions."""
        name = json.dumps(dict(permissions), sort_keys=True)
        if name not in self._tokens:
            integration = GithubIntegration(auth=Auth.AppAuth(APP, self._key), base_url=self._direct)
            self._tokens[name] = integration.get_access_token(INSTALLATION, permissions=dict(permissions)).token
            integration.close()
        return self._tokens[name]

    def pull_request(self, title: str = "Shorten --priority to --prio", head: str = "shorter-flag") -> PullRequest:
        """A new pull request in a new repository."""
        name = f"repo-{next(self._numbers)}"
        self.call("POST", f"/orgs/{ORGANISATION}/repos", {"name": name, "auto_init": True})
        tip = self.call("GET", f"/repos/{ORGANISATION}/{name}/git/ref/heads/main")["object"]["sha"]
        self.call("POST", f"/repos/{ORGANISATION}/{name}/git/refs", {"ref": f"refs/heads/{head}", "sha": tip})
        made = self.call("POST", f"/repos/{ORGANISATION}/{name}/pulls", {"title": title, "head": head, "base": "main"})
        return PullRequest(self, f"{ORGANISATION}/{name}", made["number"], title, head)

    def call(self, method: str, path: str, body: Any = None, by: str = OWNER) -> Any:
        """A request past the front, as a person."""
        headers = {"Authorization": f"token token-of-{by}", "Host": f"127.0.0.1:{self.front.port}"}
        answer = requests.request(method, self._direct + path, json=body, headers=headers, timeout=30)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def _await_start(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.front.backend), timeout=1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self._log.seek(0)
                    said = self._log.read()
                    self.stop()
                    raise RuntimeError(f"the emulated GitHub did not start:\n{said}") from None
                time.sleep(0.05)
            else:
                return


class PullRequest:
    """One pull request, and what people do to it."""

    def __init__(self, github: GitHub, repository: str, number: int, title: str, head: str) -> None:
        self.github, self.repository, self.number, self.title, self.head = github, repository, number, title, head

    def comments(self) -> list[Comment]:
        """All that stand, oldest first; read past the front."""
        found: list[Comment] = []
        for page in itertools.count(1):
            listed = self.github.call("GET", f"{self._issue}/comments?per_page=100&page={page}")
            found += [
                Comment(id=one["id"], author=one["user"]["login"], body=one["body"], url=one["html_url"])
                for one in listed
            ]
            if len(listed) < 100:
                return found
        raise AssertionError

    def bot_comments(self) -> list[Comment]:
        """Those by GITHUB_TOKEN."""
        return [comment for comment in self.comments() if comment.author == BOT]

    def say(self, body: str, by: str = STRANGER) -> None:
        """A person comments."""
        self.github.call("POST", f"{self._issue}/comments", {"body": body}, by)

    def delete(self, comment: Comment) -> None:
        """The owner deletes a comment."""
        self.github.call("DELETE", f"/repos/{self.repository}/issues/comments/{comment.id}")

    def port(self, token: str | None = None) -> GitHubComments:
        """Our own port to it, through the front, without pauses."""
        secret = SecretStr(token or self.github.token)
        return connect(self.github.api_url, secret, self.repository, NO_WAITING).comments(self.number)

    @property
    def _issue(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}"


def _seed(key: str) -> dict[str, object]:
    app = {
        "app_id": APP,
        "slug": "github-actions",
        "name": "GitHub Actions",
        "private_key": key,
        "permissions": {"contents": "write", "issues": "write", "pull_requests": "write", "metadata": "read"},
        "installations": [{"installation_id": INSTALLATION, "account": ORGANISATION, "repository_selection": "all"}],
    }
    people = (OWNER, STRANGER)
    return {
        "tokens": {f"token-of-{login}": {"login": login, "scopes": ["repo", "user"]} for login in people},
        "github": {
            "users": [{"login": login} for login in people],
            "orgs": [{"login": ORGANISATION, "members": [{"login": OWNER, "role": "admin"}]}],
            "apps": [app],
        },
    }


def _private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(*pem).decode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
