//! Words that enrichment adds to a skill's frontmatter, as a version of its own.

use knowhow_domain::{ChangeKind, Result, SkillDocument};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, EnrichedText, Locked, SkillKey, SkillState};

use super::change::{Aftermath, Proposal, SkillChange, Target, carry_out};
use super::draft::Draft;
use crate::lookup::Reach;
use crate::{Ctx, Priority};

/// A skill with words added, made of the skill as it was read.
pub(crate) struct AddWords<'a> {
    id: String,
    read: &'a SkillState,
    text: EnrichedText<'a>,
    document: SkillDocument,
    priority: Priority,
}

impl<'a> AddWords<'a> {
    /// This document in the place of the one that was read.
    pub(crate) fn new(
        read: &'a SkillState,
        text: EnrichedText<'a>,
        document: SkillDocument,
        priority: Priority,
    ) -> Self {
        Self { id: read.id.to_string(), read, text, document, priority }
    }
}

impl SkillChange for AddWords<'_> {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.id, Reach::Exact)
    }

    fn is_bulk(&self) -> bool {
        self.priority == Priority::Background
    }

    async fn propose(&self, _: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let is_same = |current: &&Locked| {
            let skill = &current.skill;
            skill.version == self.read.version && skill.digest == self.read.digest && !skill.pinned
        };
        let Some(current) = current.filter(is_same) else { return Ok(Proposal::Keep) };
        // Whoever puts the same text back has it enriched again, but not for ever.
        skills::note_enrich_try(tx, self.text);
        let draft = Draft::of(ChangeKind::Enrich, current, self.document.clone())?;
        Ok(Proposal::Write(Box::new(Draft { derived: true, ..draft })))
    }
}

/// Makes the version, unless the skill has changed since it was read, or was pinned.
///
/// # Errors
/// `NotFound` where it is gone; `MustBeReviewed`, `Invalid`, `TooLarge`, `Quota` where it cannot be made.
pub(crate) async fn add_words(ctx: &Ctx, change: &AddWords<'_>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.enrich").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Id(change.read.id)).await?;
    let mut changed = carry_out(ctx, &mut tx, change, locked).await?;
    let done = Aftermath::of(&mut changed);
    tx.commit().await?;
    done.finish(ctx, !change.is_bulk())?;
    Ok(())
}
