"""Calls of the target: from command lines and logs, with their metrics."""
