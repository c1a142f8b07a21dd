"""Retries: broken connections, 429 and 503, and what must not happen twice."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from knowhow_client import AsyncKnowhow, applied, errors

from ..faults import Faults

pytestmark = pytest.mark.anyio
FIELDS = {"description": "Do it. Use when needed.", "content": "Do it.\n"}


@pytest.mark.parametrize("fault", ["429", "503", "502", "504", "break", "lose"])
async def test_a_write_is_repeated_and_takes_effect_once(faulty: AsyncKnowhow, faults: Faults, fault: str) -> None:
    faults.plan = [fault, fault]
    saved = applied(await faulty.skills.save("once", description="Do it. Use when needed.", content="Do it.\n"))
    assert saved.version == 1 and not saved.unchanged, "the answer to the repeated request is that to the first"
    keys = faults.keys()
    assert len(keys) == 3 and len(set(keys)) == 1 and keys[0]


async def test_one_connection_is_kept(faulty: AsyncKnowhow, faults: Faults) -> None:
    async with faulty.session(key="t") as s:
        for n in range(5):
            await s.turn(f"message {n}")
            await s.reply("Yes.")
    await faulty.with_options(user="somebody-else").soul.get()
    assert (len(faults.seen), faults.connections) == (12, 1)
    assert all(headers["authorization"].startswith("Bearer kh_") for _, _, headers, _ in faults.seen)


async def test_each_write_has_its_own_key(faulty: AsyncKnowhow, faults: Faults) -> None:
    first = await faulty.memories.save("Likes tea")
    second = await faulty.memories.save("Likes coffee")
    assert first.id != second.id and len(set(faults.keys())) == 2


async def test_memories_replies_and_turns_are_not_doubled(faulty: AsyncKnowhow, faults: Faults) -> None:
    async with faulty.session(key="t") as s:
        faults.plan = ["lose"]
        await s.turn("hello")
        faults.plan = ["lose", "lose"]
        await s.reply("Hello!")
        faults.plan = ["lose"]
        await s.memories.save("Says hello")
        assert [(m.speaker, m.text) async for m in s.messages()] == [("user", "hello"), ("agent", "Hello!")]
    assert len([memory async for memory in faulty.memories.list()]) == 1


async def test_a_session_without_a_key_is_opened_once(faulty: AsyncKnowhow, faults: Faults) -> None:
    faults.plan = ["lose"]
    async with faulty.session() as s:
        assert [found.id async for found in faulty.sessions.list()] == [s.id]


async def test_an_import_is_repeated_with_the_same_bytes(faulty: AsyncKnowhow, faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "walk").mkdir()
    (tmp_path / "walk/SKILL.md").write_text("---\nname: walk\ndescription: Walk. Use to walk.\n---\nWalk.\n")
    faults.plan = ["lose", "503"]
    report = await faulty.skills.import_folder(tmp_path)
    assert (report.created, report.unchanged) == (1, 0)
    bodies = {body for _, _, _, body in faults.seen}
    assert len(faults.seen) == 3 and len(bodies) == 1
    faults.plan = ["break"]
    text = io.BytesIO(b"---\nname: run\ndescription: Run. Use to run.\n---\nRun.\n")
    assert (await faulty.skills.import_files(("SKILL.md", text))).created == 1


async def test_decisions_are_not_repeated_after_a_lost_answer(faulty: AsyncKnowhow, faults: Faults) -> None:
    faults.plan = ["break"]
    with pytest.raises(errors.ConnectionFailed):
        await faulty.submissions.approve("01a00000-0000-7000-8000-000000000000")
    assert len(faults.seen) == 1
    faults.plan = ["429"]
    with pytest.raises((errors.NotFound, errors.Forbidden)):
        await faulty.submissions.approve("01a00000-0000-7000-8000-000000000000")
    assert len(faults.seen) == 3


async def test_retry_after_is_honoured(faulty: AsyncKnowhow, faults: Faults) -> None:
    faults.plan, faults.retry_after = ["429"], "1"
    began = time.monotonic()
    await faulty.skills.search("anything")
    assert 1 <= time.monotonic() - began < 2
    faults.plan, faults.retry_after = ["429"], "3600"
    with pytest.raises(errors.RateLimited) as limited:
        await faulty.skills.search("anything")
    assert limited.value.retry_after == 3600 and limited.value.detail == "busy"


async def test_the_number_of_retries_is_limited(faulty: AsyncKnowhow, faults: Faults) -> None:
    faults.plan = ["503"] * 9
    with pytest.raises(errors.Unavailable):
        await faulty.with_options(max_retries=2).skills.search("anything")
    assert len(faults.seen) == 3
    faults.plan, faults.seen = ["break"] * 9, []
    with pytest.raises(errors.ConnectionFailed):
        await faulty.with_options(max_retries=0).skills.search("anything")
    assert len(faults.seen) == 1


async def test_answers_that_are_not_of_the_service(faulty: AsyncKnowhow, faults: Faults) -> None:
    faults.plan = ["html"]
    with pytest.raises(errors.NotJSON, match="/v1/skills"):
        await faulty.skills.search("anything")


async def test_an_export_that_breaks_off(faulty: AsyncKnowhow, faults: Faults, tmp_path: Path) -> None:
    faults.plan = ["503", "cut"]
    with pytest.raises(errors.ConnectionFailed, match="broke off"):
        await faulty.skills.export_file(tmp_path / "all.zip")
    assert list(tmp_path.iterdir()) == []


async def test_no_service() -> None:
    async with AsyncKnowhow("http://127.0.0.1:9", api_key="kh_x", user="x", max_retries=1) as kh:
        with pytest.raises(errors.ConnectionFailed, match="127.0.0.1:9"):
            await kh.ready()
