"""Runs a plan: checkouts and builds of both sides, trials, judging, and the results of earlier runs."""
