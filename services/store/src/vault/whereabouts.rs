//! Finds where a tenant lives: the one place where it is kept and not marked as being elsewhere. Each place says so for itself, so
//! none has to be asked about another, and one that is down takes its own tenants with it and nobody else's.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use knowhow_domain::Result;
use tokio::time::sleep;

use crate::Database;
use crate::across::system;
use crate::error::is_being_moved;
use crate::vault::gate::{Found, GateState, KnownKey, Origin};
use crate::vault::place::PlaceId;

/// After so long without an answer of the place where it was found last, the others are asked too.
const FIRST_ANSWER: Duration = Duration::from_millis(100);

/// What one place says of what is looked for.
enum Answer<T> {
    Here(T),
    /// It has rows of a tenant that lives elsewhere.
    Elsewhere,
    Nothing,
}

/// The tenant of that name.
///
/// # Errors
/// `Unavailable` where it is being moved, or a place that may have it is out of reach.
pub(super) async fn find_tenant(gate: &GateState, db: &Database, origin: &Origin) -> Result<Option<Found>> {
    let ask = |at: Database| async move {
        Ok(match system::find_tenant(&at, origin, gate).await? {
            Some(found) if found.tenant.is_elsewhere => Answer::Elsewhere,
            Some(found) => Answer::Here((found.tenant.place, found)),
            None => Answer::Nothing,
        })
    };
    find(gate, db, &origin.slug, ask).await
}

/// The API keys of that prefix, of a tenant where it lives.
///
/// # Errors
/// As [`find_tenant`].
pub(super) async fn find_keys(gate: &GateState, db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let ask = |at: Database| async move {
        let found = system::find_keys(&at, prefix).await?;
        let (elsewhere, here): (Vec<_>, Vec<_>) = found.into_iter().partition(|key| key.tenant.is_elsewhere);
        Ok(match (here.is_empty(), elsewhere.is_empty()) {
            (false, _) => Answer::Here((at.here(), here)),
            (true, false) => Answer::Elsewhere,
            (true, true) => Answer::Nothing,
        })
    };
    Ok(find(gate, db, prefix, ask).await?.unwrap_or_default())
}

/// Asks the place where `name` was found last, and the others only where that does not have it, or does not answer soon.
async fn find<T, F: Future<Output = Result<Answer<(PlaceId, T)>>>>(
    gate: &GateState,
    db: &Database,
    name: &str,
    ask: impl Fn(Database) -> F,
) -> Result<Option<T>> {
    let last = gate.whereabouts.get(name).unwrap_or_default();
    let mut asked = FuturesUnordered::new();
    asked.push(ask(db.at(last)));
    let mut answers = Vec::new();
    if let Either::Left((Some(answer), _)) = select(asked.next(), std::pin::pin!(sleep(FIRST_ANSWER))).await {
        answers.push(answer);
    }
    if !matches!(answers.first(), Some(Ok(Answer::Here(_)))) {
        asked.extend(db.each().filter(|at| at.here() != last).map(&ask));
    }
    let (mut is_moving, mut failed) = (false, None);
    loop {
        let answer = match answers.pop() {
            Some(answer) => answer,
            // Nobody waits for a place that does not answer, where another has it.
            None => match asked.next().await {
                Some(answer) => answer,
                None => break,
            },
        };
        match answer {
            Ok(Answer::Here((place, found))) => {
                gate.whereabouts.insert(name.to_owned(), place);
                return Ok(Some(found));
            }
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
