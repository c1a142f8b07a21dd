//! Starter skills: given to a user at first use, brought up to date where the user has not touched them, never
//! brought back where the user deleted them.

use knowhow_domain::{ChangeKind, Result, SkillDocument, SkillName, Source};
use knowhow_store::skills::{Locked, SkillKey};
use knowhow_store::{TenantTx, starters};

use super::apply::{Origin, Proposal, apply};
use crate::library::RELEASE;
use crate::starters::{STARTERS, Starter};
use crate::{App, Ctx};

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
    let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal).await?;
    if !starters::lend(&mut tx, release, ctx.now()).await? && starters::lock(&mut tx).await?.as_deref() != Some(release)
    {
        update(ctx, &mut tx).await?;
    }
    tx.commit().await?;
    ctx.app.gate.state().note_starters(&ctx.principal, release).await;
    Ok(())
}

/// For who has skills: new starters come, references move to this release's texts, as do copies that say what was given.
async fn update(ctx: &Ctx, tx: &mut TenantTx) -> Result<()> {
    starters::settle(tx).await?;
    // The service brings them, whichever request happens to be the first.
    let ctx = &Ctx::of(&ctx.app, &ctx.principal);
    let origin = Origin::new(ctx, ChangeKind::Sync, Source::Starter).in_bulk();
    for name in starters::list_outdated_copies(tx, RELEASE.as_slice()).await? {
        for starter in STARTERS.iter().filter(|starter| starter.name == name) {
            renew_copy(&ctx.app, tx, &origin, starter).await?;
        }
    }
    starters::bring(tx, RELEASE.as_slice(), ctx.now()).await
}

/// Puts the new text into a copy, which keeps its other files.
async fn renew_copy(app: &App, tx: &mut TenantTx, origin: &Origin<'_>, starter: &Starter) -> Result<()> {
    let name = SkillName::parse(starter.name)?;
    let document = SkillDocument::parse(starter.skill_md, &app.limits)?;
    let key = SkillKey::Name(starter.name.to_owned());
    apply(tx, &key, origin, async |_: &mut TenantTx, current: Option<&Locked>| {
        Ok(Some(Proposal {
            name: name.clone(),
            document: document.clone(),
            resources: current.map(|c| c.skill.resources.clone()).unwrap_or_default(),
            new_files: Vec::new(),
            request_digest: None,
            derived: false,
            brought: None,
        }))
    })
    .await?;
    Ok(())
}
