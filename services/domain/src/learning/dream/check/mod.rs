//! Checks the operations in a plan. Code finds the candidates; the model only writes their texts. Forbidden operations
//! are refused, and doubtful operations wait for a person.

mod archive;
mod create;
mod evidence;
mod lost_tokens;
mod merge;
mod parent;
mod patch;
mod plan_state;
mod see_also;
mod shown;
mod temporary_content;

pub use self::patch::WEEKLY_GROWTH;
pub use self::see_also::MOST_POINTERS;
pub use self::shown::{Archiving, Candidates, ClosestSkill, Shown, ShownSession, ShownSkill};

use self::archive::ArchiveCheck;
use self::create::CreateCheck;
use self::merge::MergeCheck;
use self::parent::ParentCheck;
use self::patch::PatchCheck;
use self::plan_state::PlanState;
use self::see_also::SeeAlsoCheck;
#[cfg(test)]
use super::Pass;
use super::{Operation, OperationKind, ReadOperation, RunPass};

/// Result of checking an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Apply the operation.
    Apply,
    /// Leave the operation to a person, for at least one reason.
    Wait(Vec<String>),
    /// Refuse the operation, for this reason.
    Refuse(String),
    /// Refuse the operation for now: it was undone or rejected, it waits, or its conversations were answered.
    Rest(String),
}

/// Reasons for leaving an operation to a person, or the reason for refusing it.
type Checked = Result<Vec<String>, String>;

/// Checks the operations in a plan in order and returns a ruling for each. An operation is also checked against the
/// accepted operations before it, because those are applied first.
pub fn check_plan(read: &[ReadOperation], shown: &Shown) -> Vec<Ruling> {
    let mut state = PlanState::new(read, shown);
    read.iter().enumerate().map(|(index, read)| rule(&mut state, index, read)).collect()
}

fn rule(state: &mut PlanState<'_>, index: usize, read: &ReadOperation) -> Ruling {
    let operation = match &read.operation {
        Ok(operation) => operation,
        Err(reason) => return Ruling::Refuse(reason.clone()),
    };
    if let Some(reason) = state.why_resting(operation) {
        return Ruling::Rest(reason);
    }
    match check(state, index, operation) {
        Err(reason) => Ruling::Refuse(reason),
        Ok(reasons) => {
            state.record(index, operation, !reasons.is_empty());
            if reasons.is_empty() { Ruling::Apply } else { Ruling::Wait(reasons) }
        }
    }
}

fn check(state: &PlanState<'_>, index: usize, operation: &Operation) -> Checked {
    let kind = operation.kind();
    if !belongs(state.shown.pass, kind) {
        return Err(format!("'{kind}' is not an operation of the pass '{}'", state.shown.pass));
    }
    check_count(state, kind)?;
    state.check_unchanged(operation)?;
    let mut reasons = state.reasons_to_wait(operation);
    reasons.extend(check_by_kind(state, index, operation)?);
    Ok(reasons)
}

/// Checks whether a pass may propose operations of this kind.
fn belongs(pass: RunPass, kind: OperationKind) -> bool {
    use OperationKind::{Archive, Create, Merge, Parent, Patch, SeeAlso};
    match pass {
        RunPass::Gaps => matches!(kind, Create | Patch),
        RunPass::Consolidate => matches!(kind, Merge | Parent | SeeAlso | Archive),
        RunPass::Optimize => matches!(kind, Patch | SeeAlso),
        RunPass::Reflection => true,
    }
}

/// Checks that the plan may have one more operation of this kind. Refused operations are not counted.
fn check_count(state: &PlanState<'_>, kind: OperationKind) -> Result<(), String> {
    let most = match kind {
        OperationKind::Create | OperationKind::Merge => 5,
        OperationKind::Patch => 10,
        OperationKind::Parent | OperationKind::SeeAlso | OperationKind::Archive => return Ok(()),
    };
    if state.count(kind) < most { Ok(()) } else { Err(format!("a plan may have at most {most} operations '{kind}'")) }
}

fn check_by_kind(state: &PlanState<'_>, index: usize, operation: &Operation) -> Checked {
    match operation {
        Operation::Create { name, evidence, .. } => CreateCheck { index, operation, name, evidence }.check(state),
        Operation::Merge { into, sources, .. } => MergeCheck { operation, into, sources }.check(state),
        Operation::Patch { name, version, edits, evidence, .. } => {
            PatchCheck { name, version: *version, edits, evidence }.check(state)
        }
        Operation::Parent { name, members, body, .. } => ParentCheck { operation, name, members, body }.check(state),
        Operation::SeeAlso { name, add, .. } => SeeAlsoCheck { operation, name, add }.check(state),
        Operation::Archive { name, version, absorbed_into, .. } => {
            ArchiveCheck { name, version: *version, absorbed_into }.check(state)
        }
    }
}

#[cfg(test)]
mod tests;
