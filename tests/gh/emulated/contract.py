"""GitHub's own description of its API, against which every request that reaches the front is checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing.requests import MockRequest

DESCRIPTION = Path(__file__).parent / "openapi.json"
HOST = "http://github"
UNDESCRIBED = frozenset({"/graphql"})


class Contract:
    """What GitHub would say of a request."""

    def __init__(self) -> None:
        description = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
        self._api = OpenAPI.from_dict({**description, "servers": [{"url": HOST}]})

    def violation(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> str | None:
        """What is wrong with the request, or None. A path that the product never asked before is wrong, too."""
        url = urlsplit(target)
        if url.path in UNDESCRIBED:
            return None
        request = MockRequest(
            HOST,
            method.lower(),
            url.path,
            args=dict(parse_qsl(url.query)),
            headers=dict(headers),
            data=body or None,
            content_type=headers.get("Content-Type", "").partition(";")[0],
        )
        try:
            self._api.validate_request(request)
        except OpenAPIError as error:
            details = [wrong.message for wrong in getattr(error.__cause__, "schema_errors", ())]
            return f"{method} {target}: {error} {details or ''}".strip()
        return None
