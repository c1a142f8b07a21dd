//! Searches the catalogue for a message, interpreted in its conversation.

use std::sync::Arc;

use futures_util::future::try_join_all;
use knowhow_domain::Result;
use knowhow_domain::recall::{Interpretation, Mention, Origin, Ranking, SearchText, has_words, interpret};
use knowhow_store::sessions::LastMessages;
use knowhow_telemetry::metrics::Stage;
use tokio::time::Instant;

use super::timed;
use crate::Ctx;
use crate::recall::{self, Query, Recalled, UserCatalogue};

/// Most hits that are looked at, as skills that were shown before do not come again.
const LOOKED_AT: usize = 200;

/// The vector of a message, and whether it is late.
pub(super) type Vector = (Option<Arc<[f32]>>, bool);

/// A message to search for.
pub(super) struct Searched<'a> {
    pub(super) message: &'a str,
    /// Whether it refers to the exchange before it. The texts to embed are then known only with the state of the session.
    pub(super) refers_back: bool,
    pub(super) vector: &'a Vector,
    pub(super) last: &'a LastMessages,
    /// The probability, 0 to 1, from which a text brings skills that it does not name.
    pub(super) min_score: f32,
    pub(super) deadline: Instant,
}

/// Embeds a message as it is.
pub(super) async fn embed(ctx: &Ctx, message: &str, deadline: Instant) -> Result<Vector> {
    if !has_words(message) {
        return Ok((None, false));
    }
    timed(Stage::Embedding, recall::embed(ctx, message, Some(deadline))).await
}

/// Searches for a message in a catalogue. Also returns whether a vector is late.
pub(super) async fn search(
    ctx: &Ctx,
    catalogue: &Arc<UserCatalogue>,
    searched: &Searched<'_>,
) -> Result<(Recalled, bool)> {
    let Searched { message, refers_back, vector, last, deadline, .. } = *searched;
    let exchange = if refers_back { last.exchange() } else { None };
    let meant = exchange.map_or(Interpretation::Message, |exchange| interpret(message, &exchange));
    let names = Query { message, limit: LOOKED_AT, ..Query::default() };
    match meant {
        Interpretation::Message => {
            let (embedding, is_late) = if refers_back { embed(ctx, message, deadline).await? } else { vector.clone() };
            let query = Query { embedding, searched: has_words(message), ..names };
            Ok((recall::find_in(ctx, catalogue, query).await?, is_late))
        }
        Interpretation::Nothing => Ok((recall::find_in(ctx, catalogue, names).await?, false)),
        Interpretation::Texts(texts) => {
            let named = recall::find_in(ctx, catalogue, names).await?;
            search_texts(ctx, catalogue, &Texts { named, texts: &texts, searched }).await
        }
    }
}

/// The texts to search for a message, with the names in the message itself.
struct Texts<'a> {
    named: Recalled,
    texts: &'a [SearchText],
    searched: &'a Searched<'a>,
}

async fn search_texts(ctx: &Ctx, catalogue: &Arc<UserCatalogue>, texts: &Texts<'_>) -> Result<(Recalled, bool)> {
    let Texts { named, texts, searched } = texts;
    let deadline = Some(searched.deadline);
    let vectors = try_join_all(texts.iter().map(|text| recall::embed(ctx, &text.text, deadline)));
    let vectors = timed(Stage::Embedding, vectors).await?;
    let is_late = vectors.iter().any(|(_, is_late)| *is_late);
    let mut found = named.clone();
    let mut rankings = Vec::with_capacity(texts.len());
    for (text, (embedding, _)) in texts.iter().zip(vectors) {
        let query = Query {
            message: &text.text,
            embedding,
            searched: true,
            // Names in the previous message were handled in its own turn.
            is_search: text.origin == Origin::Earlier,
            limit: LOOKED_AT,
            ..Query::default()
        };
        let part = recall::find_in(ctx, catalogue, query).await?;
        match text.origin {
            Origin::Message => add_new(&mut found.named, part.named),
            Origin::Offer => add_new(&mut found.agreed, part.named),
            Origin::Earlier => {}
        }
        rankings.push((part.ranking, text.weight));
    }
    found.ranking = Ranking::merge(rankings, searched.min_score);
    Ok((found, is_late))
}

/// Adds the names of skills that are not in the list yet.
fn add_new(named: &mut Vec<Mention>, others: Vec<Mention>) {
    for mention in others {
        if named.iter().all(|known| known.skill != mention.skill) {
            named.push(mention);
        }
    }
}
