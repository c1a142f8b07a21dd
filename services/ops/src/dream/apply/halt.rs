//! Says why an operation of a dream is not applied: it alone is refused, or the whole transaction is of no more use.

use knowhow_domain::dream::OpOutcome;
use knowhow_domain::{Check, Error};

/// Why an operation is not applied.
pub(in crate::dream) enum Halt {
    /// It alone; the others go on, and nothing of it was sent.
    Op(OpOutcome, Vec<String>, Vec<Check>),
    /// The transaction is of no more use.
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

/// What a change of one skill is refused for, where that says nothing of the others.
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
