"""Decide which trials to run next and what they show: screen, confirm, verify, repeats. Pure."""
