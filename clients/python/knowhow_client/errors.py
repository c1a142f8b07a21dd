"""Errors: one class for each problem type that a caller may want to handle.

`KnowhowError` is the base of all. `Problem` is an error response of the service; unknown types become the class of their status.
"""

from __future__ import annotations

from typing import Any

from .models import FieldError, Passage, Submission


class KnowhowError(Exception):
    """Base of all errors of this package."""


class ConnectionFailed(KnowhowError):
    """The service could not be reached, or the connection broke. With a write, the effect is unknown."""


class DeadlineExceeded(ConnectionFailed):
    """No answer came in time."""


class NotJSON(KnowhowError):
    """The answer is not one of the service: check the URL, and proxies in between."""


class NeedsApproval(KnowhowError):
    """A change waits for a reviewer. Raised only by `applied`."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(f"not applied: the change of {submission.skill!r} waits for a reviewer (submission {submission.id}); do not repeat it")
        self.submission = submission


class Problem(KnowhowError):
    """An error response (RFC 9457). Subclasses are the problem types."""

    def __init__(self, status: int, members: dict[str, Any], retry_after: float | None = None, request_id: str | None = None) -> None:
        self.status = status
        self.type = str(members.get("type", "about:blank"))
        self.title = str(members.get("title", ""))
        self.detail = str(members.get("detail", ""))
        self.instance = str(members.get("instance", ""))
        self.members = members
        """All members of the response, also those that this version of the client does not know."""
        self.retry_after = retry_after
        """Seconds until a retry can succeed, if the service names them."""
        self.request_id = request_id
        """Id of the request in the log of the service."""
        super().__init__(f"{status} {self.slug}: {self.detail or self.title}")

    @property
    def slug(self) -> str:
        """Name of the problem type, such as `version-conflict`."""
        return self.type.rpartition("/")[2]

    @property
    def errors(self) -> list[FieldError]:
        """Invalid members of the request."""
        return [FieldError(pointer=error["pointer"], detail=error["detail"]) for error in self.members.get("errors") or ()]

    @property
    def candidates(self) -> list[str]:
        """Similar names that exist."""
        return list(self.members.get("candidates") or ())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.members, self.retry_after, self.request_id)

    def _passages(self, member: str) -> list[Passage]:
        return [Passage(line=passage["line"], text=passage["text"]) for passage in self.members.get(member) or ()]


# fmt: off
class BadRequest(Problem): """400: the request cannot be read."""
class Unauthenticated(Problem): """401: the credential is missing or wrong."""
class Forbidden(Problem): """403: the credential lacks a scope, or the user or tenant is suspended."""
class NotFound(Problem): """404: the caller has no such item. `candidates` are similar names."""
class Conflict(Problem): """409 or 412: the current state does not allow the request."""
class AmbiguousName(Conflict): """Several skills have this last segment. `candidates` are their full names."""
class VersionConflict(Conflict):
    """The change is based on another version than the current one."""

    @property
    def current_version(self) -> int:
        """The current version."""
        return int(self.members["current_version"])

class SkillExists(Conflict): """The skill exists, and `create_only` was set."""
class NameTaken(Conflict): """Another item has this name."""
class Pinned(Conflict): """The skill is pinned."""
class NeedsReview(Conflict): """The change cannot wait for a review, and its session is tainted or unknown."""
class Rejected(Conflict): """A reviewer has rejected the same change; `detail` has the comment."""
class Decided(Conflict): """The submission was decided already."""
class SubmissionStale(Conflict): """The skill has changed since the submission; rebase it."""
class MergeConflict(Conflict): """Both changes touch the same lines or files."""
class SessionEnded(Conflict): """The session has ended: open its key again."""
class LogFull(Conflict): """The session's log is full: end the session and open its key again."""
class AnswerGone(Conflict): """A version in the earlier answer was removed: send the request under a new key."""
class TooLarge(Problem): """413: a size limit is exceeded."""
class Invalid(Problem): """422: the request is readable but invalid. `errors` has each invalid member."""
class PatchNoMatch(Invalid):
    """The `old_string` of an edit does not occur."""

    @property
    def closest(self) -> list[Passage]:
        """The most similar passages, best first."""
        return self._passages("closest")

class PatchAmbiguous(Invalid):
    """The `old_string` of an edit occurs more than once."""

    @property
    def matches(self) -> list[Passage]:
        """All matches."""
        return self._passages("matches")

class IdempotencyMismatch(Invalid): """The idempotency key was used for another request."""
class RateLimited(Problem): """429: too many requests. The client retries after `retry_after` seconds, if that is soon."""
class QuotaExceeded(RateLimited): """429: a quota of the tenant or user is used up."""
class ServerError(Problem): """500 and above: a defect of the service, or of a proxy before it."""
class Unavailable(ServerError): """503: the service is busy, or its database or a model is unavailable."""

BY_SLUG: dict[str, type[Problem]] = {
    "ambiguous-name": AmbiguousName, "answer-gone": AnswerGone, "decided": Decided, "forbidden": Forbidden,
    "idempotency-mismatch": IdempotencyMismatch, "internal": ServerError, "invalid": Invalid, "log-full": LogFull,
    "malformed": BadRequest, "merge-conflict": MergeConflict, "name-taken": NameTaken, "needs-review": NeedsReview,
    "not-found": NotFound, "patch-ambiguous": PatchAmbiguous, "patch-no-match": PatchNoMatch, "pinned": Pinned,
    "quota-exceeded": QuotaExceeded, "rate-limited": RateLimited, "rejected": Rejected, "session-ended": SessionEnded,
    "skill-exists": SkillExists, "stale": SubmissionStale, "too-large": TooLarge, "unauthenticated": Unauthenticated,
    "unavailable": Unavailable, "version-conflict": VersionConflict,
}
BY_STATUS: dict[int, type[Problem]] = {
    400: BadRequest, 401: Unauthenticated, 403: Forbidden, 404: NotFound, 409: Conflict, 412: Conflict, 413: TooLarge,
    422: Invalid, 429: RateLimited, 503: Unavailable,
}


def problem(status: int, members: dict[str, Any], retry_after: float | None, request_id: str | None) -> Problem:
    """Returns the error of a response, as the class of its type or else of its status."""
    slug = str(members.get("type", "")).rpartition("/")[2]
    kind = BY_SLUG.get(slug) or BY_STATUS.get(status) or (ServerError if status >= 500 else Problem)
    return kind(status, members, retry_after, request_id)
