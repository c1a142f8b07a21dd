"""Sending requests, and what the groups of methods share."""

from __future__ import annotations

import time
from collections.abc import Iterator, Callable
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import httpx2

from .._core import Attempts, Call, Options, Page, change_reader, given, reader
from ..models import Submission

T = TypeVar("T")


class Transport:
    """A pool of connections with the settings of one caller."""

    def __init__(self, options: Options, http: httpx2.Client) -> None:
        self.options, self.http = options, http

    def send(self, call: Call[T]) -> T:
        """Sends a request, repeats it if that is safe and can help, and returns its answer."""
        attempts = Attempts(self.options, call)
        while True:
            try:
                response = self.http.send(self.http.build_request(**attempts.request()))
            except httpx2.TransportError as error:
                pause = attempts.after_failure(error)
            else:
                if response.is_success:
                    return attempts.result(response)
                pause = attempts.after_response(response)
            time.sleep(pause)

    @contextmanager
    def stream(self, call: Call[None]) -> Iterator[Iterator[bytes]]:
        """Sends a request and yields the content of its answer in parts, as they come."""
        attempts = Attempts(self.options, call)
        while True:
            try:
                response = self.http.send(self.http.build_request(**attempts.request()), stream=True)
            except httpx2.TransportError as error:
                time.sleep(attempts.after_failure(error))
                continue
            try:
                if response.is_success:
                    yield self._parts(attempts, response)
                    return
                response.read()
            finally:
                response.close()
            time.sleep(attempts.after_response(response))

    def _parts(self, attempts: Attempts[None], response: httpx2.Response) -> Iterator[bytes]:
        try:
            for part in response.iter_bytes():
                yield part
        except httpx2.TransportError as error:
            attempts.give_up(error)


class Pages(Generic[T]):
    """The items of a list. Iterate over them: pages are fetched as they are needed."""

    def __init__(self, fetch: Callable[[str | None], Page[T]]) -> None:
        self._fetch = fetch

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            for item in page.items:
                yield item

    def pages(self, cursor: str | None = None) -> Iterator[Page[T]]:
        """Iterates over the pages, from the `next_cursor` of an earlier page if given."""
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return


class Group:
    """Methods about one kind of thing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(self, kind: type[T], path: str, /, **params: Any) -> T:
        return self._transport.send(Call("GET", path, reader(kind), params=given(**params)))

    def _pages(self, kind: type[Page[T]], path: str, page_size: int | None, /, **params: Any) -> Pages[T]:
        def fetch(cursor: str | None) -> Page[T]:
            return self._get(kind, path, limit=page_size, cursor=cursor, **params)

        return Pages(fetch)

    def _write(self, kind: type[T], method: str, path: str, json: Any = None) -> T:
        return self._transport.send(Call(method, path, reader(kind), json=json, keyed=True, repeatable=False))

    def _change(self, kind: type[T], method: str, path: str, json: Any = None, **more: Any) -> T | Submission:
        call = Call(method, path, change_reader(kind), json=json, keyed=True, repeatable=False, **more)
        return self._transport.send(call)

    def _do(self, read: Callable[[httpx2.Response], T], method: str, path: str, json: Any = None) -> T:
        return self._transport.send(Call(method, path, read, json=json, keyed=True, repeatable=False))

    def _decide(self, kind: type[T], path: str, user: str | None, json: Any = None) -> T:
        """Sends a decision, which has no idempotency key: after a lost answer it is not sent again."""
        call = Call("POST", path, reader(kind), json=json, params=given(user=user), repeatable=False)
        return self._transport.send(call)
