//! Starter skills: given to a user at first use, brought up to date where the user has not touched them, never
//! brought back where the user deleted them.

use std::sync::LazyLock;

use knowhow_domain::{Result, SkillDocument, SkillName, manifest};
use knowhow_store::skills::{ChangeKind, Locked, SkillKey, Source};
use knowhow_store::starters::{self as installs, Install};
use knowhow_store::{Principal, TenantTx, skills};
use sha2::{Digest, Sha256};

use super::apply::{Origin, Proposal, apply};
use crate::starters::{STARTERS, Starter};
use crate::{App, Call};

/// Identifies this binary's set of starters.
static RELEASE: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for starter in STARTERS {
        hash.update(starter.name);
        hash.update([0]);
        hash.update(starter.skill_md);
        hash.update([0]);
    }
    hash.finalize().into()
});

/// Brings the user's starter skills to this release. Costs nothing where that is known to have happened.
///
/// # Errors
/// `Unavailable`.
pub async fn sync_starters(app: &App, principal: &Principal) -> Result<()> {
    if !principal.settings().starter_skills || principal.starters_release() == Some(RELEASE.as_slice()) {
        return Ok(());
    }
    let mut tx = TenantTx::begin(&app.db, principal).await?;
    let (release, known) = installs::lock(&mut tx).await?;
    if release.as_deref() != Some(RELEASE.as_slice()) {
        let call = Call::default();
        let origin = Origin::new(principal, &call, ChangeKind::Sync, Source::Starter).in_bulk();
        let mut installed = Vec::new();
        for starter in STARTERS {
            let before = known.iter().find(|i| i.name == starter.name);
            installed.extend(sync(app, &mut tx, &origin, starter, before).await?);
        }
        installs::record(&mut tx, RELEASE.as_slice(), &installed, app.now()).await?;
    }
    tx.commit().await?;
    app.gate.state().note_starters(principal, RELEASE.as_slice()).await;
    Ok(())
}

/// Installs or updates one starter, and says what to remember of it.
async fn sync(
    app: &App,
    tx: &mut TenantTx,
    origin: &Origin<'_>,
    starter: &Starter,
    before: Option<&Install>,
) -> Result<Option<Install>> {
    let name = SkillName::parse(starter.name)?;
    let document = SkillDocument::parse(starter.skill_md, &app.limits)?;
    let install = Install { name: starter.name.to_owned(), document_digest: document.digest().to_vec() };
    let key = SkillKey::Name(starter.name.to_owned());
    let current = skills::lock(tx, &key).await?.map(|locked| manifest::digest(locked.skill.document.as_bytes()));
    let ours = match (&current, before) {
        // Given for the first time, unless the user has a skill of that name: remembered, so it stays theirs.
        (None, None) => true,
        (Some(_), None) => return Ok(Some(install)),
        // Deleted by the user.
        (None, Some(_)) => false,
        (Some(current), Some(before)) => current.as_slice() == before.document_digest,
    };
    if !ours {
        return Ok(None);
    }
    apply(app, tx, &key, origin, async |_: &mut TenantTx, current: Option<&Locked>| {
        Ok(Some(Proposal {
            name: name.clone(),
            document: document.clone(),
            resources: current.map(|c| c.skill.resources.clone()).unwrap_or_default(),
            new_files: Vec::new(),
            request_digest: None,
        }))
    })
    .await?;
    Ok(Some(install))
}
