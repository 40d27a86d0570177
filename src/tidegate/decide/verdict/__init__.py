"""Decide the verdict from comparison and policy, and put the result together. Pure."""
