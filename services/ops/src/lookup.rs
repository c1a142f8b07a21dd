//! Names as people write them: blanks and case are forgiven, a bare last segment is enough where it is the only one,
//! and a miss says what is near.

use knowhow_domain::{Error, Result, SkillId, name};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Misses, SkillKey};
use uuid::Uuid;

use crate::{Ctx, compute};

/// How far a name reaches that is not exactly a skill's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// For reading: to the only skill of that last segment, and to the successor of an absorbed one.
    Successor,
    /// For changing: to the only skill of that last segment; where a skill went is said, not followed.
    Segment,
    /// For deleting: nowhere. The same request again must not find another skill to delete.
    Exact,
}

/// What was found, and the name that was asked for where its successor answered.
pub(crate) struct Found<T> {
    pub(crate) item: T,
    pub(crate) moved_from: Option<String>,
}

/// What `fetch` answers where it finds nothing under its key.
pub(crate) fn missing() -> Error {
    Error::not_found("skill")
}

/// Most names that an answer offers.
const CANDIDATES: usize = 20;

/// Finds a skill by the name or id that the caller gives. `fetch` is tried with the exact key and answers [`missing`] for a
/// miss; only a miss costs more.
pub(crate) async fn find<T>(
    ctx: &Ctx,
    asked: &str,
    reach: Reach,
    mut fetch: impl AsyncFnMut(&SkillKey) -> Result<T>,
) -> Result<Found<T>> {
    let mut fetch = async |key: SkillKey| match fetch(&key).await {
        Ok(item) => Ok(Some(item)),
        Err(Error::NotFound { what: "skill", candidates }) if candidates.is_empty() => Ok(None),
        Err(other) => Err(other),
    };
    for key in exact_keys(asked) {
        if let Some(item) = fetch(key).await? {
            return Ok(Found { item, moved_from: None });
        }
    }
    let wanted = name::lookup_key(asked).ok_or_else(missing)?;
    let misses = skills::explain_miss(&ctx.app.db, &ctx.principal, &wanted).await?;
    let near = find_near(&wanted, misses, reach).await?;
    let item = fetch(SkillKey::Name(near.name)).await?.ok_or_else(missing)?;
    Ok(Found { item, moved_from: near.is_successor.then_some(wanted) })
}

/// The same in an open transaction, which sees its own changes: the name is found out there, and what is to be done with the
/// skill is done once.
pub(crate) async fn find_in<T>(
    tx: &mut WriteTx,
    asked: &str,
    reach: Reach,
    mut fetch: impl AsyncFnMut(&mut WriteTx, &SkillKey) -> Result<Option<T>>,
) -> Result<T> {
    for key in exact_keys(asked) {
        if let Some(item) = fetch(tx, &key).await? {
            return Ok(item);
        }
    }
    let wanted = name::lookup_key(asked).ok_or_else(missing)?;
    let misses = skills::explain_miss_in(tx, &wanted).await?;
    let near = find_near(&wanted, misses, reach).await?;
    fetch(tx, &SkillKey::Name(near.name)).await?.ok_or_else(missing)
}

/// The keys that a skill of exactly this name or id has.
fn exact_keys(asked: &str) -> impl Iterator<Item = SkillKey> {
    let by_id = Uuid::try_parse(asked.trim()).ok().map(|id| SkillKey::Id(SkillId(id)));
    by_id.into_iter().chain(name::lookup_key(asked).map(SkillKey::Name))
}

/// A skill that is meant by a name which is not its own.
struct Near {
    name: String,
    /// Whether it absorbed the one of that name.
    is_successor: bool,
}

async fn find_near(wanted: &str, misses: Misses, reach: Reach) -> Result<Near> {
    if let Some(successor) = misses.successor {
        return match reach {
            Reach::Successor => Ok(Near { name: successor, is_successor: true }),
            Reach::Segment | Reach::Exact => Err(Error::NotFound { what: "skill", candidates: vec![successor] }),
        };
    }
    let fits = misses.names.iter().filter(|name| ends_with_segment(name, wanted));
    let mut fits: Vec<String> = fits.take(CANDIDATES).cloned().collect();
    match fits.len() {
        _ if reach == Reach::Exact && !fits.is_empty() => Err(Error::NotFound { what: "skill", candidates: fits }),
        0 => {
            // Of many names it takes longer than a thread that answers requests may be held.
            let wanted = wanted.to_owned();
            let candidates = compute(move || Ok(name::closest(&wanted, &misses.names))).await?;
            Err(Error::NotFound { what: "skill", candidates })
        }
        1 => Ok(Near { name: fits.remove(0), is_successor: false }),
        _ => Err(Error::AmbiguousName { candidates: fits }),
    }
}

fn ends_with_segment(full: &str, segment: &str) -> bool {
    !segment.contains('/') && full.rsplit_once('/').is_some_and(|(_, last)| last == segment)
}
