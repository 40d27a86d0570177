"""Patterns with time limits, and text made safe for a terminal."""
