//! The input of a reflection, in two parts: trusted and tainted content.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use knowhow_domain::learning::dream::{ConversationFacts, ShownSession};
use knowhow_domain::{Cadence, ConversationSummary, MemoryId, ReflectionState, Result, SessionId, SkillId};
use knowhow_store::learning::reflections::{self, BelowOf, DayConversation, DayOf, PeriodPart, ReflectedSession};
use serde_json::{Value, json};

use crate::Ctx;
use crate::learning::dream::read_excerpts;
use crate::sessions::conversations::extract_session;

/// Maximum number of sessions of a day; the last sessions are used.
const CONVERSATIONS: i64 = 200;
/// Maximum number of characters of the content in one prompt.
const CHARS: usize = 60_000;
/// Maximum number of named sources of taint.
const SOURCES: usize = 8;

/// The content of one prompt.
#[derive(Debug, Default)]
pub(super) struct MaterialPart {
    pub(super) is_tainted: bool,
    /// Sessions or reflections, as JSON for the model.
    pub(super) entries: Vec<Value>,
    /// The names of the entries in the prompt.
    pub(super) names: Vec<ShownSession>,
    /// Number of entries that were omitted because of the size limit.
    pub(super) left_out: usize,
    /// The sessions of each entry, by the entry's name.
    pub(super) sessions: BTreeMap<String, Vec<SessionId>>,
    /// The start of each entry's last session, by the entry's name.
    pub(super) began: BTreeMap<String, DateTime<Utc>>,
    /// The memories that contain the reflections among the entries.
    pub(super) from: Vec<MemoryId>,
    /// The skills that the sessions used.
    pub(super) used: BTreeSet<SkillId>,
    /// The sources of taint of the sessions.
    pub(super) tainted_by: Vec<String>,
    chars: usize,
}

impl MaterialPart {
    /// Adds an entry with its name and sessions, if it fits. Returns whether it was added.
    fn take(&mut self, shown: ShownSession, entry: Value, sessions: Vec<SessionId>) -> bool {
        let chars = entry.to_string().chars().count();
        if self.chars + chars > CHARS {
            self.left_out += 1;
            return false;
        }
        self.chars += chars;
        self.entries.push(entry);
        self.sessions.insert(shown.name.clone(), sessions);
        self.names.push(shown);
        true
    }

    /// Returns the sessions of all entries, without duplicates.
    pub(super) fn list_sessions(&self) -> BTreeSet<SessionId> {
        self.sessions.values().flatten().copied().collect()
    }
}

/// The input of a reflection.
pub(super) enum Material {
    /// The content, trusted part first; an empty part is omitted.
    Parts(Vec<MaterialPart>),
    /// Missing or incomplete input: the resulting state of the reflection, and the reason.
    Lacking(ReflectionState, String),
}

impl Material {
    /// Reads the input for a period's reflection.
    pub(super) async fn read(ctx: &Ctx, cadence: Cadence, period: NaiveDate) -> Result<Self> {
        match cadence.below(period) {
            None => of_day(ctx, period).await,
            Some((below, periods)) => of_reflections(ctx, below, &periods).await,
        }
    }

    fn of(parts: [MaterialPart; 2]) -> Option<Self> {
        let parts: Vec<MaterialPart> = parts.into_iter().filter(|part| !part.entries.is_empty()).collect();
        (!parts.is_empty()).then_some(Self::Parts(parts))
    }
}

fn two_parts() -> [MaterialPart; 2] {
    [MaterialPart::default(), MaterialPart { is_tainted: true, ..MaterialPart::default() }]
}

async fn of_day(ctx: &Ctx, day: NaiveDate) -> Result<Material> {
    let time_zone = &ctx.principal.settings().time_zone;
    let of = DayOf { day, now: ctx.now(), time_zone, most: CONVERSATIONS };
    let conversations = reflections::list_conversations(&ctx.app.db, &ctx.principal, of).await?;
    let mut told: [Vec<(DayConversation, ConversationSummary)>; 2] = [Vec::new(), Vec::new()];
    for mut conversation in conversations {
        let summary = match conversation.summary.take() {
            Some(summary) => summary,
            // The session has not ended yet, or its summary is still being made. An extract replaces the summary.
            None => match extract_session(ctx, conversation.id).await? {
                Some(summary) => summary,
                None => continue,
            },
        };
        told[usize::from(!conversation.tainted_by.is_empty())].push((conversation, summary));
    }
    let mut parts = two_parts();
    for (part, told) in parts.iter_mut().zip(told) {
        take_conversations(ctx, part, &told).await?;
        // Sessions are read newest first, so that the oldest are omitted if there is too much content. The prompt
        // lists the oldest first.
        part.entries.reverse();
    }
    let quiet = || Material::Lacking(ReflectionState::Quiet, "there was no conversation".to_owned());
    Ok(Material::of(parts).unwrap_or_else(quiet))
}

/// Adds conversations with their summaries. Their messages share the rest of the room.
async fn take_conversations(
    ctx: &Ctx,
    part: &mut MaterialPart,
    told: &[(DayConversation, ConversationSummary)],
) -> Result<()> {
    let entries: Vec<Value> = told.iter().map(|(conversation, summary)| describe(conversation, summary)).collect();
    let taken: usize = entries.iter().map(|entry| entry.to_string().chars().count()).sum();
    let ids: Vec<SessionId> = told.iter().map(|(conversation, _)| conversation.id).collect();
    // A tenth of the room is for the characters that JSON escapes.
    let mut excerpts = read_excerpts(ctx, &ids, CHARS.saturating_sub(taken) * 9 / 10).await?;
    for ((conversation, _), mut entry) in told.iter().zip(entries) {
        let name = format!("s{}", part.names.len() + 1);
        entry["name"] = json!(name);
        entry["messages"] = json!(excerpts.remove(&conversation.id).unwrap_or_default());
        let went = ConversationFacts {
            thumbs_up: conversation.thumbs_up,
            thumbs_down: conversation.thumbs_down,
            quality: conversation.quality.as_deref(),
            ..ConversationFacts::default()
        };
        let shown = ShownSession { name: name.clone(), is_success: went.went_well() };
        if part.take(shown, entry, vec![conversation.id]) {
            part.began.insert(name, conversation.started_at);
            part.used.extend(conversation.used.iter().copied());
            add_sources(part, &conversation.tainted_by);
        }
    }
    Ok(())
}

/// Returns a conversation as JSON for the model, without its name and messages.
fn describe(conversation: &DayConversation, summary: &ConversationSummary) -> Value {
    let used = conversation.outcomes.iter();
    let used: Vec<Value> = used
        .map(|(skill, version, outcome)| json!({ "skill": skill, "version": version, "outcome": outcome }))
        .collect();
    json!({
        "title": summary.title, "topics": summary.topics, "decisions": summary.decisions,
        "preferences": summary.preferences, "pending": summary.pending, "facts": summary.facts,
        "quality": conversation.quality, "corrections": conversation.corrections, "thumbs_up": conversation.thumbs_up,
        "thumbs_down": conversation.thumbs_down, "notes": conversation.notes, "skills_used": used,
    })
}

fn add_sources(part: &mut MaterialPart, sources: &[String]) {
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
        return Ok(Material::Lacking(ReflectionState::Quiet, format!("no {noun} of the period has a reflection")));
    }
    if !missing.is_empty() {
        let why = format!("not every {noun} with conversations has a reflection: {} is missing", missing.join(", "));
        return Ok(Material::Lacking(ReflectionState::Skipped, why));
    }
    let sessions: Vec<SessionId> = rows.iter().flat_map(|row| row.sessions.iter().copied()).collect();
    let kept = reflections::list_used(db, principal, &sessions).await?;
    let mut parts = two_parts();
    for row in &rows {
        for text in &row.texts {
            let part = &mut parts[usize::from(text.tainted)];
            let name = row.period.to_string();
            let entry = json!({ "name": name, "text": text.text });
            // A period has at most two texts: one of trusted content, and one of tainted content.
            let of_it =
                |session: &&ReflectedSession| session.is_tainted == text.tainted && row.sessions.contains(&session.id);
            let of_it: Vec<&ReflectedSession> = kept.iter().filter(of_it).collect();
            let ids = of_it.iter().map(|session| session.id).collect();
            if part.take(ShownSession { name: name.clone(), is_success: false }, entry, ids) {
                part.began.extend(of_it.iter().map(|session| session.started_at).max().map(|began| (name, began)));
                part.from.push(text.memory);
                part.used.extend(of_it.iter().flat_map(|session| &session.used));
            }
        }
    }
    add_sources(&mut parts[1], &["a reflection of untrusted content".to_owned()]);
    // The reflections were made, but all have been deleted since.
    let gone =
        || Material::Lacking(ReflectionState::Quiet, format!("the reflections of each {noun} have been deleted"));
    Ok(Material::of(parts).unwrap_or_else(gone))
}

/// Returns whether a period needs no further work: its reflection exists, or there were no messages.
fn is_dealt_with(row: &PeriodPart) -> bool {
    match row.state {
        Some(ReflectionState::Made | ReflectionState::Quiet) => true,
        Some(_) => false,
        None => !row.has_talk,
    }
}
