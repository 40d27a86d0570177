"""Tries a suite itself: mutants of the tool, simulated pull requests, judges against labels."""
