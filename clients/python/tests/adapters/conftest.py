"""Clients of the tests of adapters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from knowhow_client import AsyncKnowhow, Knowhow


@pytest.fixture
def kh(user: str) -> Iterator[Knowhow]:
    """A client of a new user."""
    with Knowhow(user=user) as client:
        yield client


@pytest.fixture
async def akh(user: str) -> AsyncIterator[AsyncKnowhow]:
    """An asynchronous client of a new user."""
    async with AsyncKnowhow(user=user) as client:
        yield client
