"""Token counts of Amazon's event streams, in which Bedrock sends the events of an answer."""

from __future__ import annotations

import base64
import binascii

from pydantic_core import from_json

from tidegate.model_proxy.token_usage import LONGEST, Answer

TYPE = "application/vnd.amazon.eventstream"
_PRELUDE, _CHECK = 12, 4  # bytes before the headers (two lengths and a checksum), and the checksum at the end


class FramedAnswer(Answer):
    """The tokens of an answer in frames: each has the total length, the length of its headers, and a JSON payload.

    In the payload is the event itself (Converse), or in `bytes` in base64 (InvokeModel).
    """

    _frames: bytes | None = b""

    def feed(self, piece: bytes) -> None:
        """Process the next bytes. What is not in frames is not read any further."""
        if self._frames is None:
            return
        self._frames += piece
        while len(self._frames) >= _PRELUDE:
            whole, headers = (int.from_bytes(self._frames[at : at + 4], "big") for at in (0, 4))
            if not _PRELUDE + headers + _CHECK <= whole <= LONGEST:
                self._frames = None
                return
            if len(self._frames) < whole:
                return
            super().feed(_event(self._frames[_PRELUDE + headers : whole - _CHECK]) + b"\n")
            self._frames = self._frames[whole:]


def _event(payload: bytes) -> bytes:
    """Return the event in a payload, on one line."""
    try:
        data = from_json(payload)
        inner = data.get("bytes") if isinstance(data, dict) else None
        return base64.b64decode(inner) if isinstance(inner, str) else payload.replace(b"\n", b" ")
    except (ValueError, binascii.Error):
        return b""
