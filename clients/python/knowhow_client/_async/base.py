"""Sending requests, and what the groups of methods share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

import anyio
import httpx2

from .._core import Attempts, Call, Options, Page, change_reader, given, reader
from ..models import Submission

T = TypeVar("T")


class AsyncTransport:
    """A pool of connections with the settings of one caller."""

    def __init__(self, options: Options, http: httpx2.AsyncClient) -> None:
        self.options, self.http = options, http

    async def send(self, call: Call[T]) -> T:
        """Sends a request, repeats it if that is safe and can help, and returns its answer."""
        attempts = Attempts(self.options, call)
        while True:
            try:
                response = await self.http.send(self.http.build_request(**attempts.request()))
            except httpx2.TransportError as error:
                pause = attempts.after_failure(error)
            else:
                if response.is_success:
                    return attempts.result(response)
                pause = attempts.after_response(response)
            await anyio.sleep(pause)

    @asynccontextmanager
    async def stream(self, call: Call[None]) -> AsyncIterator[AsyncIterator[bytes]]:
        """Sends a request and yields the content of its answer in parts, as they come."""
        attempts = Attempts(self.options, call)
        while True:
            try:
                response = await self.http.send(self.http.build_request(**attempts.request()), stream=True)
            except httpx2.TransportError as error:
                await anyio.sleep(attempts.after_failure(error))
                continue
            try:
                if response.is_success:
                    yield self._parts(attempts, response)
                    return
                await response.aread()
            finally:
                await response.aclose()
            await anyio.sleep(attempts.after_response(response))

    async def _parts(self, attempts: Attempts[None], response: httpx2.Response) -> AsyncIterator[bytes]:
        try:
            async for part in response.aiter_bytes():
                yield part
        except httpx2.TransportError as error:
            attempts.give_up(error)


class AsyncPages(Generic[T]):
    """The items of a list. Iterate over them: pages are fetched as they are needed."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Page[T]]]) -> None:
        self._fetch = fetch

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def pages(self, cursor: str | None = None) -> AsyncIterator[Page[T]]:
        """Iterates over the pages, from the `next_cursor` of an earlier page if given."""
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return


class AsyncGroup:
    """Methods about one kind of thing."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _get(self, kind: type[T], path: str, /, **params: Any) -> T:
        return await self._transport.send(Call("GET", path, reader(kind), params=given(**params)))

    def _pages(self, kind: type[Page[T]], path: str, page_size: int | None, /, **params: Any) -> AsyncPages[T]:
        async def fetch(cursor: str | None) -> Page[T]:
            return await self._get(kind, path, limit=page_size, cursor=cursor, **params)

        return AsyncPages(fetch)

    async def _write(self, kind: type[T], method: str, path: str, json: Any = None) -> T:
        return await self._transport.send(Call(method, path, reader(kind), json=json, keyed=True, repeatable=False))

    async def _change(self, kind: type[T], method: str, path: str, json: Any = None, **more: Any) -> T | Submission:
        call = Call(method, path, change_reader(kind), json=json, keyed=True, repeatable=False, **more)
        return await self._transport.send(call)

    async def _do(self, read: Callable[[httpx2.Response], T], method: str, path: str, json: Any = None) -> T:
        return await self._transport.send(Call(method, path, read, json=json, keyed=True, repeatable=False))

    async def _decide(self, kind: type[T], path: str, user: str | None, json: Any = None) -> T:
        """Sends a decision, which has no idempotency key: after a lost answer it is not sent again."""
        call = Call("POST", path, reader(kind), json=json, params=given(user=user), repeatable=False)
        return await self._transport.send(call)
