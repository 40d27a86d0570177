"""Sessions of agents."""

from tests.trial.agents.conftest import new_session, session

__all__ = ["new_session", "session"]
