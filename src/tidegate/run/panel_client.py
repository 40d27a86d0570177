"""Answers questions to the suite's judge, or to every judge of its panel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from tidegate.model.judge import Judge, JudgeContext
from tidegate.model.price import Price
from tidegate.model.probe import Answer, Request
from tidegate.model.question import AskModel, ModelAnswer
from tidegate.model.suite import Suite
from tidegate.run.judge_client import JudgeClient
from tidegate.store.judge_answers import AnswerStore


class PanelClient:
    """An async context manager: one client per judge; without a judge, one that answers that there is none.

    `spent_usd` and `spent_tokens` are the sums over all judges.
    """

    def __init__(self, clients: tuple[JudgeClient, ...]) -> None:
        self._clients = clients
        self._open = AsyncExitStack()

    @classmethod
    def of(cls, suite: Suite, folder: Path, environ: Mapping[str, str], store: AnswerStore, deadline: float) -> Self:
        """Return the client of the suite's judges. `folder` is the checkout that defines the suite."""

        def client(judge: Judge | None, price: Price | None) -> JudgeClient:
            return JudgeClient(judge, JudgeContext.of(judge, folder, environ), store, price=price, deadline=deadline)

        members = suite.judge.members if suite.judge else ()
        return cls(
            tuple(client(one, suite.price_of_budget(one.model)) for one in members) or (client(None, None),),
        )

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            for client in self._clients:
                await opened.enter_async_context(client)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    def end_with(self, used_up: Callable[[], str | None]) -> None:
        """Ask nothing more once the function returns a message: the run's budget is used up."""
        for client in self._clients:
            client.used_up = used_up

    @property
    def spent_usd(self) -> float:
        """The cost of all answers, as far as prices are known."""
        return sum(client.spent_usd for client in self._clients)

    @property
    def spent_tokens(self) -> int:
        """The tokens of all answers, as far as they are reported."""
        return sum(client.spent_tokens for client in self._clients)

    async def carry(self, request: Request) -> Answer | None:
        """Return the answer of all judges if the request is a question to a model, else None."""
        if not isinstance(request, AskModel):
            return None
        asked = [(number, own) for number in range(len(self._clients)) if (own := request.to_judge(number)) is not None]
        answers = await asyncio.gather(*(self._clients[number].answer(own) for number, own in asked))
        return ModelAnswer(
            replies=tuple(
                reply.model_copy(update={"judge": number})
                for (number, _), answer in zip(asked, answers, strict=True)
                for reply in answer.replies
            )
        )
