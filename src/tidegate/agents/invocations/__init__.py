"""Calls of the tool under test: shell grammar, calls found in logs, their metrics, calls that bypass the recorder."""
