"""Clients of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from knowhow_client import Knowhow

from ..faults import Faults


@pytest.fixture
def kh(user: str) -> Iterator[Knowhow]:
    """A client of a new user."""
    with Knowhow(user=user) as client:
        yield client


@pytest.fixture
def admin(user: str) -> Iterator[Knowhow]:
    """A client of an admin of the tenant."""
    with Knowhow(token=os.environ["KNOWHOW_ADMIN_TOKEN"]) as client:
        yield client.with_options(reason="tests of the client")


@pytest.fixture
def faulty(faults: Faults, user: str) -> Iterator[Knowhow]:
    """A client of the same user, through the proxy."""
    with Knowhow(faults.url, user=user, timeout=10) as client:
        yield client


@pytest.fixture
def reviewer(admin: Knowhow, user: str) -> Iterator[Knowhow]:
    """A client of the same user that may review: the tenant lets users review, and the key has the scope."""
    admin.request("PATCH", "/v1/admin/tenants/demo", json={"settings": {"users_review": True}})
    wanted = {"name": user, "scopes": ["skills:read", "memories", "review"]}
    key = admin.request("POST", "/v1/admin/keys", json=wanted, params={"tenant": "demo"})
    with Knowhow(api_key=key["secret"], user=user) as client:
        yield client
