"""The companion process: it answers in turn, and ends without taking anybody along."""

import asyncio
import os
from typing import Any

import pytest

from catalog.runtime.worker_process import RequestHandler, WorkerLost, WorkerProcess


def echo(word: str) -> RequestHandler:
    """A companion that says its word, its process, and what it was given; or dies of it."""

    def answer(question: dict[str, Any], body: bytes) -> dict[str, Any]:
        if body == b"poison":
            os.abort()
        return {"word": word, "process": os.getpid(), "length": len(body), **question}

    return answer


def test_answers_in_turn() -> None:
    """Many questions at once, large and small, get each its own answer, from one other process."""

    async def talk() -> list[dict[str, Any]]:
        companion = WorkerProcess(echo, "hello")
        await companion.start()
        sizes = [0, 1, 3_000_000, 10, 500_000]
        answers = await asyncio.gather(*(companion.request({"n": n}, b"x" * n) for n in sizes))
        companion.stop()
        return answers

    answers = asyncio.run(talk())
    assert (
        [item["length"] for item in answers]
        == [item["n"] for item in answers]
        == [0, 1, 3_000_000, 10, 500_000]
    )
    assert {item["word"] for item in answers} == {"hello"}
    assert len({item["process"] for item in answers} - {os.getpid()}) == 1


def test_lost() -> None:
    """All who wait for a worker that dies are told the reason; only the first request is suspect."""

    async def talk() -> list[Any]:
        companion = WorkerProcess(echo, "hello")
        await companion.start()
        first = await asyncio.gather(
            companion.request({}, b"poison"), companion.request({}), return_exceptions=True
        )
        return first + await asyncio.gather(companion.request({}), return_exceptions=True)

    losses = asyncio.run(talk())
    assert [type(item) for item in losses] == [WorkerLost] * 3
    assert [item.is_suspect for item in losses] == [True, False, False]
    assert {str(item) for item in losses} == {"aborted"}


def test_not_started() -> None:
    """A companion that cannot be made is lost at once."""

    with pytest.raises(WorkerLost):
        asyncio.run(WorkerProcess(os.abort).start())
