"""Decide the verdict from comparison and policy. Pure."""
