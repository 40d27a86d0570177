"""Makes the environments of Tidegate's own templates, and keeps their compiled code as Python keeps that of modules."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeVar

import jinja2
from jinja2.bccache import Bucket

from tidegate import __version__

PACKAGE = "tidegate.templates"
E = TypeVar("E", bound=jinja2.Environment)


class _CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Keeps compiled templates in `__pycache__` beside them: who may write there may change Tidegate's modules, too."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a template's code. The bucket stays empty, so that the template is compiled, if that fails."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged file can raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a template's code, where the folder can be written and Python may write its own."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def environment_of_templates(kind: type[E], **options: Any) -> E:
    """Return an environment with the templates in `templates/`. A name that has no value there is an error."""
    made_by = (jinja2.__version__, __version__, sys.implementation.cache_tag, kind.__name__, options)
    pattern = f"%s.{hashlib.sha256(repr(made_by).encode()).hexdigest()[:12]}.jinja"
    kept = Path(cache_from_source(str(import_module(PACKAGE).__file__))).parent
    return kind(
        loader=jinja2.PackageLoader(PACKAGE, ""),
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_CompiledTemplates(str(kept), pattern),
        **options,
    )
