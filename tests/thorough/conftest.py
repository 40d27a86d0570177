"""Whole runs, as in the journeys."""

from tests.journeys.conftest import pull_request, tidegate

__all__ = ["pull_request", "tidegate"]
