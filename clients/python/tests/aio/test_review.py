"""Changes that wait for review, and learning."""

from __future__ import annotations

import pytest

from knowhow_client import AsyncKnowhow, Submission, applied, errors

pytestmark = pytest.mark.anyio
TEXT = "Open the page of the bank and read the balance aloud.\n"


async def waiting(kh: AsyncKnowhow, name: str = "bank") -> Submission:
    """Returns a submission from a tainted session."""
    async with kh.session(key="t") as s:
        await s.turn("read this page", tainted_by=["https://example.com"])
        saved = await s.skills.save(name, description="Read the balance. Use for the bank.", content=TEXT)
    assert isinstance(saved, Submission)
    return saved


async def test_a_waiting_change_is_a_result(kh: AsyncKnowhow) -> None:
    saved = await waiting(kh)
    assert (saved.state, saved.skill, saved.tainted_by) == ("needs_review", "bank", ["https://example.com"])
    with pytest.raises(errors.NeedsApproval) as needs:
        applied(saved)
    assert needs.value.submission.id == saved.id
    with pytest.raises(errors.NotFound):
        await kh.skills.get("bank")
    assert [found.id async for found in kh.submissions.list(state="needs_review")] == [saved.id]
    assert (await kh.submissions.get(saved.id)).state == "needs_review"


async def test_an_admin_approves(kh: AsyncKnowhow, admin: AsyncKnowhow) -> None:
    saved = await waiting(kh)
    with pytest.raises(errors.Forbidden):
        await kh.submissions.approve(saved.id)
    approved = await admin.submissions.approve(saved.id, comment="checked")
    assert (approved.state, approved.applied_version) == ("approved", 1)
    assert (await kh.skills.get("bank")).content.strip() == TEXT.strip()
    with pytest.raises(errors.Decided):
        await admin.submissions.approve(saved.id)


async def test_an_admin_rejects(kh: AsyncKnowhow, admin: AsyncKnowhow) -> None:
    saved = await waiting(kh)
    assert (await admin.submissions.reject(saved.id, comment="no")).state == "rejected"
    with pytest.raises(errors.Rejected):
        await waiting(kh)


async def test_deletions_wait_too(kh: AsyncKnowhow) -> None:
    applied(await kh.skills.save("gone", description="Go. Use to go.", content="Go.\n"))
    async with kh.session(key="t") as s:
        await s.taint("a mail")
        deleted = await s.skills.delete("gone")
        assert isinstance(deleted, Submission) and deleted.kind == "delete"
        with pytest.raises(errors.NeedsReview):
            await s.skills.update("gone", pinned=True)
    assert (await kh.submissions.withdraw(deleted.id)).state == "withdrawn"


async def test_submit(kh: AsyncKnowhow) -> None:
    created = await kh.submissions.submit("sing", description="Sing. Use to sing.", content="Sing a song.\n", reason="new")
    assert created.state == "approved"
    patched = await kh.submissions.submit("sing", edits=[{"old_string": "a song", "new_string": "two songs"}], reason="more")
    assert patched.applied_version == 2
    assert (await kh.submissions.submit("sing", delete=True, reason="enough")).kind == "delete"


async def test_rebase(kh: AsyncKnowhow) -> None:
    applied(await kh.skills.save("list", description="List. Use to list.", content="One line of text.\n\nTwo lines of text.\n"))
    async with kh.session(key="t") as s:
        await s.taint("a mail")
        changed = await s.skills.patch("list", [{"old_string": "One line of text.", "new_string": "First line."}])
    assert isinstance(changed, Submission)
    applied(await kh.skills.patch("list", [{"old_string": "Two lines of text.", "new_string": "Second line."}]))
    rebased = await kh.submissions.rebase(changed.id)
    assert (rebased.state, rebased.base_version) == ("needs_review", 2)


async def test_dreams_and_learning(kh: AsyncKnowhow) -> None:
    learning = await kh.learning.get()
    assert {state.pass_ for state in learning.passes} == {"gaps", "consolidate", "optimize"}
    with pytest.raises(errors.Forbidden):
        await kh.learning.put(time_zone="Europe/Berlin", consolidate="off")
    assert (await kh.dreams.candidates()).gaps == []
    runs = await kh.dreams.start(dry_run=True, passes=["consolidate"])
    assert [run.pass_ for run in runs] == ["consolidate"]
    assert (await kh.dreams.get(runs[0].id)).dry_run
    assert [run.id async for run in kh.dreams.list(pass_="consolidate")] == [runs[0].id]
    for decide in (kh.dreams.apply, kh.dreams.reject, kh.dreams.undo):
        with pytest.raises((errors.Conflict, errors.Forbidden)):
            await decide(runs[0].id)
