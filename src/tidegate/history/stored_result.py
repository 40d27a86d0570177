"""Reads the result that a comparison has stored."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import PULL_REQUEST_FILE, damaged, first_error
from tidegate.model.result import Result


def load_result(folder: Path) -> Result:
    """Return the result that `tidegate pr` wrote to `folder`. Raises ConfigurationError if it is missing or damaged."""
    path = folder if folder.is_file() else folder / PULL_REQUEST_FILE
    try:
        return Result.model_validate_json(path.read_bytes())
    except OSError as error:
        advice = "Name a folder that `tidegate pr` has written, such as `.tidegate/pr`."
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", advice) from None
    except ValidationError as error:
        raise damaged(path, first_error(error)) from None
