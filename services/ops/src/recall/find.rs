//! One message against one catalogue: names first, then words and meaning, then neighbours.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::recall::{Meaning, Mention, Ranking, search_with};
use knowhow_store::Principal;
use tokio::time::Instant;

use super::UserCatalogue;
use crate::{App, compute};

/// Skills times bytes of the message that are looked at within the thread that answers requests: at most some 2 ms,
/// where each skill holds each word, and tens of microseconds for most. More goes beside these threads.
const INLINE: usize = 200_000;
/// To read a byte costs as much as to look for it in so many skills, to rank a skill as much as so many bytes.
const READING: usize = 25;
const RANKING: usize = 50;

/// What to look for.
pub(crate) struct Query<'a> {
    /// The message.
    pub(crate) message: &'a str,
    /// Its vector, where there is one in time.
    pub(crate) embedding: Option<Arc<[f32]>>,
    /// Whether to search, not only to look for names.
    pub(crate) searched: bool,
    /// Most hits.
    pub(crate) limit: usize,
}

/// What a message asks for. Skills are places in the catalogue.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    /// Names in the message that are meant as such, the most specific first.
    pub(crate) named: Vec<Mention>,
    /// The other names in it.
    pub(crate) unmeant: Vec<Mention>,
    /// What fits, best first; empty where it was not searched.
    pub(crate) ranking: Ranking,
}

/// The vector of a message, by the deadline. Also whether there should be one and is none.
pub(crate) async fn embed(
    app: &App,
    principal: &Principal,
    message: &str,
    deadline: Option<Instant>,
) -> Result<(Option<Arc<[f32]>>, bool)> {
    if app.models.embedder.is_none() {
        return Ok((None, false));
    }
    Ok(match app.models.embed_message(principal.user()?, message, deadline).await {
        Ok(embedding) => (Some(embedding), false),
        Err(error) => {
            tracing::debug!(%error, "a message goes without its vector");
            (None, true)
        }
    })
}

/// Looks for a message in a catalogue.
pub(crate) async fn recall(
    app: &App,
    principal: &Principal,
    catalogue: &Arc<UserCatalogue>,
    query: Query<'_>,
) -> Result<Recalled> {
    let cosines = match &query.embedding {
        Some(embedding) => catalogue.cosines(app, principal, embedding).await?,
        None => None,
    };
    if is_quick(catalogue.skills.len(), query.message) {
        return Ok(find(catalogue, &query, cosines.as_deref()));
    }
    let (catalogue, message) = (catalogue.clone(), query.message.to_owned());
    let Query { embedding, searched, limit, .. } = query;
    compute(move || Ok(find(&catalogue, &Query { message: &message, embedding, searched, limit }, cosines.as_deref())))
        .await
}

fn is_quick(skills: usize, message: &str) -> bool {
    (skills + READING).saturating_mul(message.len() + RANKING) <= INLINE
}

fn find(catalogue: &UserCatalogue, query: &Query<'_>, cosines: Option<&[Option<f32>]>) -> Recalled {
    let index = &catalogue.index;
    let meaning = match cosines {
        Some(cosines) => Meaning::Cosines(cosines),
        None => query.embedding.as_deref().into(),
    };
    let ranking = query.searched.then(|| search_with(index, query.message, meaning, query.limit));
    let (named, unmeant) = index.find_named(query.message, ranking.as_ref());
    Recalled { named, unmeant, ranking: ranking.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_and_large_catalogues_leave_the_thread() {
        for (skills, bytes, quick) in [
            (0, 1, true),
            (50, 2_000, true),
            (200, 500, true),
            (2_000, 40, true),
            (1, 65_536, false),
            (200, 2_000, false),
            (2_000, 200, false),
            (10_000, 1, false),
        ] {
            assert_eq!(is_quick(skills, &"x".repeat(bytes)), quick, "{skills} {bytes}");
        }
    }
}
