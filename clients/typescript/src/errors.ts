/** Errors of the client. Each type of problem that the API documents has a class. */
import type { FieldError, Passage, Problem, Schemas } from "./models.js";

/** An error of this client. */
export class KnowhowError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A request without an answer: the service is unreachable or the connection broke. See `cause`. */
export class ConnectionError extends KnowhowError {}

/** A request that was not answered within `timeoutMs`. It may have taken effect; repeat it with the same key. */
export class TimeoutError extends KnowhowError {}

/** An error response of the service. */
export class ApiError extends KnowhowError {
  /** HTTP status of the response. */
  readonly status: number;
  /** Stable name of the problem, the end of its type: `version-conflict` of `/problems/version-conflict`. */
  readonly slug: string;
  /** Explanation of the error and advice. */
  readonly detail: string;
  /** Id of the request, for the service's log. */
  readonly requestId: string | undefined;
  /** Seconds until a retry can succeed, from `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(
    /** The whole answer (RFC 9457). */
    readonly problem: Problem,
    readonly headers: Headers,
  ) {
    const slug = problem.type.replace(/^.*\//, "");
    const id = headers.get("x-request-id") ?? undefined;
    super(`${problem.status} ${slug}: ${problem.detail}${id ? ` (request ${id})` : ""}`);
    this.status = problem.status;
    this.slug = slug;
    this.detail = problem.detail;
    this.requestId = id;
    this.retryAfter = secondsOf(headers.get("retry-after"));
  }
}

/** The request has no valid form (400). */
export class MalformedError extends ApiError {}
/** The credential is missing, wrong or expired (401). */
export class UnauthenticatedError extends ApiError {}
/** The credential lacks a scope, or its user or tenant is suspended (403). */
export class ForbiddenError extends ApiError {}
/** The user has no such thing (404). */
export class NotFoundError extends ApiError {
  /** Similar names of the user's skills. */
  readonly candidates: string[] = this.problem.candidates ?? [];
}
/** The current state does not allow the change (409). `slug` names the reason. */
export class ConflictError extends ApiError {}
/** A short name fits several skills (409). */
export class AmbiguousNameError extends ConflictError {
  /** The full names that it fits. */
  readonly candidates: string[] = this.problem.candidates ?? [];
}
/** The change is based on another version (409, or 412 with `ifMatch`). */
export class VersionConflictError extends ConflictError {
  /** The version to repeat the change on. */
  readonly currentVersion: number | undefined = this.problem.current_version ?? undefined;
}
/** A skill of this name exists, and the save may only create one (409). */
export class SkillExistsError extends ConflictError {}
/** The name belongs to another skill (409). */
export class NameTakenError extends ConflictError {}
/** The skill is pinned and cannot be deleted (409). */
export class PinnedError extends ConflictError {}
/** The change cannot wait for a review, and is refused without one (409). */
export class NeedsReviewError extends ConflictError {}
/** A reviewer rejected the same change before (409). */
export class RejectedError extends ConflictError {}
/** The submission or dream was decided before (409). */
export class DecidedError extends ConflictError {}
/** The skill has changed since it was submitted (409). */
export class StaleError extends ConflictError {}
/** Both sides changed the same lines or file (409). */
export class MergeConflictError extends ConflictError {}
/** The session has ended or was silent for too long: open its key again (409). */
export class SessionEndedError extends ConflictError {}
/** The log of the session is full: end it and open its key again (409). */
export class LogFullError extends ConflictError {}
/** The turn has too many replies (409). */
export class ReplyLimitError extends ConflictError {}
/** A version in the earlier answer was removed: send the request under a new key (409). */
export class AnswerGoneError extends ConflictError {}
/** The state of a tenant does not match `If-Match` (412). */
export class PreconditionFailedError extends ApiError {
  /** The current state. */
  readonly current: Schemas["Tenant"] | undefined = this.problem.current ?? undefined;
}
/** The request or a file in it is too large (413). */
export class TooLargeError extends ApiError {}
/** The content has a type that the operation does not accept (415). */
export class UnsupportedMediaTypeError extends ApiError {}
/** The input has a valid form, but not valid members (422). */
export class InvalidError extends ApiError {
  /** A pointer and an explanation for each invalid member. */
  readonly errors: FieldError[] = this.problem.errors ?? [];
}
/** The text that a patch replaces does not occur (422). */
export class PatchNoMatchError extends InvalidError {
  /** The most similar passages, best first. */
  readonly closest: Passage[] = this.problem.closest ?? [];
}
/** The text that a patch replaces occurs several times (422). */
export class PatchAmbiguousError extends InvalidError {
  /** All matches. */
  readonly matches: Passage[] = this.problem.matches ?? [];
}
/** The idempotency key was used for another request (422). */
export class IdempotencyMismatchError extends InvalidError {}
/** Too many requests (429). */
export class RateLimitedError extends ApiError {}
/** A quota of the user or tenant is used up (429). It is not retried. */
export class QuotaExceededError extends RateLimitedError {}
/** A defect of the service (500). Its log has `requestId`. */
export class InternalError extends ApiError {}
/** The service, its database or a model is unavailable (502, 503, 504). */
export class UnavailableError extends ApiError {}

type ErrorClass = new (problem: Problem, headers: Headers) => ApiError;

const BY_SLUG: Record<string, ErrorClass> = {
  "ambiguous-name": AmbiguousNameError,
  "version-conflict": VersionConflictError,
  "skill-exists": SkillExistsError,
  "name-taken": NameTakenError,
  pinned: PinnedError,
  "needs-review": NeedsReviewError,
  rejected: RejectedError,
  decided: DecidedError,
  stale: StaleError,
  "merge-conflict": MergeConflictError,
  "session-ended": SessionEndedError,
  "log-full": LogFullError,
  "reply-limit": ReplyLimitError,
  "answer-gone": AnswerGoneError,
  "patch-no-match": PatchNoMatchError,
  "patch-ambiguous": PatchAmbiguousError,
  "idempotency-mismatch": IdempotencyMismatchError,
  "quota-exceeded": QuotaExceededError,
};

const BY_STATUS: Record<number, ErrorClass> = {
  400: MalformedError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  413: TooLargeError,
  415: UnsupportedMediaTypeError,
  422: InvalidError,
  429: RateLimitedError,
  500: InternalError,
};

/** Returns the error of a response: that of its problem, else that of its status. */
export function errorOf(response: Response, text: string): ApiError {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // A proxy answered, with a page.
  }
  const { status } = response;
  const detail = `this is no answer of Knowhow, but of a proxy or another service: ${text.replace(/\s+/g, " ").slice(0, 100)}`;
  const problem: Problem =
    typeof answer === "object" && answer !== null && "type" in answer && "detail" in answer
      ? (answer as Problem)
      : { type: `/problems/http-${status}`, title: response.statusText, status, detail, instance: "" };
  const slug = problem.type.replace(/^.*\//, "");
  const Class = BY_SLUG[slug] ?? BY_STATUS[status] ?? (status > 501 ? UnavailableError : ApiError);
  return new Class(problem, response.headers);
}

/** Returns the seconds of a `Retry-After`, which is a number or a date. */
function secondsOf(header: string | null): number | undefined {
  if (!header) return undefined;
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
