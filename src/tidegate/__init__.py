"""Tidegate: measures how LLM agents fare with a project's tool, base against pull request."""

__version__: str


def __getattr__(name: str) -> str:
    """The version, looked up where it is wanted: that imports a mail parser, which costs each start 40 ms."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # 30 ms

    global __version__
    __version__ = version("tidegate")
    return __version__
