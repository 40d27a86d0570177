"""Commands run as in the journeys."""

from tests.journeys.conftest import tidegate

__all__ = ["tidegate"]
