//! Finds skills by names as users write them: see [`name::lookup_keys`]. A unique last segment or the frontmatter's name
//! is enough, and an error lists similar names.

use knowhow_domain::skills::name;
use knowhow_domain::{Error, Result, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Misses, SkillKey};
use uuid::Uuid;

use crate::{Ctx, compute};

/// The skills that a name may match if it is not the exact name of a skill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameMatching {
    /// Matches the only skill with this last segment, or the successor of an absorbed skill. Used for reading.
    Successor,
    /// Matches the only skill with this last segment. Used for changes. The error for an absorbed skill names its
    /// successor.
    Segment,
    /// Matches no other skill. Used for deletes, because a repeated request must not delete another skill.
    Exact,
}

/// A found skill, and the requested name if the skill was found as the successor of that name.
pub(crate) struct LookupResult<T> {
    pub(crate) item: T,
    pub(crate) moved_from: Option<String>,
}

/// Returns the error that `fetch` must return if its key matches no skill.
pub(crate) fn missing() -> Error {
    Error::not_found("skill")
}

/// Maximum number of names in an error.
const CANDIDATES: usize = 20;

/// Finds a skill by name or id. `fetch` is called with the exact key and returns [`missing`] if there is no match;
/// further queries are sent only in this case.
pub(crate) async fn find<T>(
    ctx: &Ctx,
    asked: &str,
    matching: NameMatching,
    mut fetch: impl AsyncFnMut(&SkillKey) -> Result<T>,
) -> Result<LookupResult<T>> {
    let mut fetch = async |key: SkillKey| match fetch(&key).await {
        Ok(item) => Ok(Some(item)),
        Err(Error::NotFound { what: "skill", candidates }) if candidates.is_empty() => Ok(None),
        Err(other) => Err(other),
    };
    for key in exact_keys(asked, matching) {
        if let Some(item) = fetch(key).await? {
            return Ok(LookupResult { item, moved_from: None });
        }
    }
    let wanted = name::lookup_keys(asked).pop().ok_or_else(missing)?;
    let misses = skills::explain_miss(&ctx.app.db, &ctx.principal, &wanted).await?;
    let similar = find_near(&wanted, misses, matching).await?;
    let item = fetch(SkillKey::Name(similar.name)).await?.ok_or_else(missing)?;
    Ok(LookupResult { item, moved_from: similar.is_successor.then_some(wanted) })
}

/// Finds a skill in an open transaction, which sees its own changes.
pub(crate) async fn find_in<T>(
    tx: &mut WriteTx,
    asked: &str,
    matching: NameMatching,
    mut fetch: impl AsyncFnMut(&mut WriteTx, &SkillKey) -> Result<Option<T>>,
) -> Result<T> {
    for key in exact_keys(asked, matching) {
        if let Some(item) = fetch(tx, &key).await? {
            return Ok(item);
        }
    }
    let wanted = name::lookup_keys(asked).pop().ok_or_else(missing)?;
    let misses = skills::explain_miss_in(tx, &wanted).await?;
    let similar = find_near(&wanted, misses, matching).await?;
    fetch(tx, &SkillKey::Name(similar.name)).await?.ok_or_else(missing)
}

/// Returns the keys to look up: the id, if `asked` is a UUID, then the names. For `NameMatching::Exact` only the full
/// name is looked up, because a delete must not ignore a part of the name, such as a plugin.
fn exact_keys(asked: &str, matching: NameMatching) -> impl Iterator<Item = SkillKey> {
    let by_id = Uuid::try_parse(asked.trim()).ok().map(|id| SkillKey::Id(SkillId(id)));
    let names = if matching == NameMatching::Exact { 1 } else { usize::MAX };
    by_id.into_iter().chain(name::lookup_keys(asked).into_iter().take(names).map(SkillKey::Name))
}

/// A skill found by a name other than its own.
struct NearSkill {
    name: String,
    /// Whether this skill absorbed the skill with the requested name.
    is_successor: bool,
}

async fn find_near(wanted: &str, misses: Misses, matching: NameMatching) -> Result<NearSkill> {
    if let Some(successor) = misses.successor {
        return match matching {
            NameMatching::Successor => Ok(NearSkill { name: successor, is_successor: true }),
            NameMatching::Segment | NameMatching::Exact => {
                Err(Error::NotFound { what: "skill", candidates: vec![successor] })
            }
        };
    }
    let fits = misses.names.iter().filter(|name| ends_with_segment(name, wanted) || *name == wanted);
    let mut fits: Vec<String> = fits.take(CANDIDATES).cloned().collect();
    if fits.is_empty() {
        fits = misses.aliased;
    }
    match fits.len() {
        _ if matching == NameMatching::Exact && !fits.is_empty() => {
            Err(Error::NotFound { what: "skill", candidates: fits })
        }
        0 => {
            // Runs on a blocking thread, as it is slow with many names.
            let wanted = wanted.to_owned();
            let candidates = compute(move || Ok(name::closest(&wanted, &misses.names))).await?;
            Err(Error::NotFound { what: "skill", candidates })
        }
        1 => Ok(NearSkill { name: fits.remove(0), is_successor: false }),
        _ => Err(Error::AmbiguousName { candidates: fits }),
    }
}

fn ends_with_segment(full: &str, segment: &str) -> bool {
    !segment.contains('/') && full.rsplit_once('/').is_some_and(|(_, last)| last == segment)
}
