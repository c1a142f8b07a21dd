//! What a reflection is made of, in two parts: what is to be trusted, and what is not.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use knowhow_domain::dream::{Conversation, ShownSession};
use knowhow_domain::{Cadence, ConversationSummary, MemoryId, ReflectionState, Result, SessionId, SkillId};
use knowhow_store::reflections::{self, Below, BelowOf, DayConversation, DayOf, Told};
use serde_json::{Value, json};

use crate::Ctx;
use crate::conversations::extract_session;

/// Most conversations of a day: the last ones.
const CONVERSATIONS: i64 = 200;
/// Characters of what is told of in one question.
const CHARS: usize = 60_000;
/// Sources of taint that are named.
const SOURCES: usize = 8;

/// What goes into one question.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) is_tainted: bool,
    /// Conversations, or reflections, as the model is shown them.
    pub(super) told: Vec<Value>,
    /// The names that they are shown under.
    pub(super) names: Vec<ShownSession>,
    /// How many did not fit.
    pub(super) left_out: usize,
    /// The conversations behind each name.
    pub(super) sessions: BTreeMap<String, Vec<SessionId>>,
    /// The memories that it is made of.
    pub(super) from: Vec<MemoryId>,
    /// The skills that the conversations used.
    pub(super) used: BTreeSet<SkillId>,
    /// What the conversations had read that is not to be trusted.
    pub(super) tainted_by: Vec<String>,
    chars: usize,
}

impl Part {
    /// Takes something in under a name, with the conversations behind it, where there is room.
    fn take(&mut self, shown: ShownSession, told: Value, sessions: Vec<SessionId>) -> bool {
        let chars = told.to_string().chars().count();
        if self.chars + chars > CHARS {
            self.left_out += 1;
            return false;
        }
        self.chars += chars;
        self.told.push(told);
        self.sessions.insert(shown.name.clone(), sessions);
        self.names.push(shown);
        true
    }

    /// The conversations behind all of it, each once.
    pub(super) fn list_sessions(&self) -> BTreeSet<SessionId> {
        self.sessions.values().flatten().copied().collect()
    }
}

/// What there is to tell of.
pub(super) enum Material {
    /// One part or two, what is to be trusted first.
    Parts(Vec<Part>),
    /// Nothing, or not all of it: where the reflection stands because of that, and why.
    Lacking(ReflectionState, String),
}

impl Material {
    /// Reads what the reflection of a period is made of.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(super) async fn read(ctx: &Ctx, cadence: Cadence, period: NaiveDate) -> Result<Self> {
        match cadence.below(period) {
            None => of_day(ctx, period).await,
            Some((below, periods)) => of_reflections(ctx, below, &periods).await,
        }
    }

    fn of(parts: [Part; 2]) -> Option<Self> {
        let parts: Vec<Part> = parts.into_iter().filter(|part| !part.told.is_empty()).collect();
        (!parts.is_empty()).then_some(Self::Parts(parts))
    }
}

fn two_parts() -> [Part; 2] {
    [Part::default(), Part { is_tainted: true, ..Part::default() }]
}

async fn of_day(ctx: &Ctx, day: NaiveDate) -> Result<Material> {
    let time_zone = &ctx.principal.settings().time_zone;
    let of = DayOf { day, now: ctx.now(), time_zone, most: CONVERSATIONS };
    let conversations = reflections::list_conversations(&ctx.app.db, &ctx.principal, of).await?;
    let mut parts = two_parts();
    for mut conversation in conversations {
        let summary = match conversation.summary.take() {
            Some(summary) => summary,
            // It is silent and not over, or its summary is still being made.
            None => match extract_session(ctx, conversation.id).await? {
                Some(summary) => summary,
                None => continue,
            },
        };
        let part = &mut parts[usize::from(!conversation.tainted_by.is_empty())];
        take_conversation(part, &conversation, &summary);
    }
    // They came the last first, so that the first ones are left out where there is no room.
    parts.iter_mut().for_each(|part| part.told.reverse());
    let quiet = || Material::Lacking(ReflectionState::Quiet, "there was no conversation".to_owned());
    Ok(Material::of(parts).unwrap_or_else(quiet))
}

fn take_conversation(part: &mut Part, conversation: &DayConversation, summary: &ConversationSummary) {
    let name = format!("s{}", part.names.len() + 1);
    let outcomes: Vec<Value> =
        conversation.outcomes.iter().map(|(skill, outcome)| json!({ "skill": skill, "outcome": outcome })).collect();
    let told = json!({
        "name": name, "title": summary.title, "topics": summary.topics, "decisions": summary.decisions,
        "preferences": summary.preferences, "pending": summary.pending, "facts": summary.facts,
        "last_messages": summary.last_messages, "quality": conversation.quality,
        "corrections": conversation.corrections, "thumbs_up": conversation.thumbs_up,
        "thumbs_down": conversation.thumbs_down, "notes": conversation.notes, "skills_used": outcomes,
    });
    let went = Conversation {
        thumbs_up: conversation.thumbs_up,
        thumbs_down: conversation.thumbs_down,
        quality: conversation.quality.as_deref(),
        ..Conversation::default()
    };
    let shown = ShownSession { name, is_success: went.went_well() };
    if part.take(shown, told, vec![conversation.id]) {
        part.used.extend(conversation.used.iter().copied());
        add_sources(part, &conversation.tainted_by);
    }
}

fn add_sources(part: &mut Part, sources: &[String]) {
    for source in sources {
        if part.tainted_by.len() < SOURCES && !part.tainted_by.contains(source) {
            part.tainted_by.push(source.clone());
        }
    }
}

async fn of_reflections(ctx: &Ctx, below: Cadence, periods: &[NaiveDate]) -> Result<Material> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let of = BelowOf { cadence: below, periods, time_zone: &principal.settings().time_zone };
    let rows = reflections::list_below(db, principal, of).await?;
    let noun = if below == Cadence::Daily { "day" } else { "week" };
    let missing: Vec<String> =
        rows.iter().filter(|row| !is_dealt_with(row)).map(|row| row.period.to_string()).collect();
    if !rows.iter().any(|row| row.state == Some(ReflectionState::Made)) {
        return Ok(Material::Lacking(ReflectionState::Quiet, format!("no {noun} of it was told of")));
    }
    if !missing.is_empty() {
        let why = format!("not every {noun} of it was told of or quiet: {} is missing", missing.join(", "));
        return Ok(Material::Lacking(ReflectionState::Skipped, why));
    }
    let sessions: Vec<SessionId> = rows.iter().flat_map(|row| row.sessions.iter().copied()).collect();
    let kept = reflections::list_used(db, principal, &sessions).await?;
    let mut parts = two_parts();
    for row in &rows {
        for text in &row.texts {
            let part = &mut parts[usize::from(text.tainted)];
            let name = row.period.to_string();
            let told = json!({ "name": name, "text": text.text });
            // A day has one text of what is to be trusted, and one of what is not.
            let of_it = |told: &&Told| told.is_tainted == text.tainted && row.sessions.contains(&told.id);
            let of_it: Vec<&Told> = kept.iter().filter(of_it).collect();
            let ids = of_it.iter().map(|told| told.id).collect();
            if part.take(ShownSession { name, is_success: false }, told, ids) {
                part.from.push(text.memory);
                part.used.extend(of_it.iter().flat_map(|told| &told.used));
            }
        }
    }
    add_sources(&mut parts[1], &["a reflection of what is not to be trusted".to_owned()]);
    // All that was told was deleted since.
    let gone =
        || Material::Lacking(ReflectionState::Quiet, format!("what was told of each {noun} is not kept any more"));
    Ok(Material::of(parts).unwrap_or_else(gone))
}

/// Whether a day or week needs no more to be done: it is told of, or nothing was said in it.
fn is_dealt_with(row: &Below) -> bool {
    match row.state {
        Some(ReflectionState::Made | ReflectionState::Quiet) => true,
        Some(_) => false,
        None => !row.has_talk,
    }
}
