//! Searches a catalogue for messages: first by names, then by words and meaning.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use knowhow_domain::recall::{self, Hit, Mention, Ranking, Stance, has_words, search};
use knowhow_domain::{Result, SkillId};
use tokio::time::Instant;

use super::UserCatalogue;
use crate::models::embed::EmbedError;
use crate::platform::admission;
use crate::{App, Asker, Ctx, compute};

/// Maximum work of a search that runs on the request's thread, in skills times bytes of the message. Such a search
/// takes at most about 2 ms, and usually tens of microseconds. A larger search runs on a blocking thread.
const INLINE_WORK: usize = 200_000;
/// Work above which a search takes 10 ms or more, e.g. a long message and thousands of skills. Each tenant runs one
/// such search at a time.
const EXPENSIVE_WORK: usize = 20_000_000;

/// Cost of reading one byte of the message, in units of searching one skill for one byte.
const READING_COST: usize = 25;
/// Cost of ranking one skill, in units of searching one skill for one byte. If a message names a skill, it is
/// searched a second time without the name; that cost is not counted.
const RANKING_COST: usize = 50;

/// A message to search for, with options.
#[derive(Clone, Default)]
pub(crate) struct Query<'a> {
    pub(crate) message: &'a str,
    /// The message's vector, if it was computed in time.
    pub(crate) embedding: Option<Arc<[f32]>>,
    /// Whether to rank skills; otherwise only names are searched for.
    pub(crate) searched: bool,
    /// Whether to rank all skills by the whole text, including skills that the text names. A turn lists named skills
    /// separately. With this option, names are searched for only to find prohibited skills.
    pub(crate) is_search: bool,
    /// Whether the ranking includes skills that are otherwise recalled only by name.
    pub(crate) reserved: bool,
    /// Maximum number of skills in the ranking.
    pub(crate) limit: usize,
}

/// The skills that a message refers to, as indexes into the catalogue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// Skills that the message calls for or names, most specific name first.
    pub(crate) named: Vec<Mention>,
    /// Skills that the message asks about without calling for them.
    pub(crate) asked: Vec<Mention>,
    /// Skills that the message forbids.
    pub(crate) excluded: Vec<Mention>,
    /// Skills with a name that occurs in the message as an ordinary word.
    pub(crate) unmeant: Vec<Mention>,
    /// Skills named in an offer of the agent that the message accepts.
    pub(crate) agreed: Vec<Mention>,
    /// Other skills that fit the message, best first; empty if the message was not searched.
    pub(crate) ranking: Ranking,
    /// Hits of the ranking that a model chose, best first; `None` if no model judged them.
    pub(crate) judged: Option<Vec<Hit>>,
}

impl Recalled {
    /// Returns the hits to include: the hits that a model chose, or else the hits that reach `floor` and are close to
    /// the best.
    pub(crate) fn relevant(&self, floor: f32) -> &[Hit] {
        self.judged.as_deref().unwrap_or_else(|| self.ranking.relevant(floor))
    }

    /// Returns the probability, 0 to 1, that the message asks for any of the hits.
    pub(crate) fn fit(&self) -> f32 {
        if self.judged.is_some() { 1.0 } else { self.ranking.fit }
    }

    /// Restricts the hits to the skills that a model chose. If `chosen` is `None`, the ranking alone decides.
    pub(crate) fn choose(&mut self, catalogue: &UserCatalogue, chosen: Option<&HashSet<SkillId>>) {
        let is_chosen = |chosen: &HashSet<SkillId>, hit: &Hit| {
            catalogue.skills.get(hit.skill).is_some_and(|skill| chosen.contains(&skill.id))
        };
        let hits = |chosen| self.ranking.candidates().filter(|hit| is_chosen(chosen, hit)).copied().collect();
        self.judged = chosen.map(hits);
    }
}

/// Returns the vector of a message's text, if it is computed by the deadline. The flag is true if a model is
/// configured but the vector is missing.
pub(crate) async fn embed(ctx: &Ctx, message: &str, deadline: Option<Instant>) -> Result<(Option<Arc<[f32]>>, bool)> {
    if ctx.app.models.embedder.is_none() {
        return Ok((None, false));
    }
    let text = recall::text_to_embed(message);
    let made = made_in_time(ctx.app.models.embed_message(Asker::of(&ctx.principal)?, &text, deadline).await);
    let is_late = made.is_none();
    Ok((made, is_late))
}

/// Vectors of several texts, in the order of the texts.
pub(crate) struct EmbeddedTexts {
    pub(crate) vectors: Vec<Option<Arc<[f32]>>>,
    /// Whether a model is configured but the vectors are missing.
    pub(crate) is_late: bool,
}

/// Returns the vectors of several texts, computed in one batch. All vectors are `None` if the deadline passes.
pub(crate) async fn embed_all(ctx: &Ctx, texts: &[&str], deadline: Instant) -> Result<EmbeddedTexts> {
    let none = |is_late| EmbeddedTexts { vectors: vec![None; texts.len()], is_late };
    if ctx.app.models.embedder.is_none() {
        return Ok(none(false));
    }
    let asked: Vec<Cow<'_, str>> = texts.iter().map(|text| recall::text_to_embed(text)).collect();
    let made = ctx.app.models.embed_messages(Asker::of(&ctx.principal)?, &asked, Some(deadline)).await;
    let made = made.inspect_err(|error| tracing::debug!(%error, "texts go without their vectors"));
    Ok(match made {
        Ok(vectors) => EmbeddedTexts { vectors: vectors.into_iter().map(Some).collect(), is_late: false },
        Err(_) => none(true),
    })
}

/// Returns the vector of a text that messages are compared with, if it is computed by the deadline.
pub(crate) async fn embed_document(ctx: &Ctx, text: &str, deadline: Option<Instant>) -> Result<Option<Arc<[f32]>>> {
    if ctx.app.models.embedder.is_none() {
        return Ok(None);
    }
    Ok(made_in_time(ctx.app.models.embed_document(Asker::of(&ctx.principal)?, text, deadline).await))
}

fn made_in_time(made: std::result::Result<Arc<[f32]>, EmbedError>) -> Option<Arc<[f32]>> {
    made.inspect_err(|error| tracing::debug!(%error, "a text goes without its vector")).ok()
}

/// Searches a catalogue for a message.
pub(crate) async fn find_in(ctx: &Ctx, catalogue: &Arc<UserCatalogue>, query: Query<'_>) -> Result<Recalled> {
    Ok(find_all_in(ctx, catalogue, vec![query]).await?.pop().unwrap_or_default())
}

/// Searches a catalogue for several messages. Returns one result per message, in the same order.
pub(crate) async fn find_all_in(
    ctx: &Ctx,
    catalogue: &Arc<UserCatalogue>,
    queries: Vec<Query<'_>>,
) -> Result<Vec<Recalled>> {
    let embeddings: Vec<Option<&[f32]>> = queries.iter().map(|query| query.embedding.as_deref()).collect();
    let cosines = catalogue.cosines(ctx, &embeddings).await?;
    let work =
        queries.iter().fold(0_usize, |sum, query| sum.saturating_add(work(catalogue.skills.len(), query.message)));
    if work <= INLINE_WORK {
        return Ok(find_each(&ctx.app, catalogue, &queries, &cosines));
    }
    let turn = if work > EXPENSIVE_WORK { Some(ctx.app.admission.searches.turn(&ctx.principal).await?) } else { None };
    let (app, catalogue) = (ctx.app.clone(), catalogue.clone());
    let messages: Vec<String> = queries.iter().map(|query| query.message.to_owned()).collect();
    let queries: Vec<Query<'static>> = queries.into_iter().map(Query::without_message).collect();
    let search = move || {
        let queries = queries.into_iter().zip(&messages);
        let queries: Vec<Query<'_>> = queries.map(|(query, message)| Query { message, ..query }).collect();
        Ok(find_each(&app, &catalogue, &queries, &cosines))
    };
    match turn {
        Some(_turn) => admission::compute(search).await,
        None => compute(search).await,
    }
}

impl Query<'_> {
    fn without_message(self) -> Query<'static> {
        let Self { embedding, searched, is_search, reserved, limit, .. } = self;
        Query { message: "", embedding, searched, is_search, reserved, limit }
    }
}

/// Returns whether a search for this message in `skills` skills has to wait in the queue for expensive searches.
pub(crate) fn is_expensive(skills: usize, message: &str) -> bool {
    work(skills, message) > EXPENSIVE_WORK
}

fn work(skills: usize, message: &str) -> usize {
    (skills + READING_COST).saturating_mul(message.len() + RANKING_COST)
}

/// Searches for each message. `cosines` has the cosine of each message's vector to every skill, or `None` if the
/// index contains the vectors.
fn find_each(
    app: &App,
    catalogue: &UserCatalogue,
    queries: &[Query<'_>],
    cosines: &[Option<Vec<Option<f32>>>],
) -> Vec<Recalled> {
    let found = |(query, cosines): (&Query<'_>, &Option<Vec<_>>)| find(app, catalogue, query, cosines.as_deref());
    queries.iter().zip(cosines).map(found).collect()
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
        let named = index.find_surely_named(query.message).into_iter();
        let excluded = named.filter(|mention| mention.stance == Stance::Forbidden).collect();
        return Recalled { excluded, ranking: whole.unwrap_or_default(), ..Recalled::default() };
    }
    let (meant, unmeant) = index.find_named(query.message, whole.as_ref());
    let ranking = match whole {
        None => Ranking::default(),
        Some(ranking) if meant.is_empty() => ranking,
        // Ranks the other skills by the rest of the message. The words of a name are evidence for the named skill,
        // and would lift unrelated skills above the floor.
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

/// Returns the message without the named skills' names.
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
