//! Reasons not to apply an operation: only the operation is rejected, or the whole transaction has failed.

use knowhow_domain::learning::dream::OpOutcome;
use knowhow_domain::{Check, Error};

/// The reason not to apply an operation.
pub(in crate::learning::dream) enum Halt {
    /// Only this operation is not applied, and none of its statements was sent. The run continues with its other
    /// operations.
    Op(OpOutcome, Vec<String>, Vec<Check>),
    /// The transaction has failed and cannot be used.
    Fault(Error),
}

impl From<Error> for Halt {
    fn from(fault: Error) -> Self {
        Self::Fault(fault)
    }
}

pub(super) type Applied<T> = std::result::Result<T, Halt>;

pub(super) fn conflict<T>(reason: impl Into<String>) -> Applied<T> {
    Err(Halt::Op(OpOutcome::Conflict, vec![reason.into()], Vec::new()))
}

pub(super) fn refuse<T>(reason: impl Into<String>) -> Applied<T> {
    Err(Halt::Op(OpOutcome::Refused, vec![reason.into()], Vec::new()))
}

/// Converts an error about one skill to a rejection of this operation. Other errors end the transaction.
pub(super) fn of_this_op(error: Error) -> Halt {
    let outcome = match &error {
        Error::Invalid(_) | Error::TooLarge { .. } | Error::Quota(_) => OpOutcome::Refused,
        Error::PatchNoMatch { .. } | Error::PatchAmbiguous { .. } | Error::VersionConflict { .. } => {
            OpOutcome::Conflict
        }
        Error::NotFound { .. } | Error::AmbiguousName { .. } | Error::Conflict { .. } => OpOutcome::Conflict,
        _ => return Halt::Fault(error),
    };
    Halt::Op(outcome, vec![error.to_string()], Vec::new())
}
