"""Fixtures of both kinds of tests. The service runs already: scripts/ci/with_service.sh sets the variables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from knowhow_client import Knowhow

from .faults import Faults


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio."""
    return "asyncio"


@pytest.fixture
def user() -> str:
    """A user of its own for each test."""
    return f"user-{uuid4().hex[:12]}"


@pytest.fixture
def faults() -> Iterator[Faults]:
    """A proxy that fails as planned."""
    proxy = Faults(os.environ["KNOWHOW_URL"])
    yield proxy
    proxy.close()


@pytest.fixture(autouse=True, scope="session")
def service_is_ready() -> None:
    """The service answers before the first test."""
    with Knowhow() as kh:
        assert kh.ready().status == "ok"
