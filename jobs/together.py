"""Questions that attempts ask at the same time go in one trip; those that come meanwhile go in the next."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["Together"]

Q = TypeVar("Q")
A = TypeVar("A")


class Together(Generic[Q, A]):
    """``ask`` answers many questions in their order; an answer that is an exception is raised to who asked."""

    def __init__(self, ask: Callable[[list[Q]], Awaitable[list[A | Exception]]]) -> None:
        self._ask = ask
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._asking: asyncio.Task[None] | None = None

    async def answer(self, question: Q) -> A:
        """The answer to one question."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._asking is None:
            self._asking = asyncio.create_task(self._go_on())
        return await future

    async def _go_on(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, []
            answers: list[A | Exception]
            try:
                answers = await self._ask([question for question, _ in asked])
            except Exception as error:  # noqa: BLE001 (whoever asked must hear it, or would wait for ever)
                answers = [error] * len(asked)
            for (_, future), answer in zip(asked, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
        self._asking = None
