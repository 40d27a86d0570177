"""Tidegate: measures how LLM agents fare with a project's tool, base against pull request."""

from importlib.metadata import version as _version

__version__ = _version("tidegate")
