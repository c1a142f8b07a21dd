"""Changes that wait for review, and learning."""

from __future__ import annotations

import pytest

from knowhow_client import Knowhow, Submission, applied, errors

TEXT = "Open the page of the bank and read the balance aloud.\n"


def waiting(kh: Knowhow, name: str = "bank") -> Submission:
    """Returns a submission from a tainted session."""
    with kh.session(key="t") as s:
        s.turn("read this page", tainted_by=["https://example.com"])
        saved = s.skills.save(name, description="Read the balance. Use for the bank.", content=TEXT)
    assert isinstance(saved, Submission)
    return saved


def test_a_waiting_change_is_a_result(kh: Knowhow) -> None:
    saved = waiting(kh)
    assert (saved.state, saved.skill, saved.tainted_by) == ("needs_review", "bank", ["https://example.com"])
    with pytest.raises(errors.NeedsApproval) as needs:
        applied(saved)
    assert needs.value.submission.id == saved.id
    with pytest.raises(errors.NotFound):
        kh.skills.get("bank")
    assert [found.id for found in kh.submissions.list(state="needs_review")] == [saved.id]
    assert (kh.submissions.get(saved.id)).state == "needs_review"


def test_an_admin_approves(kh: Knowhow, admin: Knowhow) -> None:
    saved = waiting(kh)
    with pytest.raises(errors.Forbidden):
        kh.submissions.approve(saved.id)
    approved = admin.submissions.approve(saved.id, comment="checked")
    assert (approved.state, approved.applied_version) == ("approved", 1)
    assert (kh.skills.get("bank")).content.strip() == TEXT.strip()
    with pytest.raises(errors.Decided):
        admin.submissions.approve(saved.id)


def test_an_admin_rejects(kh: Knowhow, admin: Knowhow) -> None:
    saved = waiting(kh)
    assert (admin.submissions.reject(saved.id, comment="no")).state == "rejected"
    with pytest.raises(errors.Rejected):
        waiting(kh)


def test_deletions_wait_too(kh: Knowhow) -> None:
    applied(kh.skills.save("gone", description="Go. Use to go.", content="Go.\n"))
    with kh.session(key="t") as s:
        s.taint("a mail")
        deleted = s.skills.delete("gone")
        assert isinstance(deleted, Submission) and deleted.kind == "delete"
        with pytest.raises(errors.NeedsReview):
            s.skills.update("gone", pinned=True)
    assert (kh.submissions.withdraw(deleted.id)).state == "withdrawn"


def test_submit(kh: Knowhow) -> None:
    created = kh.submissions.submit("sing", description="Sing. Use to sing.", content="Sing a song.\n", reason="new")
    assert created.state == "approved"
    patched = kh.submissions.submit("sing", edits=[{"old_string": "a song", "new_string": "two songs"}], reason="more")
    assert patched.applied_version == 2
    assert (kh.submissions.submit("sing", delete=True, reason="enough")).kind == "delete"


def test_rebase(kh: Knowhow) -> None:
    applied(kh.skills.save("list", description="List. Use to list.", content="One line of text.\n\nTwo lines of text.\n"))
    with kh.session(key="t") as s:
        s.taint("a mail")
        changed = s.skills.patch("list", [{"old_string": "One line of text.", "new_string": "First line."}])
    assert isinstance(changed, Submission)
    applied(kh.skills.patch("list", [{"old_string": "Two lines of text.", "new_string": "Second line."}]))
    rebased = kh.submissions.rebase(changed.id)
    assert (rebased.state, rebased.base_version) == ("needs_review", 2)


def test_dreams_and_learning(kh: Knowhow) -> None:
    learning = kh.learning.get()
    assert {state.pass_ for state in learning.passes} == {"gaps", "consolidate", "optimize"}
    with pytest.raises(errors.Forbidden):
        kh.learning.put(time_zone="Europe/Berlin", consolidate="off")
    assert (kh.dreams.candidates()).gaps == []
    runs = kh.dreams.start(dry_run=True, passes=["consolidate"])
    assert [run.pass_ for run in runs] == ["consolidate"]
    assert (kh.dreams.get(runs[0].id)).dry_run
    assert [run.id for run in kh.dreams.list(pass_="consolidate")] == [runs[0].id]
    for decide in (kh.dreams.apply, kh.dreams.reject, kh.dreams.undo):
        with pytest.raises((errors.Conflict, errors.Forbidden)):
            decide(runs[0].id)
