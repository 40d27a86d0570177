"""Answers questions to one judge: from stored answers, else by asking the judge, within its limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from tidegate.history.run_folder import AnswerStore
from tidegate.model.judge import SPOKEN, Ask, AskModel, Judge, JudgeContext, ModelAnswer, Reply
from tidegate.model.prices import Price
from tidegate.model.probe import Answer, Request
from tidegate.model.suite import Suite

NO_JUDGE = "no judge is configured: tidegate.yaml has no `judge`, or base's has none yet"


class JudgeClient:
    """An async context manager. Trials that ask the same question at the same time share one request.

    `deadline` is when the run ends, on the monotonic clock. `spent_usd` is the cost as far as prices are known, and
    `spent_tokens` the usage as far as the judge reports it.
    """

    def __init__(
        self, judge: Judge | None, place: JudgeContext, store: AnswerStore, *, price: Price | None, deadline: float
    ) -> None:
        self._judge = judge
        self._place = place
        self._store = store
        self._price = price
        self._deadline = deadline
        self._room = asyncio.Semaphore(judge.jobs if judge else 1)
        self._asked: dict[str, asyncio.Future[Reply]] = {}
        self._useless: dict[str, Reply] = {}  # unusable replies, for this run only: the next run asks again
        self._identity = judge.identity(place.folder) if judge else ""
        self._stack = AsyncExitStack()
        self._ask: Ask | None = None
        self.spent_usd = 0.0
        self.spent_tokens = 0
        self.used_up: Callable[[], str | None] = _nothing  # returns a message once the run's budget is spent

    async def __aenter__(self) -> Self:
        if self._judge is not None:
            self._ask = await self._stack.enter_async_context(self._judge.opened(self._place))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def answer(self, question: AskModel) -> ModelAnswer:
        """Return the replies to all samples of the question."""
        if self._judge is None:
            return ModelAnswer(replies=(Reply(end="no_judge", message=NO_JUDGE),))
        samples = question.samples or range(1, self._judge.samples + 1)
        return ModelAnswer(replies=tuple(await asyncio.gather(*(self._once(question, one) for one in samples))))

    async def _once(self, question: AskModel, sample: int) -> Reply:
        """Return a stored reply, the reply to a pending identical request, or a new one.

        Replies are stored under the key of the first attempt, whichever attempt produced them.
        """
        assert self._judge is not None
        key = question.key(self._identity, sample)
        kept = question.model_copy(update={"attempt": 1}).key(self._identity, sample)  # as attempt 1
        if (known := self._known(kept, question) or self._useless.get(key)) is not None:
            return known.model_copy(update={"cached": True})
        if key in self._asked:
            reply = await asyncio.shield(self._asked[key])
            return reply.model_copy(update={"cached": True})
        self._asked[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._fresh(question, sample)
        except BaseException:
            self._asked.pop(key).cancel()
            raise
        if _can_be_used(reply, question):
            self._store.keep(kept, reply)
        elif reply.end in SPOKEN:
            self._useless[key] = reply
        self._asked.pop(key).set_result(reply)
        return reply

    def _known(self, key: str, question: AskModel) -> Reply | None:
        """Return the stored reply if it is readable; the folder may contain anything."""
        kept = self._store.read(key)
        return kept if kept is not None and _can_be_used(kept, question) else None

    async def _fresh(self, question: AskModel, sample: int) -> Reply:
        """Ask the judge, unless a limit on cost or time has been reached; the reply then says which."""
        assert self._judge is not None
        assert self._ask is not None
        async with self._room:
            most = self._judge.max_usd
            if most is not None and self.spent_usd >= most:
                return _not_asked(question, sample, f"the judge's ${most:g} were used up")
            if (why := self.used_up()) is not None:
                return _not_asked(question, sample, why)
            left = self._deadline - time.monotonic()
            try:
                async with asyncio.timeout(max(0.0, left)):
                    reply = await self._ask(question, sample)
            except TimeoutError:
                return _not_asked(question, sample, "the run's minutes were used up")
            reply = self._priced(reply)
            self.spent_usd += reply.cost_usd or 0.0
            self.spent_tokens += (reply.tokens_in or 0) + (reply.tokens_out or 0)
            return reply

    def _priced(self, reply: Reply) -> Reply:
        """Return the reply with its cost computed from the tokens if it is unknown and the model has a price.

        Cached tokens are charged at the full rate.
        """
        if reply.cost_usd is not None or self._price is None or reply.tokens_in is None or reply.tokens_out is None:
            return reply
        cost = (reply.tokens_in * self._price.input + reply.tokens_out * self._price.output) / 1_000_000
        return reply.model_copy(update={"cost_usd": cost})


def _can_be_used(reply: Reply, question: AskModel) -> bool:
    return reply.end == "answered" and question.readable(reply.text)


def _nothing() -> None:
    return None


def _not_asked(question: AskModel, sample: int, message: str) -> Reply:
    return Reply(sample=sample, attempt=question.attempt, end="budget", message=message)


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
            return JudgeClient(judge, JudgeContext(folder, environ), store, price=price, deadline=deadline)

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
