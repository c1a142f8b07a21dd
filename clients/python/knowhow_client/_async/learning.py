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
from .base import AsyncGroup, AsyncPages


class AsyncSubmissions(AsyncGroup):
    """Changes that wait for a reviewer. Admins give a reason: `kh.with_options(reason=...).submissions`."""

    async def submit(
        self, name: str | None = None, *, reason: str, edits: Sequence[EditParam] | None = None, delete: bool = False,
        **fields: Unpack[SaveSkillParam],
    ) -> Submission:  # fmt: skip
        """Submits a change for review: `skill_md` or fields as of a save, `edits` as of a patch, or a deletion.

        The state is `approved` if no check holds it; then it took effect.
        """
        member = "skill" if delete or edits is not None else "name"
        body = given(**{member: name}, reason=reason, edits=edits, delete=delete or None, **fields)
        return await self._write(Submission, "POST", at("submissions"), body)

    def list(
        self, *, state: SubmissionState | None = None, user: str | None = None, page_size: int | None = None
    ) -> AsyncPages[Submission]:
        """Iterates over the submissions, newest first."""
        return self._pages(Page[Submission], at("submissions"), page_size, state=state, user=user)

    async def get(self, submission: str) -> SubmissionDetail:
        """Reads a submission; reviewers get its text and diff."""
        return await self._get(SubmissionDetail, at("submissions", submission))

    async def approve(
        self, submission: str, *, comment: str | None = None, take: Literal["mine", "theirs"] | None = None
    ) -> Submission:
        """Approves a submission, which makes it a version."""
        return await self._decide(Submission, at("submissions", submission, "approve"), None, given(comment=comment, take=take))

    async def reject(self, submission: str, *, comment: str) -> Submission:
        """Rejects a submission, and the same change from now on."""
        return await self._decide(Submission, at("submissions", submission, "reject"), None, given(comment=comment))

    async def withdraw(self, submission: str, *, comment: str | None = None) -> Submission:
        """Withdraws a submission, as its submitter."""
        return await self._decide(Submission, at("submissions", submission, "withdraw"), None, given(comment=comment))

    async def rebase(self, submission: str) -> Submission:
        """Merges a submission with the current version; it waits again."""
        return await self._decide(Submission, at("submissions", submission, "rebase"), None)


class AsyncDreams(AsyncGroup):
    """Background runs that propose changes of skills."""

    async def start(self, *, dry_run: bool = False, passes: Sequence[Pass] | None = None) -> Sequence[DreamRun]:
        """Starts a run for each pass."""
        body = given(dry_run=dry_run, passes=passes)
        return (await self._write(StartedDreams, "POST", at("dreams"), body)).items

    def list(
        self, *, state: RunState | None = None, pass_: RunPass | None = None, user: str | None = None, page_size: int | None = None
    ) -> AsyncPages[DreamRun]:
        """Iterates over the runs, newest first."""
        return self._pages(Page[DreamRun], at("dreams"), page_size, state=state, user=user, **given(**{"pass": pass_}))

    async def get(self, dream: str, *, user: str | None = None) -> DreamDetail:
        """Reads a run with its operations; an admin names its `user`, here and below."""
        return await self._get(DreamDetail, at("dreams", dream), user=user)

    async def candidates(self, *, pass_: Pass | None = None) -> DreamCandidates:
        """Returns what a run would look at; needs no model."""
        return await self._get(DreamCandidates, at("dreams", "candidates"), **given(**{"pass": pass_}))

    async def apply(
        self, dream: str, *, user: str | None = None, ops: Sequence[int] | None = None, comment: str | None = None
    ) -> DreamDetail:
        """Applies waiting operations, all or those at the positions `ops`."""
        return await self._decide(DreamDetail, at("dreams", dream, "apply"), user, given(ops=ops, comment=comment))

    async def reject(self, dream: str, *, user: str | None = None, comment: str | None = None) -> DreamDetail:
        """Rejects a run."""
        return await self._decide(DreamDetail, at("dreams", dream, "reject"), user, given(comment=comment))

    async def undo(self, dream: str, *, user: str | None = None) -> DreamDetail:
        """Undoes all applied operations of a run."""
        return await self._decide(DreamDetail, at("dreams", dream, "undo"), user)


class AsyncLearning(AsyncGroup):
    """The user's settings of learning."""

    async def get(self) -> models.Learning:
        """Returns the settings in force."""
        return await self._get(models.Learning, at("learning"))

    async def put(
        self, *, time_zone: str | None = None, gaps: Mode | None = None, consolidate: Mode | None = None,
        optimize: Mode | None = None, resume: Sequence[Pass] | None = None,
    ) -> models.Learning:  # fmt: skip
        """Sets the user's settings as a whole: what is not given follows the tenant."""
        body = given(time_zone=time_zone, gaps=gaps, consolidate=consolidate, optimize=optimize, resume=resume)
        return await self._write(models.Learning, "PUT", at("learning"), body)
