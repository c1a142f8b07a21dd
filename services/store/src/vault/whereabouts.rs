//! Finds where a tenant lives: the one place where it is kept and not marked as being elsewhere. Each place says so for itself, so
//! none has to be asked about another, and one that is down takes its own tenants with it and nobody else's.

use std::future::ready;

use futures_util::future::Either;
use futures_util::stream::{FuturesUnordered, StreamExt};
use knowhow_domain::Result;

use crate::Database;
use crate::across::system;
use crate::error::is_being_moved;
use crate::vault::gate::{GateState, KnownKey, KnownTenant};

/// What one place says of what is looked for.
enum Answer<T> {
    Here(T),
    /// It has rows of a tenant that lives elsewhere.
    Elsewhere,
    Nothing,
}

/// The tenant of that name. It is looked for where it was found last, and only then everywhere.
///
/// # Errors
/// `Unavailable` where it is being moved, or a place that may have it is out of reach.
pub(super) async fn find_tenant(gate: &GateState, db: &Database, slug: &str) -> Result<Option<KnownTenant>> {
    let ask = async |at: Database| {
        Ok(match system::find_tenant(&at, slug, gate).await? {
            Some(tenant) if tenant.is_elsewhere => Answer::Elsewhere,
            Some(tenant) => Answer::Here(tenant),
            None => Answer::Nothing,
        })
    };
    let last = gate.whereabouts.get(slug).unwrap_or_default();
    let first = ask(db.at(last)).await;
    if let Ok(Answer::Here(tenant)) = first {
        return Ok(Some(tenant));
    }
    let others = db.each().filter(|at| at.here() != last).map(|at| Either::Left(ask(at)));
    let found = first_of(others.chain([Either::Right(ready(first))]).collect()).await?;
    if let Some(tenant) = &found {
        gate.whereabouts.insert(slug.to_owned(), tenant.place);
    }
    Ok(found)
}

/// The API keys of that prefix, of a tenant where it lives. Any place may have them.
///
/// # Errors
/// As [`find_tenant`].
pub(super) async fn find_keys(db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let ask = async |at: Database| {
        let found = system::find_keys(&at, prefix).await?;
        let (elsewhere, here): (Vec<_>, Vec<_>) = found.into_iter().partition(|key| key.tenant.is_elsewhere);
        Ok(match (here.is_empty(), elsewhere.is_empty()) {
            (false, _) => Answer::Here(here),
            (true, false) => Answer::Elsewhere,
            (true, true) => Answer::Nothing,
        })
    };
    Ok(first_of(db.each().map(|at| ask(at)).collect()).await?.unwrap_or_default())
}

/// The first that is found: nobody waits for a place that does not answer, where another has it. Where none has, it is on its way, or a
/// place did not answer; else there is none.
async fn first_of<T>(mut asked: FuturesUnordered<impl Future<Output = Result<Answer<T>>>>) -> Result<Option<T>> {
    let (mut is_moving, mut failed) = (false, None);
    while let Some(answer) = asked.next().await {
        match answer {
            Ok(Answer::Here(found)) => return Ok(Some(found)),
            Ok(Answer::Elsewhere) => is_moving = true,
            Ok(Answer::Nothing) => {}
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        _ if is_moving => Err(is_being_moved()),
        Some(error) => Err(error),
        None => Ok(None),
    }
}
