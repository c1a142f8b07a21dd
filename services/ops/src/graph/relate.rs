//! Reads the texts of skills for what they say of other skills.

use knowhow_domain::graph::{Things, declared_relations, extract_relations, may_say_relations};
use knowhow_domain::{EntityId, Limits, Result, SkillDocument, SkillId};
use knowhow_store::due::{self, Reconciled};
use knowhow_store::graph::{self, Reading, Related, Said, Unread};
use knowhow_store::{Window, WriteTx};

use crate::{Ctx, compute};

/// Grows when the rules by which texts are read change: all skills are read again then.
pub(crate) const RULES: i32 = 2;

/// How sure a sentence of a body is; what a frontmatter lists is said on purpose.
const OF_BODY: f32 = 0.9;

/// Skills that are read and kept together.
const BATCH: i64 = 50;

/// So often one job looks through the skills; what changes on and on has jobs of its own.
const MOST_PASSES: u32 = 3;

/// Whether a change of a SKILL.md may have it say other relations than before. Most changes touch no relation, and no job reads
/// them. It is asked on a request's thread, so only what has changed is looked at, and not what it says.
pub(crate) fn says_other_relations(before: Option<&str>, now: &str) -> bool {
    let before = before.unwrap_or_default();
    before != now && touches_relations(before, now)
}

/// Whether the lines that differ, or what stands above them in their section, may say a relation; or where code begins.
fn touches_relations(before: &str, now: &str) -> bool {
    let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
    let left = before.len().min(now.len()) - same;
    let after = before.bytes().rev().zip(now.bytes().rev()).take(left).take_while(|(a, b)| a == b).count();
    let top = before[..before.floor_char_boundary(same)].rfind(['\n']).unwrap_or_default();
    let section = before[..top].rfind("\n## ").max(before[..top].rfind("\n# ")).unwrap_or_default();
    let touched = |text: &str| {
        let end = text.len() - after;
        let end =
            text[text.ceil_char_boundary(end)..].find('\n').map_or(text.len(), |at| text.ceil_char_boundary(end) + at);
        let lines = &text[section..end];
        may_say_relations(lines) || ["```", "~~~", "<!--", "-->"].iter().any(|mark| text[top..end].contains(mark))
    };
    touched(before) || touched(now)
}

/// Puts what the texts of the user's skills say of others, and which things they name, in the place of what their former texts
/// said: of those that were not read since. It may be run again. What the reconciler has asked for is counted as repaired.
///
/// # Errors
/// `Unavailable`; what was read before stays read.
pub(crate) async fn relate_skills(ctx: &Ctx, is_repair: bool) -> Result<()> {
    let mut repaired = Reconciled::default();
    let done = read_unread(ctx, is_repair, &mut repaired).await;
    // What was read before a failure stays read, so it is counted now or never.
    if repaired != Reconciled::default() {
        due::add_reconciled(&ctx.app.db, repaired, ctx.now()).await?;
        let Reconciled { indexed, reconciled, removed } = repaired;
        tracing::info!(indexed, reconciled, removed, "the graph of a user was repaired");
    }
    done
}

async fn read_unread(ctx: &Ctx, is_repair: bool, repaired: &mut Reconciled) -> Result<()> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let reading = Reading { rules: RULES, now: ctx.now() };
    let (mut after, mut texts, mut passes) = (SkillId::FIRST, None, 1);
    loop {
        let window = Window { behind: after, limit: BATCH };
        let unread = graph::list_unread(db, principal, RULES, window).await?;
        let Some(last) = unread.last() else {
            // Skills that others name come in unread, and what changed meanwhile is not kept.
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
            let read: Vec<(Unread, ReadText)> = unread.into_iter().map(|skill| reader.read(skill)).collect();
            Ok((reader, read))
        })
        .await?;
        texts = Some(reader);
        let mut tx = WriteTx::begin(db, principal, "graph.relate").await?;
        let related = read.iter().map(|(skill, text)| Related {
            skill: skill.skill,
            name: &skill.name,
            read: skill.read.clone(),
            said: text.said.clone(),
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

/// Reads texts of one user.
struct Reader {
    limits: Limits,
    /// The things that the user's memories name,
    ids: Vec<EntityId>,
    /// and their names.
    things: Things,
}

/// What a text says.
struct ReadText {
    said: Vec<Said>,
    things: Vec<EntityId>,
}

impl Reader {
    async fn of(ctx: &Ctx) -> Result<Self> {
        let named = graph::list_things(&ctx.app.db, &ctx.principal).await?;
        let ids = named.iter().map(|(id, _)| *id).collect();
        // Of 20,000 names it takes some 20 ms.
        let things = compute(move || Things::new(named.iter().map(|(_, name)| name.as_str()).enumerate())).await?;
        Ok(Self { limits: ctx.app.limits.with_unbounded_body(), ids, things })
    }

    fn read(&self, skill: Unread) -> (Unread, ReadText) {
        // What was stored under older rules may be no skill by those of now: its body is read all the same.
        let document = SkillDocument::parse_named(&skill.document, &self.limits).ok();
        let said = list_said(&skill, document.as_ref());
        let places = document.as_ref().map(|document| self.things.find_in(document)).unwrap_or_default();
        let things = places.into_iter().filter_map(|place| self.ids.get(place).copied()).collect();
        (skill, ReadText { said, things })
    }
}

fn list_said(skill: &Unread, document: Option<&SkillDocument>) -> Vec<Said> {
    let fields = document.into_iter().flat_map(declared_relations).map(|(kind, name, key)| Said {
        kind,
        name,
        subject: None,
        mentions: 1,
        confidence: 1.0,
        evidence: format!("frontmatter: {key}"),
    });
    let mut said: Vec<Said> = fields.collect();
    let body = document.map_or(skill.document.as_str(), SkillDocument::content);
    for found in extract_relations(&skill.name, body) {
        // A frontmatter that lists a skill says it surely.
        if !said.iter().any(|known| (known.kind, &known.name) == (found.kind, &found.name)) {
            let (kind, name, subject, mentions) = (found.kind, found.name, found.subject, found.mentions);
            said.push(Said { kind, name, subject, mentions, confidence: OF_BODY, evidence: found.evidence });
        }
    }
    said
}

#[cfg(test)]
mod tests;
