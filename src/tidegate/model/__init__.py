"""Frozen values that the stages of a run pass to each other."""
