"""Review and learning: submissions, dreams, and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from typing_extensions import Unpack

from .. import models
from .._core import Page, at, given
from ..models import (
    DreamCandidates, DreamDetail, DreamRun, EditParam, Mode, Pass, RunPass, RunState, SaveSkillParam, StartedDreams,
    Submission, SubmissionDetail, SubmissionState,
)  # fmt: skip
from .base import Group, Pages


class Submissions(Group):
    """Changes that wait for a reviewer. Admins give a reason: `kh.with_options(reason=...).submissions`."""

    def submit(
        self, name: str | None = None, *, reason: str, edits: Sequence[EditParam] | None = None, delete: bool = False,
        **fields: Unpack[SaveSkillParam],
    ) -> Submission:  # fmt: skip
        """Submits a change for review: `skill_md` or fields as of a save, `edits` as of a patch, or a deletion.

        The state is `approved` if no check holds it; then it took effect.
        """
        member = "skill" if delete or edits is not None else "name"
        body = given(**{member: name}, reason=reason, edits=edits, delete=delete or None, **fields)
        return self._write(Submission, "POST", at("submissions"), body)

    def list(
        self, *, state: SubmissionState | None = None, user: str | None = None, page_size: int | None = None
    ) -> Pages[Submission]:
        """Iterates over the submissions, newest first."""
        return self._pages(Page[Submission], at("submissions"), page_size, state=state, user=user)

    def get(self, submission: str) -> SubmissionDetail:
        """Reads a submission; reviewers get its text and diff."""
        return self._get(SubmissionDetail, at("submissions", submission))

    def approve(
        self, submission: str, *, comment: str | None = None, take: Literal["mine", "theirs"] | None = None
    ) -> Submission:
        """Approves a submission, which makes it a version."""
        return self._decide(Submission, at("submissions", submission, "approve"), None, given(comment=comment, take=take))

    def reject(self, submission: str, *, comment: str) -> Submission:
        """Rejects a submission, and the same change from now on."""
        return self._decide(Submission, at("submissions", submission, "reject"), None, given(comment=comment))

    def withdraw(self, submission: str, *, comment: str | None = None) -> Submission:
        """Withdraws a submission, as its submitter."""
        return self._decide(Submission, at("submissions", submission, "withdraw"), None, given(comment=comment))

    def rebase(self, submission: str) -> Submission:
        """Merges a submission with the current version; it waits again."""
        return self._decide(Submission, at("submissions", submission, "rebase"), None)


class Dreams(Group):
    """Background runs that propose changes of skills."""

    def start(self, *, dry_run: bool = False, passes: Sequence[Pass] | None = None) -> Sequence[DreamRun]:
        """Starts a run for each pass."""
        body = given(dry_run=dry_run, passes=passes)
        return (self._write(StartedDreams, "POST", at("dreams"), body)).items

    def list(
        self, *, state: RunState | None = None, pass_: RunPass | None = None, user: str | None = None, page_size: int | None = None
    ) -> Pages[DreamRun]:
        """Iterates over the runs, newest first."""
        return self._pages(Page[DreamRun], at("dreams"), page_size, state=state, user=user, **given(**{"pass": pass_}))

    def get(self, dream: str, *, user: str | None = None) -> DreamDetail:
        """Reads a run with its operations; an admin names its `user`, here and below."""
        return self._get(DreamDetail, at("dreams", dream), user=user)

    def candidates(self, *, pass_: Pass | None = None) -> DreamCandidates:
        """Returns what a run would look at; needs no model."""
        return self._get(DreamCandidates, at("dreams", "candidates"), **given(**{"pass": pass_}))

    def apply(
        self, dream: str, *, user: str | None = None, ops: Sequence[int] | None = None, comment: str | None = None
    ) -> DreamDetail:
        """Applies waiting operations, all or those at the positions `ops`."""
        return self._decide(DreamDetail, at("dreams", dream, "apply"), user, given(ops=ops, comment=comment))

    def reject(self, dream: str, *, user: str | None = None, comment: str | None = None) -> DreamDetail:
        """Rejects a run."""
        return self._decide(DreamDetail, at("dreams", dream, "reject"), user, given(comment=comment))

    def undo(self, dream: str, *, user: str | None = None) -> DreamDetail:
        """Undoes all applied operations of a run."""
        return self._decide(DreamDetail, at("dreams", dream, "undo"), user)


class Learning(Group):
    """The user's settings of learning."""

    def get(self) -> models.Learning:
        """Returns the settings in force."""
        return self._get(models.Learning, at("learning"))

    def put(
        self, *, time_zone: str | None = None, gaps: Mode | None = None, consolidate: Mode | None = None,
        optimize: Mode | None = None, resume: Sequence[Pass] | None = None,
    ) -> models.Learning:  # fmt: skip
        """Sets the user's settings as a whole: what is not given follows the tenant."""
        body = given(time_zone=time_zone, gaps=gaps, consolidate=consolidate, optimize=optimize, resume=resume)
        return self._write(models.Learning, "PUT", at("learning"), body)
