//! Gives each user the starter skills at first use. They are updated unless the user has changed them, and never
//! restored after the user deletes them.

use knowhow_domain::{ChangeKind, Result, SkillDocument, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use knowhow_store::skills::starters::{self, OutdatedCopy};

use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::{ProposedChange, SkillChange, Target, change_in};
use crate::skills::library;

/// Updates the user's starters to the current release, both the built-in ones and those of the tenant's library.
/// Sends no query if the user is known to have the release.
pub async fn sync_starters(ctx: &Ctx) -> Result<()> {
    let Some(release) = library::release_of(&ctx.principal) else { return Ok(()) };
    // This is needed even if the user has the release, because a new embedding model needs new vectors.
    publish(ctx, release).await?;
    match ctx.principal.starters_release() {
        Some(had) if had == release => Ok(()),
        // The cached tenant may be a second old. A user with the newest library must not be moved back to an older
        // one.
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

/// Updates the starters of a user who already has skills. New starters are added, and unchanged starters get the text
/// of this release. Starters that were removed from the library are deleted, unless the user has changed them.
async fn update(ctx: &Ctx, tx: &mut WriteTx, release: &[u8]) -> Result<()> {
    starters::settle(tx).await?;
    // The service makes these changes, so they are not attributed to the session or agent of the current request.
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

/// The deletion of a starter that was removed from the tenant's library.
struct Withdraw {
    name: SkillName,
}

impl SkillChange for Withdraw {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, _: Option<&Locked>) -> Result<ProposedChange> {
        Ok(ProposedChange::Delete(None))
    }
}

/// A new text for an unchanged copy of a starter. The copy keeps its resources.
struct RenewCopy {
    name: SkillName,
    document: SkillDocument,
}

impl RenewCopy {
    fn of(ctx: &Ctx, copy: &OutdatedCopy) -> Result<Self> {
        // The text was valid under the limits of its time, so the length of its body is not limited.
        let limits = ctx.app.limits.with_unbounded_body();
        let document = SkillDocument::parse(&copy.document, &limits)?;
        Ok(Self { name: SkillName::parse(&copy.name)?, document })
    }
}

impl SkillChange for RenewCopy {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let resources = current.map(|current| current.skill.resources.clone()).unwrap_or_default();
        let draft = Draft::new(ChangeKind::Sync, self.name.clone(), self.document.clone());
        Ok(ProposedChange::Write(Box::new(Draft { resources, ..draft })))
    }

    fn source(&self, _: &Ctx) -> Source {
        Source::Starter
    }

    fn is_bulk(&self) -> bool {
        true
    }
}
