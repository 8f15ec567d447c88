"""Rates, bodies, turns: the parts alone, on small apps of their own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from auscult_service.caller import Caller, Role
from auscult_service.errors import Refusal
from auscult_service.guard.bodies import DEEPEST, Bodies, check_json
from auscult_service.guard.fairness import Buckets, Fairness, Rates, Turns
from auscult_service.guard.uploads import Pace, UploadPlaces, Uploads

PACE = Pace(rate=1000, patience=30, seconds=60)
Answer = tuple[int, dict[str, str], bytes]


async def answer_of(
    app: Callable[[Scope, Receive, Send], Awaitable[None]],
    pieces: Iterator[Message] | None = None,
    *,
    who: str = "",
    headers: dict[str, str] | None = None,
    path: str = "/api/v1/search",
    role: Role = "write",
    method: str = "POST",
) -> Answer:
    """What an app answers."""
    sent: list[Message] = []
    given = pieces if pieces is not None else iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        message = next(given, None)
        if message is None:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}
        return message

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        "query_string": b"",
        "client": ("10.0.0.1", 1),
        "state": {"caller": Caller(who, role)},
    }
    await app(scope, receive, send)
    start = next(each for each in sent if each["type"] == "http.response.start")
    told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return start["status"], told, b"".join(each.get("body", b"") for each in sent)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what came."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RuntimeError("the caller has gone")
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def in_pieces(size: int, number: int) -> Iterator[Message]:
    for n in range(number):
        yield {"type": "http.request", "body": b"1" * size, "more_body": n < number - 1}


def test_a_bucket_takes_a_burst_and_fills_again() -> None:
    now = [0.0]
    buckets = Buckets(60, lambda: now[0])
    assert [buckets.take("a") for _ in range(61)] == [0.0] * 60 + [1.0]
    assert buckets.take("b") == 0.0, "others do not feel it"
    now[0] += 0.5
    assert buckets.take("a") == pytest.approx(0.5)
    now[0] += 0.5
    assert [buckets.take("a") > 0 for _ in range(2)] == [False, True]
    now[0] += 3600
    assert [buckets.take("a") > 0 for _ in range(61)] == [False] * 60 + [True]
    assert all(Buckets(0).take("a") == 0.0 for _ in range(10_000))


def test_rate_limits_remember_a_bounded_number_of_callers() -> None:
    buckets = Buckets(60)
    for n in range(30_000):
        buckets.take(f"address {n}")
    assert len(buckets._left) <= 10_000


def test_rate_limits_refuse_one_caller_and_not_others() -> None:
    app = Rates(echo, per_minute=5)

    async def run() -> list[Answer]:
        return [await answer_of(app, who="ann") for _ in range(8)] + [await answer_of(app, who="ben")]

    answers = asyncio.run(run())
    assert [status for status, _, _ in answers] == [200] * 5 + [429] * 3 + [200]
    _, headers, body = answers[5]
    assert 1 <= int(headers["retry-after"]) <= 13
    assert json.loads(body)["error"]["code"] == "too_many"


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x"])
def test_long_bodies_are_refused_whatever_length_is_declared(kind: str) -> None:
    app = Uploads(Bodies(echo, most=100), UploadPlaces(8, 64, PACE), most=100)

    def ask(pieces: Iterator[Message], **headers: str) -> Answer:
        return asyncio.run(answer_of(app, pieces, headers={"Content-Type": kind, **headers}, path="/api/v1/documents"))

    assert ask(in_pieces(50, 2))[0::2] == (200, b"1" * 100)
    assert ask(in_pieces(50, 3))[0] == 413
    assert json.loads(ask(in_pieces(101, 1))[2])["error"]["code"] == "too_large"
    assert ask(in_pieces(1, 1), **{"Content-Length": "101"})[0] == 413
    assert ask(in_pieces(1, 1), **{"Content-Length": "9" * 400})[0] == 413
    for wrong in ("-1", "1e3", "x", "+5", "٣"):
        assert ask(in_pieces(1, 1), **{"Content-Length": wrong})[0] == 413, wrong


def test_a_caller_who_sends_slowly_holds_nobody_up() -> None:
    async def run() -> list[Answer]:
        pace = Pace(rate=1000, patience=0.05, seconds=60)
        app = Uploads(Bodies(echo, most=100, seconds=0.05), UploadPlaces(8, 64, pace), most=100)
        slow = [{"type": "http.request", "body": b"1", "more_body": True}]
        kinds = ({}, {"Content-Type": "multipart/form-data; boundary=x"})
        return [await answer_of(app, iter(slow), headers=each, path="/api/v1/documents") for each in kinds]

    begun = time.perf_counter()
    for status, headers, body in asyncio.run(run()):
        assert status == 408
        assert headers["connection"] == "close"
        assert json.loads(body)["error"]["code"] == "too_slow"
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize(
    ("body", "is_good"),
    [
        (b"{}", True),
        (b"[" * DEEPEST + b"]" * DEEPEST, True),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), False),
        (b'{"a":' * 100_000, False),
        (b"[" * 900_000, False),
        (b'{"a": "' + b"[" * 500 + b'"}', True),
        (b'{"a": "\\"' + b"[" * 500 + b'"}', True),
        (b'{"a": "\\\\"' + b"[" * 500, False),
        (b'{"k": NaN}', False),
        (b'{"k": -Infinity}', False),
        (b'{"k": "NaN"}', True),
        (b'{"k": "' + b"x" * 900_000 + b'"}', True),
        (b'"' + b"\\" * 900_001, True),
        (b"[]" * 100_000, True),
    ],
)
def test_json_is_looked_at_before_it_is_read(body: bytes, is_good: bool) -> None:
    begun = time.perf_counter()
    with nullcontext() if is_good else pytest.raises(Refusal):
        check_json(body)
    assert time.perf_counter() - begun < 0.5


def test_a_refused_body_never_reaches_the_app() -> None:
    async def never(*_: Any) -> None:
        raise AssertionError

    for body in (b"[" * 100, b"[NaN]"):
        pieces: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])
        status, _, told = asyncio.run(answer_of(Bodies(never, 1000), pieces))
        assert (status, json.loads(told)["error"]["code"]) == (400, "bad_json")


def test_turns_go_round_among_callers() -> None:
    async def run() -> list[str]:
        turns = Turns(1, 100)
        order: list[str] = []

        async def one(who: str) -> None:
            await turns.begin(who)
            order.append(who)
            await asyncio.sleep(0)
            turns.end(who)

        many = [asyncio.create_task(one("greedy")) for _ in range(20)]
        await asyncio.sleep(0)
        few = [asyncio.create_task(one("modest")) for _ in range(2)]
        await asyncio.gather(*many, *few)
        return order

    order = asyncio.run(run())
    assert len(order) == 22
    assert [place for place, who in enumerate(order) if who == "modest"][-1] <= 5


def test_cancelled_waiters_leave_no_turn_behind() -> None:
    async def run() -> None:
        turns = Turns(2, 100)
        for who in "ab":
            await turns.begin(who)
        names = [f"w{n % 3}" for n in range(9)]
        waiting = [asyncio.create_task(turns.begin(name)) for name in names]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        await asyncio.sleep(0)
        # One that is given its turn in the very moment in which it gives up.
        turns.end("a")
        waiting[1].cancel()
        await asyncio.gather(*waiting[::2], waiting[1], return_exceptions=True)
        turns.end("b")
        left = [(name, task) for name, task in zip(names, waiting, strict=True) if not task.cancelled()]
        assert len(left) == 3
        for _ in left:
            done = next((name, task) for name, task in left if task.done() and task in waiting)
            turns.end(done[0])
            waiting.remove(done[1])
            await asyncio.sleep(0)
        assert turns._free == 2
        assert not turns._queues
        assert not turns._running
        assert turns._count == 0

    asyncio.run(run())


def test_a_caller_shares_places_once_others_come() -> None:
    now = [0.0]

    async def run() -> None:
        turns = Turns(4, 100, lambda: now[0])
        for _ in range(4):
            await asyncio.wait_for(turns.begin("a"), 1)
        other = asyncio.create_task(turns.begin("b"))
        more = [asyncio.create_task(turns.begin("a")) for _ in range(4)]
        await asyncio.sleep(0)
        turns.end("a")
        await asyncio.wait_for(other, 1)
        turns.end("b")
        await asyncio.sleep(0)
        assert not any(task.done() for task in more), "three of four are theirs, and half would be"
        await asyncio.wait_for(turns.begin("b"), 1)
        turns.end("b")
        now[0] += 10
        turns.end("a")
        await asyncio.sleep(0)
        assert [task.done() for task in more] == [True, True, False, False], "nobody else has come for a while"
        for task in more:
            task.cancel()

    asyncio.run(run())


def test_too_many_requests_are_refused_while_others_enter() -> None:
    async def run() -> tuple[list[Answer], Answer]:
        free = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await free.wait()
            await echo(scope, receive, send)

        app = Fairness(slow, slots=2, waiting=10)
        greedy = [asyncio.create_task(answer_of(app, who="greedy")) for _ in range(12)]
        await asyncio.sleep(0)
        other = asyncio.create_task(answer_of(app, who="other"))
        await asyncio.sleep(0)
        free.set()
        return [await each for each in greedy], await other

    greedy, other = asyncio.run(run())
    assert other[0] == 200
    assert sorted(status for status, _, _ in greedy) == [200] * 7 + [429] * 5
    assert all(headers["retry-after"] == "1" for status, headers, _ in greedy if status == 429)


def test_a_full_queue_refuses_everybody() -> None:
    async def run() -> int:
        turns = Turns(1, 4)
        await turns.begin("a")
        waiting = [asyncio.create_task(turns.begin(f"w{n}")) for n in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as refused:
            await turns.begin("w9")
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return refused.value.status

    assert asyncio.run(run()) == 503


def test_slow_readers_occupy_no_turn() -> None:
    async def run() -> Answer:
        begun = asyncio.Event()

        async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            if not begun.is_set():
                begun.set()
                await asyncio.sleep(30)
            await send({"type": "http.response.body", "body": b""})

        app = Fairness(streaming, slots=1, waiting=10)
        slow = asyncio.create_task(answer_of(app, who="slow"))
        await begun.wait()
        found = await asyncio.wait_for(answer_of(app, who="other"), 2)
        slow.cancel()
        return found

    assert asyncio.run(run())[0] == 200


def test_health_answers_whoever_waits() -> None:
    async def run() -> Answer:
        async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
            if not scope["path"].endswith("health"):
                await asyncio.sleep(30)
            await echo(scope, receive, send)

        app = Fairness(stuck, slots=1, waiting=1)
        busy = [asyncio.create_task(answer_of(app, who=f"w{n}")) for n in range(2)]
        await asyncio.sleep(0)
        answer = await asyncio.wait_for(answer_of(app, path="/api/v1/health", method="GET"), 2)
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        return answer

    assert asyncio.run(run())[0] == 200
