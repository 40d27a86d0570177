"""Whole small repositories: the demo, the docs and the tests use them, and they ship with the package."""
