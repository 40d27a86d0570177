"""Asks a model as a trial does, by the model proxy. Also a program, for machines that have Tidegate and no tests."""

from __future__ import annotations

import http.client
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.providers import AnyProvider
from tidegate.agents.providers.access import Accesses
from tidegate.model.event import End
from tidegate.model.provider import ModelApi, ModelProvider

READ: TypeAdapter[AnyProvider] = TypeAdapter(AnyProvider)


class Way(NamedTuple):
    """How an agent asks a model of a provider, and the host that gives its credentials."""

    written: dict[str, str]
    api: ModelApi
    path: str
    body: dict[str, Any]
    identity: str

    @property
    def provider(self) -> ModelProvider:
        """What the suite names."""
        return READ.validate_python(self.written)


def ask(way: Way, environ: Mapping[str, str], times: int = 1) -> tuple[list[int], End | None]:
    """What a trial of a job with this environment gets from the model proxy, and what the proxy reports of it."""
    provider = way.provider
    access = Accesses(environ).of(provider, way.api)
    upstream = provider.address(way.api)
    with ModelProxy() as proxy, proxy.lent(provider.narrowed(way.api), access, upstream) as lease:
        place = urlsplit(lease.address)
        statuses = []
        for _ in range(times):
            connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)
            connection.request(
                "POST",
                place.path + way.path,
                json.dumps(way.body),
                {"authorization": f"Bearer {lease.token}", "content-type": "application/json"},
            )
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
            connection.close()
        return statuses, lease.traffic.told()


if __name__ == "__main__":
    for name, (written, api, *more) in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        key, endpoint, address, paths = api
        way = Way(written, ModelApi(key, endpoint, address, tuple(paths)), *more)
        print(name, ask(way, os.environ)[0], flush=True)
