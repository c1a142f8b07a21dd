//! Searches the catalogue for a message, interpreted in its conversation.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::recall::{Interpretation, Mention, QueryOrigin, Ranking, SearchText, has_words, interpret};
use knowhow_store::sessions::LastMessages;
use knowhow_telemetry::metrics::Stage;
use tokio::time::Instant;

use super::timed;
use crate::Ctx;
use crate::recall::{self, EmbeddedTexts, Query, Recalled, UserCatalogue};

/// Maximum number of ranked hits. It exceeds the number of skills in a turn, because skills that were shown before
/// are left out.
const LOOKED_AT: usize = 200;

/// The vector of a message, and whether it was not computed by the deadline.
pub(super) type Vector = (Option<Arc<[f32]>>, bool);

/// A message to search for.
pub(super) struct MessageToSearch<'a> {
    pub(super) message: &'a str,
    /// Whether the message refers to the previous exchange. The texts to embed then depend on the state of the
    /// session.
    pub(super) refers_back: bool,
    pub(super) vector: &'a Vector,
    pub(super) last: &'a LastMessages,
    pub(super) deadline: Instant,
}

/// Embeds a message without its conversation. A message without words gets no vector.
pub(super) async fn embed(ctx: &Ctx, message: &str, deadline: Instant) -> Result<Vector> {
    if !has_words(message) {
        return Ok((None, false));
    }
    timed(Stage::Embedding, recall::embed(ctx, message, Some(deadline))).await
}

/// A message that was interpreted in its conversation, with the texts to search for and their vectors.
pub(super) struct Prepared<'a> {
    /// The message. It is searched for names. If it can be understood without the previous exchange, it is also
    /// ranked.
    message: Query<'a>,
    texts: Vec<Embedded>,
    /// Whether a vector was not computed by the deadline.
    pub(super) is_late: bool,
}

/// A text to search for, with its vector.
struct Embedded {
    text: SearchText,
    vector: Option<Arc<[f32]>>,
}

/// Interprets a message in its conversation, and embeds the texts to search for.
pub(super) async fn prepare<'a>(ctx: &Ctx, searched: &MessageToSearch<'a>) -> Result<Prepared<'a>> {
    let MessageToSearch { message, refers_back, vector, last, deadline } = *searched;
    let exchange = if refers_back { last.exchange() } else { None };
    let meant = exchange.map_or(Interpretation::Message, |exchange| interpret(message, &exchange));
    let names = Query { message, limit: LOOKED_AT, ..Query::default() };
    match meant {
        Interpretation::Message => {
            let (embedding, is_late) = if refers_back { embed(ctx, message, deadline).await? } else { vector.clone() };
            let message = Query { embedding, searched: has_words(message), ..names };
            Ok(Prepared { message, texts: Vec::new(), is_late })
        }
        Interpretation::Nothing => Ok(Prepared { message: names, texts: Vec::new(), is_late: false }),
        Interpretation::Texts(texts) => {
            let texts_to_embed: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
            let embedding = timed(Stage::Embedding, recall::embed_all(ctx, &texts_to_embed, deadline));
            let EmbeddedTexts { vectors, is_late } = embedding.await?;
            let texts = texts.into_iter().zip(vectors).map(|(text, vector)| Embedded { text, vector }).collect();
            Ok(Prepared { message: names, texts, is_late })
        }
    }
}

/// Searches a catalogue for a message. `min_score` is the minimum probability, 0 to 1, at which a text includes
/// skills that it does not name.
pub(super) async fn search(
    ctx: &Ctx,
    catalogue: &Arc<UserCatalogue>,
    prepared: &Prepared<'_>,
    min_score: f32,
) -> Result<Recalled> {
    let texts = prepared.texts.iter().map(|Embedded { text, vector }| Query {
        message: &text.text,
        embedding: vector.clone(),
        searched: true,
        // Names in the previous message were handled in that message's turn.
        is_search: text.origin == QueryOrigin::Earlier,
        limit: LOOKED_AT,
        ..Query::default()
    });
    let queries = std::iter::once(prepared.message.clone()).chain(texts).collect();
    let mut parts = recall::find_all_in(ctx, catalogue, queries).await?.into_iter();
    let mut found = parts.next().unwrap_or_default();
    if prepared.texts.is_empty() {
        return Ok(found);
    }
    let mut rankings = Vec::with_capacity(prepared.texts.len());
    for (Embedded { text, .. }, part) in prepared.texts.iter().zip(parts) {
        match text.origin {
            QueryOrigin::Message => add_new(&mut found.named, part.named),
            QueryOrigin::Offer => add_new(&mut found.agreed, part.named),
            QueryOrigin::Earlier => {}
        }
        rankings.push((part.ranking, text.weight));
    }
    found.ranking = Ranking::merge(rankings, min_score);
    Ok(found)
}

/// Adds the mentions of skills that are not in the list yet.
fn add_new(named: &mut Vec<Mention>, others: Vec<Mention>) {
    for mention in others {
        if named.iter().all(|known| known.skill != mention.skill) {
            named.push(mention);
        }
    }
}
