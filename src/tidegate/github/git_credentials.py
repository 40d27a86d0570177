"""Gives git the job's token for fetching from and pushing to the repository. No other process gets it."""

from __future__ import annotations

import base64

from tidegate.github.job import Job
from tidegate.history.branch import Origin


def origin_of(job: Job, *, writes: bool = False) -> Origin:
    """Return git's credentials for the job's repository.

    `writes` tells whether the event may add to base's history. A dry run never does.
    """
    may_write = writes and not job.settings.dry_run
    token = job.settings.github_token
    if token is None:
        return Origin(writes=may_write)
    secret = base64.b64encode(f"x-access-token:{token.get_secret_value()}".encode()).decode()
    # For this server only. The empty value removes a header that actions/checkout may have set: GitHub rejects two.
    name = f"http.{job.runner.server_url}/.extraheader"
    settings = [(name, ""), (name, f"AUTHORIZATION: basic {secret}")]
    first = int(job.outside.environ.get("GIT_CONFIG_COUNT") or 0)
    environ = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return Origin(environ, may_write)
