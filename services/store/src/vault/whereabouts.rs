//! Finds where a tenant lives: the one place where it is kept and not marked as being elsewhere. Each place says so for itself, so
//! none has to be asked about another, and one that is down takes its own tenants with it and nobody else's.

use futures_util::future::join_all;
use knowhow_domain::Result;

use crate::Database;
use crate::across::system;
use crate::error::is_being_moved;
use crate::vault::gate::{GateState, KnownKey, KnownTenant};

/// The tenant of that name. It is looked for where it was found last, and only then everywhere.
///
/// # Errors
/// `Unavailable` where it is being moved, or a place that may have it is out of reach.
pub(super) async fn find_tenant(gate: &GateState, db: &Database, slug: &str) -> Result<Option<KnownTenant>> {
    let find = async |at: Database| system::find_tenant(&at, slug, gate).await;
    let first = gate.whereabouts.get(slug).unwrap_or_default();
    let found = find(db.at(first)).await;
    if !db.is_spread() {
        return found;
    }
    let mut answers = vec![found];
    if !answers.iter().any(lives_there) {
        answers.extend(join_all(db.each().filter(|at| at.here() != first).map(find)).await);
    }
    let found = answers.iter().position(lives_there);
    match found {
        Some(index) => answers.swap_remove(index).inspect(|found| note(gate, slug, found.as_ref())),
        None => nowhere(answers.into_iter().map(|answer| Ok(answer?.is_some_and(|tenant| tenant.is_elsewhere))))
            .map(|()| None),
    }
}

fn lives_there(answer: &Result<Option<KnownTenant>>) -> bool {
    matches!(answer, Ok(Some(tenant)) if !tenant.is_elsewhere)
}

fn note(gate: &GateState, slug: &str, found: Option<&KnownTenant>) {
    if let Some(tenant) = found {
        gate.whereabouts.insert(slug.to_owned(), tenant.place);
    }
}

/// The API keys of that prefix, of tenants where they live. Any place may have them.
///
/// # Errors
/// As [`find_tenant`].
pub(super) async fn find_keys(db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let asked = db.each().map(|at| async move { system::find_keys(&at, prefix).await });
    let (mut live, mut others) = (Vec::new(), Vec::new());
    for answer in join_all(asked).await {
        match answer {
            Ok(keys) => {
                let (elsewhere, here): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.tenant.is_elsewhere);
                live.extend(here);
                others.push(Ok(!elsewhere.is_empty()));
            }
            Err(error) => others.push(Err(error)),
        }
    }
    if live.is_empty() {
        nowhere(others)?;
    }
    Ok(live)
}

/// What is to be said where nobody has it: that it is on its way, or that a place did not answer; else there is none.
fn nowhere(others: impl IntoIterator<Item = Result<bool>>) -> Result<()> {
    let mut failed = Ok(());
    for is_elsewhere in others {
        match is_elsewhere {
            Ok(true) => return Err(is_being_moved()),
            Ok(false) => {}
            Err(error) => failed = Err(error),
        }
    }
    failed
}
