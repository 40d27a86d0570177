"""How git reaches the repository that the job was checked out of: with the job's own token, told to git alone."""

from __future__ import annotations

import base64

from tidegate.action.job import Job
from tidegate.history.branch import Origin


def origin_of(job: Job, *, writes: bool = False) -> Origin:
    """`writes`: whether the event may add to base's history; a dry run never does."""
    may_write = writes and not job.settings.dry_run
    token = job.settings.github_token
    if token is None:
        return Origin(writes=may_write)
    secret = base64.b64encode(f"x-access-token:{token.get_secret_value()}".encode()).decode()
    # For this server alone. The empty one first takes back what actions/checkout may have left: two are refused.
    name = f"http.{job.runner.server_url}/.extraheader"
    settings = [(name, ""), (name, f"AUTHORIZATION: basic {secret}")]
    first = int(job.outside.environ.get("GIT_CONFIG_COUNT") or 0)
    environ = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return Origin(environ, may_write)
