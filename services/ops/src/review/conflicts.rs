//! Defines the errors for submissions that can no longer be decided.

use knowhow_domain::{Error, Submission, SubmissionState};

/// Returns the error for a submission that is based on an older state of `what`.
pub(super) fn stale(what: &str) -> Error {
    let detail = format!("{what} has changed since this was proposed; propose the change again on the current version");
    Error::Conflict { code: "stale", detail }
}

/// Returns the error for an offer of a newer starter if the skill was changed since.
pub(super) fn offered_again() -> Error {
    let detail = "the skill has changed since this was offered; if the update still applies, it is offered again on the current version";
    Error::Conflict { code: "stale", detail: detail.into() }
}

/// Returns the error for a submission that was already decided or has expired.
pub(super) fn decided(submission: &Submission) -> Error {
    let state = match submission.state {
        state if state.waits() => SubmissionState::Expired,
        state => state,
    };
    Error::Conflict { code: "decided", detail: format!("the submission is no longer pending: it is {state}") }
}
