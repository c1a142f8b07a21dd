"""Clients of the tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest

from knowhow_client import AsyncKnowhow

from ..faults import Faults


@pytest.fixture
async def kh(user: str) -> AsyncIterator[AsyncKnowhow]:
    """A client of a new user."""
    async with AsyncKnowhow(user=user) as client:
        yield client


@pytest.fixture
async def admin(user: str) -> AsyncIterator[AsyncKnowhow]:
    """A client of an admin of the tenant."""
    async with AsyncKnowhow(token=os.environ["KNOWHOW_ADMIN_TOKEN"]) as client:
        yield client.with_options(reason="tests of the client")


@pytest.fixture
async def faulty(faults: Faults, user: str) -> AsyncIterator[AsyncKnowhow]:
    """A client of the same user, through the proxy."""
    async with AsyncKnowhow(faults.url, user=user, timeout=10) as client:
        yield client


@pytest.fixture
async def reviewer(admin: AsyncKnowhow, user: str) -> AsyncIterator[AsyncKnowhow]:
    """A client of the same user that may review: the tenant lets users review, and the key has the scope."""
    await admin.request("PATCH", "/v1/admin/tenants/demo", json={"settings": {"users_review": True}})
    wanted = {"name": user, "scopes": ["skills:read", "memories", "review"]}
    key = await admin.request("POST", "/v1/admin/keys", json=wanted, params={"tenant": "demo"})
    async with AsyncKnowhow(api_key=key["secret"], user=user) as client:
        yield client
