"""A task list for the folder you work in."""

__version__ = "1.4.0"
