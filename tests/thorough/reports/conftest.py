"""Stories to show, and a browser."""

from tests.unit.reports.conftest import browser, comment, stories, story

__all__ = ["browser", "comment", "stories", "story"]
