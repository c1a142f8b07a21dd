//! Starter skills: given to a user at first use, brought up to date where the user has not touched them, never
//! brought back where the user deleted them.

use knowhow_domain::{ChangeKind, Result, SkillDocument, SkillName, Source};
use knowhow_store::skills::Locked;
use knowhow_store::starters::OutdatedCopy;
use knowhow_store::{WriteTx, starters};

use super::change::{Proposal, SkillChange, Target, change_in};
use super::draft::Draft;
use crate::{Ctx, library};

/// Brings the user's starter skills, built-in ones and those of the tenant's library, to what they are now. Costs nothing
/// where that is known to have happened.
///
/// # Errors
/// `Unavailable`.
pub async fn sync_starters(ctx: &Ctx) -> Result<()> {
    let Some(release) = library::release_of(&ctx.principal) else { return Ok(()) };
    // Also for users who have this release already: another model needs vectors of its own.
    publish(ctx, release).await?;
    match ctx.principal.starters_release() {
        Some(had) if had == release => Ok(()),
        // What is known of the tenant may be a second old: a user who has the newest library is not taken back to it.
        Some(_) if ctx.principal.library().is_some() => {
            let principal = ctx.principal.refreshed(&ctx.app.gate).await?;
            let ctx = Ctx { call: ctx.call.clone(), ..Ctx::of(&ctx.app, &principal) };
            let Some(release) = library::release_of(&ctx.principal) else { return Ok(()) };
            publish(&ctx, release).await?;
            bring(&ctx, release).await
        }
        _ => bring(ctx, release).await,
    }
}

async fn publish(ctx: &Ctx, release: [u8; 32]) -> Result<()> {
    ctx.app.library.publish(&ctx.app).await?;
    ctx.app.library.publish_for_tenant(&ctx.app, &ctx.principal, release).await
}

async fn bring(ctx: &Ctx, release: [u8; 32]) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "starters.sync").await?;
    if !starters::lend(&mut tx, &release, ctx.now()).await?
        && starters::lock(&mut tx).await?.as_deref() != Some(release.as_slice())
    {
        update(ctx, &mut tx, &release).await?;
    }
    tx.commit().await?;
    ctx.app.gate.state().note_starters(&ctx.principal, &release).await;
    Ok(())
}

/// For who has skills: new starters come, references move to this release's texts, as do copies that say what was given;
/// what the tenant took out of its library goes where it is as it was given.
async fn update(ctx: &Ctx, tx: &mut WriteTx, release: &[u8]) -> Result<()> {
    starters::settle(tx).await?;
    // The service brings them, whichever request happens to be the first.
    let ctx = &Ctx::of(&ctx.app, &ctx.principal);
    for name in starters::list_withdrawn(tx, release).await? {
        change_in(ctx, tx, &Withdraw { name: SkillName::parse(&name)? }).await?;
        starters::forget_install(tx, &name);
    }
    for copy in starters::list_outdated_copies(tx, release).await? {
        change_in(ctx, tx, &RenewCopy::of(ctx, &copy)?).await?;
    }
    starters::bring(tx, release, ctx.now()).await
}

/// A skill that the tenant's library has no more.
struct Withdraw {
    name: SkillName,
}

impl SkillChange for Withdraw {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, _: Option<&Locked>) -> Result<Proposal> {
        Ok(Proposal::Delete(None))
    }
}

/// The new text for a copy, which keeps its other files.
struct RenewCopy {
    name: SkillName,
    document: SkillDocument,
}

impl RenewCopy {
    fn of(ctx: &Ctx, copy: &OutdatedCopy) -> Result<Self> {
        // It has passed the limits of its time.
        let limits = ctx.app.limits.with_unbounded_body();
        let document = SkillDocument::parse(&copy.document, &limits)?;
        Ok(Self { name: SkillName::parse(&copy.name)?, document })
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
