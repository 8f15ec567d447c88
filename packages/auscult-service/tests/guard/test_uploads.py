"""Uploads on their way in: places, pace, and who is refused before anything is read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from auscult_service.caller import ANYONE, Caller
from auscult_service.errors import Refusal
from auscult_service.guard.bodies import Unread
from auscult_service.guard.uploads import Arrival, Pace, UploadPlaces, Uploads
from auscult_service.settings import ServiceLimits
from instant_loop import run_at_once

FOREVER = Pace(rate=1000, patience=600, seconds=600)


def scope_of(caller: Caller, **headers: str) -> Scope:
    return {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/documents",
        "headers": [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": ("10.0.0.1", 1),
        "state": {"caller": caller},
    }


def multipart(caller: Caller) -> Scope:
    return scope_of(caller, content_type="Multipart/Form-Data; boundary=x", content_length="100")


async def status_of(
    app: Callable[[Scope, Receive, Send], Awaitable[None]], scope: Scope, receive: Receive
) -> tuple[int, dict[str, str]]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert not sent[-1].get("more_body", False)
    return sent[0]["status"], {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}


async def never(*_: Any) -> Message:
    raise AssertionError("read, or passed on")


async def silence() -> Message:
    await asyncio.sleep(600)
    raise AssertionError


def pieces(*sizes: int, pause: float = 0.0) -> Receive:
    left = list(sizes)

    async def receive() -> Message:
        await asyncio.sleep(pause)
        size = left.pop(0)
        return {"type": "http.request", "body": bytes(size), "more_body": bool(left)}

    return receive


async def reading(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with 202 when it has read a body."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RuntimeError("the caller has gone")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 202, "headers": []})
    await send({"type": "http.response.body"})


@pytest.mark.parametrize(
    ("caller", "changes", "status"),
    [(Caller("ann", "read"), True, 403), (Caller("ann", "admin"), False, 403), (ANYONE, False, 403)],
)
def test_forbidden_uploads_are_refused_before_reading(caller: Caller, changes: bool, status: int) -> None:
    async def run() -> None:
        places = UploadPlaces(1, 1, FOREVER)
        await places.take("caller other")
        app = Uploads(never, places, most=1000, changes=changes)
        assert (await asyncio.wait_for(status_of(app, multipart(caller), never), 5))[0] == status

    run_at_once(run())


def test_a_caller_has_a_quarter_of_the_places() -> None:
    async def run() -> None:
        places = UploadPlaces(8, 64, FOREVER)
        arrivals = [await places.take("a") for _ in range(2)]
        more = [asyncio.create_task(places.take("a")) for _ in range(6)]
        await asyncio.sleep(0)
        others = [await asyncio.wait_for(places.take(name), 5) for name in "bbccdd"]
        assert not any(task.done() for task in more)
        places.leave(arrivals[0])
        places.leave(arrivals[0])
        assert await asyncio.wait_for(more[0], 5)
        assert not any(task.done() for task in more[1:])
        for task in more[1:]:
            task.cancel()
        await asyncio.gather(*more, return_exceptions=True)
        for left in (arrivals[1], more[0].result(), *others):
            places.leave(left)
        assert not places._taken
        assert not places._queue

    run_at_once(run())


def test_the_caller_with_fewest_uploads_is_next() -> None:
    async def run() -> None:
        places = UploadPlaces(8, 64, FOREVER)
        held = [await places.take(name) for name in "aabbccde"]
        order = [asyncio.create_task(places.take(name)) for name in "def"]
        await asyncio.sleep(0)
        places.leave(held[0])
        assert await asyncio.wait_for(order[2], 5), "f holds none, and came last"
        assert not order[0].done()
        for each in order[:2]:
            each.cancel()
        await asyncio.gather(*order, return_exceptions=True)

    run_at_once(run())


def test_uploads_beyond_the_queue_are_refused_until_later() -> None:
    async def run() -> list[int]:
        places = UploadPlaces(1, 4, FOREVER)
        await places.take("x")
        waiting = [asyncio.create_task(places.take(name)) for name in "aab"]
        await asyncio.sleep(0)
        statuses = []
        for name in ("a", "c", "d"):
            task = asyncio.create_task(places.take(name))
            await asyncio.sleep(0)
            waiting.append(task)
            statuses += [task.exception().status] if task.done() and isinstance(task.exception(), Refusal) else [0]  # type: ignore[union-attr]
        for waiter in waiting:
            waiter.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return statuses

    assert run_at_once(run()) == [429, 0, 503]


def test_a_trickling_upload_makes_room_for_waiting_ones() -> None:
    async def run() -> tuple[list[int], int]:
        places = UploadPlaces(8, 64, FOREVER)
        app = Uploads(reading, places, most=1000)
        slow = [
            asyncio.create_task(status_of(app, multipart(Caller(f"key {n % 4}", "write")), silence)) for n in range(8)
        ]
        await asyncio.sleep(10)
        assert len(places._arriving) == 8
        honest = await asyncio.wait_for(status_of(app, multipart(Caller("ann", "write")), pieces(10, 10)), 20)
        cut = [each.result()[0] for each in slow if each.done()]
        for each in slow:
            each.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert not places._arriving
        return cut, honest[0]

    cut, honest = run_at_once(run())
    assert honest == 202
    assert cut == [503], "one had to make room, the others go on"


def test_uploads_at_the_minimum_rate_never_make_room() -> None:
    async def run() -> int:
        places = UploadPlaces(1, 64, Pace(rate=1000, patience=600, seconds=600))
        app = Uploads(reading, places, most=1_000_000)
        steady = asyncio.create_task(status_of(app, multipart(Caller("ann", "write")), pieces(*[1000] * 60, pause=0.9)))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(places.take("caller ben"))
        status, _ = await steady
        places.leave(await asyncio.wait_for(waiting, 5))
        return status

    assert run_at_once(run()) == 202


def test_slow_uploads_time_out() -> None:
    async def run(pace: Pace, *sizes: int, pause: float) -> int:
        app = Uploads(reading, UploadPlaces(8, 64, pace), most=100_000_000)
        return (await status_of(app, multipart(Caller("ann", "write")), pieces(*sizes, pause=pause)))[0]

    pace = Pace(rate=8_000, patience=30, seconds=3600)
    slow_line = [64_000] * 50
    assert run_at_once(run(pace, *slow_line, pause=8)) == 202, "just the least rate"
    assert run_at_once(run(pace, *slow_line, pause=9)) == 408
    assert run_at_once(run(pace, *[1] * 100, pause=0.29)) == 202, "29 seconds in all"
    assert run_at_once(run(pace, *[1] * 100, pause=5)) == 408
    assert run_at_once(run(pace, 900_000, *[1] * 100, pause=5)) == 408, "what came fast is no credit for ever"
    assert run_at_once(run(pace, 100, *slow_line, pause=0.1)) == 202
    any_rate = Pace(rate=0, patience=30, seconds=3600)
    assert run_at_once(run(any_rate, *[1] * 100, pause=29)) == 202
    assert run_at_once(run(any_rate, *[1] * 100, pause=31)) == 408
    assert run_at_once(run(any_rate, *[1] * 130, pause=29)) == 408, "more than an hour"


def test_a_late_cut_does_not_change_later_refusals() -> None:
    async def run() -> tuple[int, int]:
        arrival = Arrival("caller a", Pace(rate=1_000_000, patience=0.05, seconds=60))

        async def piece() -> Message:
            arrival.cut()
            return {"type": "http.request", "body": b"x", "more_body": True}

        first = await arrival.next(piece)
        try:
            await arrival.next(silence)
        except Refusal as refusal:
            return len(first["body"]), refusal.status
        raise AssertionError

    assert asyncio.run(run()) == (1, 408)


def test_the_largest_upload_fits_a_slow_connections_time() -> None:
    async def run() -> int:
        limits = ServiceLimits()
        pace = Pace(rate=limits.least_rate, patience=limits.patience, seconds=limits.upload_seconds)
        app = Uploads(reading, UploadPlaces(8, 64, pace), most=limits.upload)
        # 0.6 Mbit/s.
        seconds, piece = 0.875, 65_536
        sizes = [piece] * (limits.upload // piece)
        return (await status_of(app, multipart(Caller("ann", "write")), pieces(*sizes, pause=seconds)))[0]

    assert run_at_once(run()) == 202


def test_the_services_own_time_does_not_count() -> None:
    async def run() -> int:
        async def busy(scope: Scope, receive: Receive, send: Send) -> None:
            async def slowly() -> Message:
                await asyncio.sleep(100)
                return await receive()

            await reading(scope, slowly, send)

        app = Uploads(busy, UploadPlaces(8, 64, Pace(rate=1000, patience=1, seconds=3600)), most=1000)
        return (await status_of(app, multipart(Caller("ann", "write")), pieces(1, 1, 1, 1)))[0]

    assert run_at_once(run()) == 202


def test_clients_that_ignore_their_response_occupy_no_place() -> None:
    async def run() -> None:
        places = UploadPlaces(1, 64, FOREVER)
        is_sending = asyncio.Event()

        async def send(_: Message) -> None:
            is_sending.set()
            await asyncio.sleep(600)

        app = Uploads(reading, places, most=1000)
        slow = asyncio.create_task(app(multipart(Caller("ann", "write")), pieces(1), send))
        await is_sending.wait()
        assert isinstance(await asyncio.wait_for(places.take("caller ben"), 5), Arrival)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)

    run_at_once(run())


async def refusing(_: Scope, __: Receive, send: Send) -> None:
    """Answers without reading."""
    await send({"type": "http.response.start", "status": 403, "headers": [(b"connection", b"keep-alive")]})
    await send({"type": "http.response.body", "body": b"no"})


def test_responses_to_unread_bodies_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_service.guard.bodies._LINGER", 0.1)
    caller = Caller("", "read")

    async def run(receive: Receive, **headers: str) -> str:
        scope = scope_of(caller, **headers)
        return (await status_of(Unread(refusing), scope, receive))[1]["connection"]

    assert run_at_once(run(silence, content_length="5")) == "close"
    assert run_at_once(run(silence, transfer_encoding="chunked")) == "close"
    # What has come already is thrown away, and nothing else would come.
    assert run_at_once(run(_at_once(1, 1), content_length="2")) == "keep-alive"
    assert run_at_once(run(never)) == "keep-alive", "no body"


def test_a_refused_sender_gets_no_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_service.guard.bodies._LINGER", 0.1)

    async def run() -> list[str]:
        order: list[str] = []

        async def receive() -> Message:
            order.append("read")
            return await silence()

        async def send(message: Message) -> None:
            order.append(message["type"])

        scope = scope_of(Caller("", "read"), content_length="5", expect="100-continue")
        await Unread(refusing)(scope, receive, send)
        return order

    assert run_at_once(run())[0] == "http.response.start"


def _at_once(*sizes: int) -> Receive:
    left = list(sizes)

    async def receive() -> Message:
        size = left.pop(0)
        return {"type": "http.request", "body": bytes(size), "more_body": bool(left)}

    return receive
