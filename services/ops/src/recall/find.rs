//! One message against one catalogue: names first, then words and meaning, then neighbours.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::recall::{Meaning, Mention, Ranking, search_with};
use knowhow_store::Principal;
use tokio::time::Instant;

use super::UserCatalogue;
use crate::{App, compute};

/// Catalogues with more skills than this are searched beside the threads that answer requests.
const SEARCHED_INLINE: usize = 2_000;

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
    if catalogue.skills.len() <= SEARCHED_INLINE {
        return Ok(find(catalogue, &query, cosines.as_deref()));
    }
    let (catalogue, message) = (catalogue.clone(), query.message.to_owned());
    let Query { embedding, searched, limit, .. } = query;
    compute(move || Ok(find(&catalogue, &Query { message: &message, embedding, searched, limit }, cosines.as_deref())))
        .await
}

fn find(catalogue: &UserCatalogue, query: &Query<'_>, cosines: Option<&[Option<f32>]>) -> Recalled {
    let index = &catalogue.index;
    let meaning = match cosines {
        Some(cosines) => Meaning::Cosines(cosines),
        None => query.embedding.as_deref().into(),
    };
    let ranking = query.searched.then(|| search_with(index, query.message, meaning, query.limit));
    let mentions = index.find_mentions(query.message);
    let (named, unmeant) =
        mentions.into_iter().partition(|mention| index.is_meant(mention, query.message, ranking.as_ref()));
    Recalled { named, unmeant, ranking: ranking.unwrap_or_default() }
}
