"""GitHub's stand-ins, as fixtures."""

from tests.gh.fixtures import blob_host, emulated, evaluator, fake_front, github, github_server, job, make_step

__all__ = ["blob_host", "emulated", "evaluator", "fake_front", "github", "github_server", "job", "make_step"]
