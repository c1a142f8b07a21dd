//! Extracts the relations that the texts of skills state.

use knowhow_domain::graph::{
    Extracted, Things, declared_relations, extract_relations, find_references, may_say_relations, names_in_piece,
};
use knowhow_domain::{EntityId, Limits, Result, SkillDocument, SkillId};
use knowhow_store::across::due::{self, Reconciled};
use knowhow_store::graph::{self, ExtractionRun, Related, StatedRelation, UnreadSkill};
use knowhow_store::{Window, WriteTx};

use crate::{Ctx, compute};

/// Version of the extraction rules. After an increase all skills are read again.
pub(crate) const RULES: i32 = 3;

/// Confidence, 0 to 1, of a relation stated in the body of a skill. A relation listed in the frontmatter has 1.
const OF_BODY: f32 = 0.9;

/// Confidence, 0 to 1, of a name in a body without a phrase that states a relation.
const OF_REFERENCE: f32 = 0.4;

/// Maximum number of skills read and stored per transaction.
const BATCH: i64 = 50;

/// Maximum number of passes of a job over the user's skills. Skills that change later get jobs of their own.
const MOST_PASSES: u32 = 3;

/// Returns whether a change to a SKILL.md may change the skill's relations, so that a job has to read it again. Runs on
/// a request's thread, so it examines only the changed lines and does not extract relations.
pub(crate) fn says_other_relations(before: Option<&str>, now: &str) -> bool {
    let before = before.unwrap_or_default();
    before != now && touches_relations(before, now)
}

/// Returns whether the changed lines or their section may state a relation. Changed marks of code blocks and comments
/// count too.
fn touches_relations(before: &str, now: &str) -> bool {
    let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
    let left = before.len().min(now.len()) - same;
    let after = before.bytes().rev().zip(now.bytes().rev()).take(left).take_while(|(a, b)| a == b).count();
    let top = before[..before.floor_char_boundary(same)].rfind(['\n']).unwrap_or_default();
    let section = before[..top].rfind("\n## ").max(before[..top].rfind("\n# ")).unwrap_or_default();
    // The changed lines from the start of their section, and the changed lines alone.
    let touched = |text: &str| {
        let end = text.len() - after;
        let end =
            text[text.ceil_char_boundary(end)..].find('\n').map_or(text.len(), |at| text.ceil_char_boundary(end) + at);
        (section..end, top..end)
    };
    let ((from_section, lines), (from_section_now, lines_now)) = (touched(before), touched(now));
    let (lines, lines_now) = (&before[lines], &now[lines_now]);
    let marks = ["```", "~~~", "<!--", "-->"];
    may_say_relations(&before[from_section])
        || may_say_relations(&now[from_section_now])
        || [lines, lines_now].into_iter().any(|lines| marks.iter().any(|mark| lines.contains(mark)))
        || names_in_piece(lines) != names_in_piece(lines_now)
}

/// Extracts relations and entities from the texts of the user's unread skills, and replaces the earlier results. A
/// skill is unread if it is new, changed, or was read under older rules. Idempotent. With `is_repair`, the work was
/// requested by the reconciler and is counted as repaired.
///
/// # Errors
/// `Unavailable`; results stored before the error stay.
pub(crate) async fn relate_skills(ctx: &Ctx, is_repair: bool) -> Result<()> {
    let mut repaired = Reconciled::default();
    let done = read_unread(ctx, is_repair, &mut repaired).await;
    // Skills stored before an error are not read again, so they are counted even after an error.
    if repaired != Reconciled::default() {
        due::add_reconciled(&ctx.app.db, repaired, ctx.now()).await?;
        let Reconciled { indexed, reconciled, removed } = repaired;
        tracing::info!(indexed, reconciled, removed, "the graph of a user was repaired");
    }
    done
}

async fn read_unread(ctx: &Ctx, is_repair: bool, repaired: &mut Reconciled) -> Result<()> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let reading = ExtractionRun { rules: RULES, now: ctx.now() };
    let (mut after, mut texts, mut passes) = (SkillId::FIRST, None, 1);
    loop {
        let window = Window { behind: after, limit: BATCH };
        let unread = graph::list_unread(db, principal, RULES, window).await?;
        let Some(last) = unread.last() else {
            // During a pass more skills can become unread: other skills name them, or they were changed.
            if after == SkillId::FIRST || passes == MOST_PASSES {
                break;
            }
            (after, passes, texts) = (SkillId::FIRST, passes + 1, None);
            continue;
        };
        after = last.skill;
        let (count, known) = (unread.len(), unread.iter().filter(|skill| skill.is_known).count());
        let reader = match texts.take() {
            Some(reader) => reader,
            None => Reader::of(ctx).await?,
        };
        let (reader, read) = compute(move || {
            let read: Vec<(UnreadSkill, ReadText)> = unread.into_iter().map(|skill| reader.read(skill)).collect();
            Ok((reader, read))
        })
        .await?;
        texts = Some(reader);
        let mut tx = WriteTx::begin(db, principal, "graph.relate").await?;
        let related = read.iter().map(|(skill, text)| Related {
            skill: skill.skill,
            name: &skill.name,
            read: skill.read.clone(),
            stated: text.stated.clone(),
            things: text.things.clone(),
        });
        graph::relate(&mut tx, related.collect(), reading);
        tx.commit().await?;
        if is_repair {
            repaired.reconciled += known as i64;
            repaired.indexed += (count - known) as i64;
        }
    }
    repaired.removed = graph::finish_relating(db, principal, RULES, is_repair).await?;
    Ok(())
}

/// Extracts relations from the texts of one user.
struct Reader {
    limits: Limits,
    /// The ids of the entities that the user's memories name.
    ids: Vec<EntityId>,
    /// The names of the entities in `ids`, in the same order.
    things: Things,
}

/// The relations and entities of a text.
struct ReadText {
    stated: Vec<StatedRelation>,
    things: Vec<EntityId>,
}

impl Reader {
    async fn of(ctx: &Ctx) -> Result<Self> {
        let named = graph::list_things(&ctx.app.db, &ctx.principal).await?;
        let ids = named.iter().map(|(id, _)| *id).collect();
        // Runs on a blocking thread, as it takes about 20 ms for 20,000 names.
        let things = compute(move || Things::new(named.iter().map(|(_, name)| name.as_str()).enumerate())).await?;
        Ok(Self { limits: ctx.app.limits.with_unbounded_body(), ids, things })
    }

    fn read(&self, skill: UnreadSkill) -> (UnreadSkill, ReadText) {
        // A text stored under older rules may be an invalid skill today. Its relations are then extracted from the
        // whole text.
        let document = SkillDocument::parse_named(&skill.document, &self.limits).ok();
        let stated = list_stated(&skill, document.as_ref());
        let places = document.as_ref().map(|document| self.things.find_in(document)).unwrap_or_default();
        let things = places.into_iter().filter_map(|place| self.ids.get(place).copied()).collect();
        (skill, ReadText { stated, things })
    }
}

fn list_stated(skill: &UnreadSkill, document: Option<&SkillDocument>) -> Vec<StatedRelation> {
    let fields = document.into_iter().flat_map(declared_relations).map(|(kind, name, key)| StatedRelation {
        kind,
        name,
        subject: None,
        mentions: 1,
        confidence: 1.0,
        evidence: format!("frontmatter: {key}"),
    });
    let mut stated: Vec<StatedRelation> = fields.collect();
    let body = document.map_or(skill.document.as_str(), SkillDocument::content);
    for found in extract_relations(&skill.name, body) {
        // A relation listed in the frontmatter is certain, so the same relation in the body is ignored.
        if !stated.iter().any(|known| (known.kind, &known.name) == (found.kind, &found.name)) {
            stated.push(stated_with(found, OF_BODY));
        }
    }
    // A reference counts only if no other relation to the same skill is stored.
    let references = find_references(&skill.name, body).into_iter();
    stated.extend(references.map(|found| stated_with(found, OF_REFERENCE)));
    stated
}

fn stated_with(found: Extracted, confidence: f32) -> StatedRelation {
    let Extracted { kind, name, subject, evidence, mentions } = found;
    StatedRelation { kind, name, subject, mentions, confidence, evidence }
}

#[cfg(test)]
mod tests;
