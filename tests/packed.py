"""Reads the data that report.html holds: JSON in gzip in base64."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def opened(packed: str) -> Any:
    """Return what a block of the page holds."""
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def page_data(page: str) -> Any:
    """Return the data that the whole page is made of."""
    return opened(page.partition('id="data">')[2].partition("</script>")[0])


def whole_text(page: str) -> str:
    """Return all that the page holds as one text: its data, and the records of its trials."""
    blocks = json.loads(page.partition('id="records">')[2].partition("</script>")[0])
    return json.dumps([page_data(page), [opened(block) for _, block in blocks]], ensure_ascii=False)
