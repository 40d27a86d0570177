"""Whole runs, as in the journeys."""

from tests.journeys.conftest import files, tidegate

__all__ = ["files", "tidegate"]
