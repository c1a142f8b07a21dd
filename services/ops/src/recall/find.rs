//! One message against one catalogue: names first, then words and meaning, then neighbours.

use std::sync::{Arc, LazyLock};

use knowhow_domain::Result;
use knowhow_domain::recall::{self, Mention, Ranking, Stance, has_words, search};
use tokio::time::Instant;

use super::UserCatalogue;
use crate::dear::{self, Line};
use crate::embed::EmbedError;
use crate::{App, Asker, Ctx, compute};

/// Skills times bytes of the message, up to which a search runs on the thread that answers the request. It takes at
/// most some 2 ms there, if each skill holds each word, and mostly tens of microseconds. A larger search runs on other
/// threads.
const INLINE: usize = 200_000;
/// Above this a search takes 10 ms or more: a long message among thousands of skills. Each tenant has one at a time.
const DEAR: usize = 20_000_000;
/// Searches above `DEAR` that the process runs at once.
const AT_ONCE: usize = 2;

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("long messages to large libraries of this tenant", AT_ONCE));

/// Reading one byte of the message costs as much as looking for it in this many skills.
const READING: usize = 25;
/// Ranking one skill costs as much as looking for this many bytes in it. Not counted: a message that names a skill is
/// searched a second time, without the name.
const RANKING: usize = 50;

/// A message to look for, and how.
#[derive(Clone, Default)]
pub(crate) struct Query<'a> {
    pub(crate) message: &'a str,
    /// Its vector, where there is one in time.
    pub(crate) embedding: Option<Arc<[f32]>>,
    /// Whether to search, not only to look for names.
    pub(crate) searched: bool,
    /// Whether to rank all skills by the whole text, as a search does: also those that it names. A turn lists named
    /// skills apart.
    pub(crate) is_search: bool,
    /// Whether a ranking includes skills that want to be recalled by name alone.
    pub(crate) reserved: bool,
    /// Most skills in the ranking.
    pub(crate) limit: usize,
}

/// The skills that a message asks for, as places in the catalogue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// Skills that the message calls for or names, the most specific name first.
    pub(crate) named: Vec<Mention>,
    /// Skills that it asks about and does not call for.
    pub(crate) asked: Vec<Mention>,
    /// Skills that it forbids.
    pub(crate) excluded: Vec<Mention>,
    /// The other names in it.
    pub(crate) unmeant: Vec<Mention>,
    /// Names in an offer of the agent that the message accepts.
    pub(crate) agreed: Vec<Mention>,
    /// The other skills that fit, best first; empty if the message was not searched.
    pub(crate) ranking: Ranking,
}

/// Returns the vector of a message's written text by the deadline. Also whether there should be one and is none.
pub(crate) async fn embed(ctx: &Ctx, message: &str, deadline: Option<Instant>) -> Result<(Option<Arc<[f32]>>, bool)> {
    if ctx.app.models.embedder.is_none() {
        return Ok((None, false));
    }
    let text = recall::text_to_embed(message);
    let made = made_in_time(ctx.app.models.embed_message(Asker::of(&ctx.principal)?, &text, deadline).await);
    let is_late = made.is_none();
    Ok((made, is_late))
}

/// Returns the vector of a text that messages will be compared with, if there is one by the deadline.
pub(crate) async fn embed_document(ctx: &Ctx, text: &str, deadline: Option<Instant>) -> Result<Option<Arc<[f32]>>> {
    if ctx.app.models.embedder.is_none() {
        return Ok(None);
    }
    Ok(made_in_time(ctx.app.models.embed_document(Asker::of(&ctx.principal)?, text, deadline).await))
}

fn made_in_time(made: std::result::Result<Arc<[f32]>, EmbedError>) -> Option<Arc<[f32]>> {
    made.inspect_err(|error| tracing::debug!(%error, "a text goes without its vector")).ok()
}

/// Looks for a message in a catalogue.
pub(crate) async fn find_in(ctx: &Ctx, catalogue: &Arc<UserCatalogue>, query: Query<'_>) -> Result<Recalled> {
    let cosines = match &query.embedding {
        Some(embedding) => catalogue.cosines(ctx, embedding).await?,
        None => None,
    };
    if is_quick(catalogue.skills.len(), query.message) {
        return Ok(find(&ctx.app, catalogue, &query, cosines.as_deref()));
    }
    let turn = match is_dear(catalogue.skills.len(), query.message) {
        true => Some(LINE.turn(&ctx.principal).await?),
        false => None,
    };
    let (app, catalogue, message) = (ctx.app.clone(), catalogue.clone(), query.message.to_owned());
    let Query { embedding, searched, is_search, reserved, limit, .. } = query;
    let search = move || {
        let query = Query { message: &message, embedding, searched, is_search, reserved, limit };
        Ok(find(&app, &catalogue, &query, cosines.as_deref()))
    };
    match turn {
        Some(_turn) => dear::compute(search).await,
        None => compute(search).await,
    }
}

fn is_quick(skills: usize, message: &str) -> bool {
    work(skills, message) <= INLINE
}

/// Whether looking for a message among so many skills waits in the line of what is dear.
pub(crate) fn is_dear(skills: usize, message: &str) -> bool {
    work(skills, message) > DEAR
}

fn work(skills: usize, message: &str) -> usize {
    (skills + READING).saturating_mul(message.len() + RANKING)
}

fn find(app: &App, catalogue: &UserCatalogue, query: &Query<'_>, cosines: Option<&[Option<f32>]>) -> Recalled {
    let index = &catalogue.index;
    let of = |message: &str, without: &[usize]| {
        search(
            index,
            &recall::Query {
                message,
                embedding: query.embedding.as_deref(),
                cosines,
                examples: Some(&catalogue.examples),
                counter_examples: Some(&catalogue.counter_examples),
                chatter: app.models.embedder.as_deref().and_then(|embedder| embedder.chatter()),
                without,
                reserved: query.reserved,
                limit: query.limit,
            },
        )
    };
    let whole = query.searched.then(|| of(query.message, &[]));
    if query.is_search {
        return Recalled { ranking: whole.unwrap_or_default(), ..Recalled::default() };
    }
    let (meant, unmeant) = index.find_named(query.message, whole.as_ref());
    let ranking = match whole {
        None => Ranking::default(),
        Some(ranking) if meant.is_empty() => ranking,
        // What else is asked for is judged by the rest: the words of a name speak for that skill, and would open the floor
        // for strangers.
        Some(_) => {
            let rest = without_names(query.message, &meant);
            let without: Vec<usize> = meant.iter().map(|mention| mention.skill).collect();
            if has_words(&rest) { of(&rest, &without) } else { Ranking::default() }
        }
    };
    let mut recalled = Recalled { unmeant, ranking, ..Recalled::default() };
    for mention in meant {
        match mention.stance {
            Stance::Called | Stance::Named => recalled.named.push(mention),
            Stance::AskedAbout => recalled.asked.push(mention),
            Stance::Forbidden => recalled.excluded.push(mention),
        }
    }
    recalled
}

/// The message without the names in it.
fn without_names(message: &str, named: &[Mention]) -> String {
    let mut ranges: Vec<_> = named.iter().map(|mention| mention.bytes.clone()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut rest, mut at) = (String::with_capacity(message.len()), 0);
    for range in ranges {
        rest.push_str(message.get(at..range.start).unwrap_or_default());
        at = at.max(range.end);
    }
    rest.push_str(message.get(at..).unwrap_or_default());
    rest.trim().to_owned()
}

#[cfg(test)]
mod tests;
