//! Writes the words that enrichment adds to a skill's frontmatter, as a separate version.

use knowhow_domain::{ChangeKind, Result, SkillDocument};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, EnrichedText, Locked, SkillKey, SkillState};

use crate::change::draft::Draft;
use crate::change::{Aftermath, ProposedChange, SkillChange, Target, carry_out};
use crate::context::lookup::NameMatching;
use crate::{Ctx, Priority};

/// A change that adds words to a skill, based on the skill as it was read.
pub(crate) struct AddWords<'a> {
    id: String,
    read: &'a SkillState,
    text: EnrichedText<'a>,
    document: SkillDocument,
    priority: Priority,
}

impl<'a> AddWords<'a> {
    /// Returns a change that replaces the document of the skill that was read.
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
        Target::Called(&self.id, NameMatching::Exact)
    }

    fn is_bulk(&self) -> bool {
        self.priority == Priority::Background
    }

    async fn propose(&self, _: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let is_same = |current: &&Locked| {
            let skill = &current.skill;
            skill.version == self.read.version && skill.digest == self.read.digest && !skill.pinned
        };
        let Some(current) = current.filter(is_same) else { return Ok(ProposedChange::Keep) };
        // Counts the attempt. If a user restores the old text, the skill is enriched again, but only a limited number
        // of times.
        skills::note_enrich_try(tx, self.text);
        let draft = Draft::of(ChangeKind::Enrich, current, self.document.clone())?;
        Ok(ProposedChange::Write(Box::new(Draft { derived: true, ..draft })))
    }
}

/// Writes the version, unless the skill was changed or pinned after it was read.
///
/// # Errors
/// `NotFound` if the skill was deleted; `MustBeReviewed`, `Invalid`, `TooLarge` or `Quota` if the version is
/// rejected.
pub(crate) async fn add_words(ctx: &Ctx, change: &AddWords<'_>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.enrich").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Id(change.read.id)).await?;
    let mut changed = carry_out(ctx, &mut tx, change, locked).await?;
    let done = Aftermath::of(&mut changed);
    tx.commit().await?;
    done.finish(ctx, !change.is_bulk())?;
    Ok(())
}
