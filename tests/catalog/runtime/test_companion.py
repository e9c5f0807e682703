"""The companion process: it answers in turn, and ends without taking anybody along."""

import asyncio
import os
from typing import Any

import pytest

from catalog.runtime.worker_process import Answer, Companion, CompanionLost


def echo(word: str) -> Answer:
    """A companion that says its word, its process, and what it was given; or dies of it."""

    def answer(question: dict[str, Any], body: bytes) -> dict[str, Any]:
        if body == b"poison":
            os.abort()
        return {"word": word, "process": os.getpid(), "length": len(body), **question}

    return answer


def test_answers_in_turn() -> None:
    """Many questions at once, large and small, get each its own answer, from one other process."""

    async def talk() -> list[dict[str, Any]]:
        companion = Companion(echo, "hello")
        await companion.start()
        sizes = [0, 1, 3_000_000, 10, 500_000]
        answers = await asyncio.gather(*(companion.ask({"n": n}, b"x" * n) for n in sizes))
        companion.end()
        return answers

    answers = asyncio.run(talk())
    assert (
        [one["length"] for one in answers]
        == [one["n"] for one in answers]
        == [0, 1, 3_000_000, 10, 500_000]
    )
    assert {one["word"] for one in answers} == {"hello"}
    assert len({one["process"] for one in answers} - {os.getpid()}) == 1


def test_lost() -> None:
    """Who waits for a companion that dies is told so, and so is who asks it afterwards."""

    async def talk() -> list[Any]:
        companion = Companion(echo, "hello")
        await companion.start()
        first = await asyncio.gather(
            companion.ask({}, b"poison"), companion.ask({}), return_exceptions=True
        )
        return first + await asyncio.gather(companion.ask({}), return_exceptions=True)

    assert [type(one) for one in asyncio.run(talk())] == [CompanionLost] * 3


def test_not_started() -> None:
    """A companion that cannot be made is lost at once."""

    with pytest.raises(CompanionLost):
        asyncio.run(Companion(os.abort).start())
