//! Names as people write them: blanks and case are forgiven, a bare last segment is enough where it is the only one,
//! and a miss says what is near.

use knowhow_domain::{Error, Result, SkillId, name};
use knowhow_store::skills::{self, SkillKey};
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

/// Finds a skill by whatever the caller calls it. `fetch` is tried with the exact key and answers [`missing`] for a
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
    let found = |item| Ok(Found { item, moved_from: None });
    if let Ok(id) = Uuid::try_parse(asked.trim())
        && let Some(item) = fetch(SkillKey::Id(SkillId(id))).await?
    {
        return found(item);
    }
    let Some(wanted) = name::lookup_key(asked) else { return Err(missing()) };
    if let Some(item) = fetch(SkillKey::Name(wanted.clone())).await? {
        return found(item);
    }
    let misses = skills::explain_miss(&ctx.app.db, &ctx.principal, &wanted).await?;
    if let Some(successor) = misses.successor {
        if reach != Reach::Successor {
            return Err(Error::NotFound { what: "skill", candidates: vec![successor] });
        }
        let item = fetch(SkillKey::Name(successor)).await?.ok_or_else(missing)?;
        return Ok(Found { item, moved_from: Some(wanted) });
    }
    let fits = misses.names.iter().filter(|name| ends_with_segment(name, &wanted));
    let mut fits: Vec<String> = fits.take(CANDIDATES).cloned().collect();
    match fits.len() {
        _ if reach == Reach::Exact && !fits.is_empty() => Err(Error::NotFound { what: "skill", candidates: fits }),
        0 => {
            // Of many names it takes longer than a thread that answers requests may be held.
            let candidates = compute(move || Ok(name::closest(&wanted, &misses.names))).await?;
            Err(Error::NotFound { what: "skill", candidates })
        }
        1 => {
            let full = SkillKey::Name(fits.remove(0));
            fetch(full).await?.map_or_else(|| Err(missing()), found)
        }
        _ => Err(Error::AmbiguousName { candidates: fits }),
    }
}

fn ends_with_segment(full: &str, segment: &str) -> bool {
    !segment.contains('/') && full.rsplit_once('/').is_some_and(|(_, last)| last == segment)
}
