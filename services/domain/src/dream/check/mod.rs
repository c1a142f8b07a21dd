//! Checks a plan operation by operation against what code knows. A model only words what code has found: what it may not do is
//! refused, what is in doubt waits for a person.

mod archive;
mod course;
mod create;
mod lasting;
mod merge;
mod parent;
mod patch;
mod see_also;
mod shown;

pub use self::see_also::MOST_POINTERS;
pub use self::shown::{Archiving, Candidates, Closest, Shown, ShownSession, ShownSkill};

use self::archive::Leaving;
use self::course::Course;
use self::create::NewSkill;
use self::merge::Union;
use self::parent::Guide;
use self::patch::Patch;
use self::see_also::Pointers;
#[cfg(test)]
use super::Pass;
use super::{Operation, OperationKind, ReadOperation, RunPass, rest_keys};

/// What is to become of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Nothing is in the way.
    Apply,
    /// A person decides, for these reasons; there is at least one.
    Wait(Vec<String>),
    /// It is not done, for this reason.
    Refuse(String),
}

/// What came of a check: the reasons to have a person decide, or the one to refuse.
type Checked = Result<Vec<String>, String>;

/// Says of each operation of a plan what is to become of it, in their order. Operations are taken to be applied in that order,
/// so each is also checked against those before it.
pub fn check_plan(read: &[ReadOperation], shown: &Shown) -> Vec<Ruling> {
    let mut course = Course::new(read, shown);
    read.iter().enumerate().map(|(index, read)| rule(&mut course, index, read)).collect()
}

fn rule(course: &mut Course<'_>, index: usize, read: &ReadOperation) -> Ruling {
    let operation = match &read.operation {
        Ok(operation) => operation,
        Err(reason) => return Ruling::Refuse(reason.clone()),
    };
    match check(course, index, operation) {
        Err(reason) => Ruling::Refuse(reason),
        Ok(reasons) => {
            course.take_note(index, operation, !reasons.is_empty());
            if reasons.is_empty() { Ruling::Apply } else { Ruling::Wait(reasons) }
        }
    }
}

fn check(course: &Course<'_>, index: usize, operation: &Operation) -> Checked {
    let kind = operation.kind();
    if !belongs(course.shown.pass, kind) {
        return Err(format!("'{kind}' is no operation of the pass '{}'", course.shown.pass));
    }
    check_rest(course, operation)?;
    check_count(course, kind)?;
    course.check_unchanged(operation)?;
    let mut reasons = course.reasons_to_wait(operation);
    reasons.extend(check_by_kind(course, index, operation)?);
    Ok(reasons)
}

/// Whether a pass may propose such operations.
fn belongs(pass: RunPass, kind: OperationKind) -> bool {
    use OperationKind::{Archive, Create, Merge, Parent, Patch, SeeAlso};
    match pass {
        RunPass::Gaps => matches!(kind, Create | Patch),
        RunPass::Consolidate => matches!(kind, Merge | Parent | SeeAlso | Archive),
        RunPass::Optimize => matches!(kind, Patch | SeeAlso),
        RunPass::Reflection => true,
    }
}

fn check_rest(course: &Course<'_>, operation: &Operation) -> Result<(), String> {
    let rests = |key: &String| course.shown.resting.get(key).filter(|until| **until > course.shown.now);
    match rest_keys(operation).iter().find_map(rests) {
        Some(until) => Err(format!(
            "this was undone or rejected, or waits for a decision; it rests until {}",
            until.format("%Y-%m-%d")
        )),
        None => Ok(()),
    }
}

/// How many operations of a kind one plan may have. Those that are refused do not count.
fn check_count(course: &Course<'_>, kind: OperationKind) -> Result<(), String> {
    let most = match kind {
        OperationKind::Create | OperationKind::Merge => 5,
        OperationKind::Patch => 10,
        OperationKind::Parent | OperationKind::SeeAlso | OperationKind::Archive => return Ok(()),
    };
    if course.count(kind) < most { Ok(()) } else { Err(format!("a plan may have at most {most} operations '{kind}'")) }
}

fn check_by_kind(course: &Course<'_>, index: usize, operation: &Operation) -> Checked {
    match operation {
        Operation::Create { name, evidence, .. } => NewSkill { index, operation, name, evidence }.check(course),
        Operation::Merge { into, sources, .. } => Union { operation, into, sources }.check(course),
        Operation::Patch { name, version, edits, evidence, .. } => {
            Patch { name, version: *version, edits, evidence }.check(course)
        }
        Operation::Parent { name, members, body, .. } => Guide { operation, name, members, body }.check(course),
        Operation::SeeAlso { name, add } => Pointers { operation, name, add }.check(course),
        Operation::Archive { name, version, absorbed_into, .. } => {
            Leaving { name, version: *version, absorbed_into }.check(course)
        }
    }
}

#[cfg(test)]
mod tests;
