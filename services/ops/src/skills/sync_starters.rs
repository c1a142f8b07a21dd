//! Starter skills: given to a user at first use, brought up to date where the user has not touched them, never
//! brought back where the user deleted them.

use knowhow_domain::{ChangeKind, Result, SkillDocument, SkillName, Source};
use knowhow_store::skills::Locked;
use knowhow_store::{WriteTx, starters};

use super::change::{Proposal, SkillChange, Target, change_in};
use super::draft::Draft;
use crate::Ctx;
use crate::library::RELEASE;
use crate::starters::{STARTERS, Starter};

/// Brings the user's starter skills to this release. Costs nothing where that is known to have happened.
///
/// # Errors
/// `Unavailable`.
pub async fn sync_starters(ctx: &Ctx) -> Result<()> {
    if !ctx.principal.settings().starter_skills {
        return Ok(());
    }
    // Also for users who have this release already: another model needs vectors of its own.
    ctx.app.library.publish(&ctx.app).await?;
    let release = RELEASE.as_slice();
    if ctx.principal.starters_release() == Some(release) {
        return Ok(());
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "starters.sync").await?;
    if !starters::lend(&mut tx, release, ctx.now()).await? && starters::lock(&mut tx).await?.as_deref() != Some(release)
    {
        update(ctx, &mut tx).await?;
    }
    tx.commit().await?;
    ctx.app.gate.state().note_starters(&ctx.principal, release).await;
    Ok(())
}

/// For who has skills: new starters come, references move to this release's texts, as do copies that say what was given.
async fn update(ctx: &Ctx, tx: &mut WriteTx) -> Result<()> {
    starters::settle(tx).await?;
    // The service brings them, whichever request happens to be the first.
    let ctx = &Ctx::of(&ctx.app, &ctx.principal);
    for name in starters::list_outdated_copies(tx, RELEASE.as_slice()).await? {
        for starter in STARTERS.iter().filter(|starter| starter.name == name) {
            change_in(ctx, tx, &RenewCopy::of(ctx, starter)?).await?;
        }
    }
    starters::bring(tx, RELEASE.as_slice(), ctx.now()).await
}

/// The new text for a copy, which keeps its other files.
struct RenewCopy {
    name: SkillName,
    document: SkillDocument,
}

impl RenewCopy {
    fn of(ctx: &Ctx, starter: &Starter) -> Result<Self> {
        let document = SkillDocument::parse(starter.skill_md, &ctx.app.limits)?;
        Ok(Self { name: SkillName::parse(starter.name)?, document })
    }
}

impl SkillChange for RenewCopy {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let resources = current.map(|current| current.skill.resources.clone()).unwrap_or_default();
        let draft = Draft::new(ChangeKind::Sync, self.name.clone(), self.document.clone());
        Ok(Proposal::Write(Box::new(Draft { resources, ..draft })))
    }

    fn source(&self, _: &Ctx) -> Source {
        Source::Starter
    }

    fn is_bulk(&self) -> bool {
        true
    }
}
