"""One client in many threads, and many tasks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from knowhow_client import AsyncKnowhow, Knowhow, applied


def test_threads_share_a_client(user: str) -> None:
    with Knowhow(user=user, max_retries=8) as kh, ThreadPoolExecutor(12) as threads:
        saved = threads.map(lambda n: applied(kh.skills.save("many", description="Do it. Use it.", content=f"{n}\n")), range(36))
        assert sorted(skill.version for skill in saved) == list(range(1, 37)), "no version is lost or made twice"


@pytest.mark.anyio
async def test_tasks_share_a_client(user: str) -> None:
    async with AsyncKnowhow(user=user, max_retries=8) as kh:
        saved: list[int] = []

        async def save(n: int) -> None:
            saved.append(applied(await kh.skills.save("many", description="Do it. Use it.", content=f"{n}\n")).version)

        async with anyio.create_task_group() as tasks:
            for n in range(36):
                tasks.start_soon(save, n)
    assert sorted(saved) == list(range(1, 37))
