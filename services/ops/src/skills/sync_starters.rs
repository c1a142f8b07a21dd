//! Starter skills: given to a user at first use, brought up to date where the user has not touched them, never
//! brought back where the user deleted them.

use knowhow_domain::{Result, SkillDocument, SkillName};
use knowhow_store::skills::{ChangeKind, Locked, SkillKey, Source};
use knowhow_store::{Principal, WriteTx, starters};

use super::apply::{Origin, Proposal, apply};
use crate::library::RELEASE;
use crate::starters::{STARTERS, Starter};
use crate::{App, Call};

/// Brings the user's starter skills to this release. Costs nothing where that is known to have happened.
///
/// # Errors
/// `Unavailable`.
pub async fn sync_starters(app: &App, principal: &Principal) -> Result<()> {
    if !principal.settings().starter_skills {
        return Ok(());
    }
    // Also for users who have this release already: another model needs vectors of its own.
    app.library.publish(app).await?;
    let release = RELEASE.as_slice();
    if principal.starters_release() == Some(release) {
        return Ok(());
    }
    let mut tx = WriteTx::begin(&app.db, principal, "starters.sync").await?;
    if !starters::lend(&mut tx, release, app.now()).await? && starters::lock(&mut tx).await?.as_deref() != Some(release)
    {
        update(app, principal, &mut tx).await?;
    }
    tx.commit().await?;
    app.gate.state().note_starters(principal, release).await;
    Ok(())
}

/// For who has skills: new starters come, references move to this release's texts, as do copies that say what was given.
async fn update(app: &App, principal: &Principal, tx: &mut WriteTx) -> Result<()> {
    starters::settle(tx).await?;
    let call = Call::default();
    let origin = Origin::new(principal, &call, ChangeKind::Sync, Source::Starter).in_bulk();
    for name in starters::list_outdated_copies(tx, RELEASE.as_slice()).await? {
        for starter in STARTERS.iter().filter(|starter| starter.name == name) {
            renew_copy(app, tx, &origin, starter).await?;
        }
    }
    starters::bring(tx, RELEASE.as_slice(), app.now()).await
}

/// Puts the new text into a copy, which keeps its other files.
async fn renew_copy(app: &App, tx: &mut WriteTx, origin: &Origin<'_>, starter: &Starter) -> Result<()> {
    let name = SkillName::parse(starter.name)?;
    let document = SkillDocument::parse(starter.skill_md, &app.limits)?;
    let key = SkillKey::Name(starter.name.to_owned());
    apply(app, tx, &key, origin, async |_: &mut WriteTx, current: Option<&Locked>| {
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
