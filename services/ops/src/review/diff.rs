//! Computes the diff of a submission for reviewers.

use knowhow_domain::{Result, SubmissionId, SubmissionKind, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, Undecided};
use knowhow_store::skills::{library, starter_offers, versions};

use super::offer::{has_conflict, show_conflict};
use crate::skills::compare::{ProposedState, StateToCompare, compare_proposal};
use crate::{Ctx, compute};

/// Returns a submission with its text, and the diff from the state that it was based on. An approved submission has
/// neither: its text was moved to the skill.
pub(super) async fn read(ctx: &Ctx, id: SubmissionId) -> Result<(Undecided, Option<String>)> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.read").await?;
    let proposed = submissions::read_undecided(&mut tx, id).await?;
    if proposed.submission.state == SubmissionState::Approved {
        tx.commit().await?;
        return Ok((proposed, None));
    }
    let old = read_base(&mut tx, &proposed).await?;
    let document = proposed.document.clone().unwrap_or_default();
    let document = match has_conflict(&proposed.submission) {
        true => match starter_offers::find_given(&mut tx, &proposed.submission.skill).await? {
            Some(given) => {
                let own = old.document.clone();
                compute(move || Ok(show_conflict(&given, &own, &document))).await?
            }
            None => document,
        },
        false => document,
    };
    let state = StateToCompare { label: "proposed".into(), document, resources: proposed.resources.clone() };
    let new = ProposedState { state, files: &proposed.files };
    let compared = compare_proposal(&mut tx, old, new).await?;
    tx.commit().await?;
    let diff = compute(move || Ok(compared.compare().text)).await?;
    Ok((proposed, Some(diff)))
}

/// Reads the state that a submission was based on. For a share, this is the state of the tenant's library.
async fn read_base(tx: &mut WriteTx, proposed: &Undecided) -> Result<StateToCompare> {
    let (name, version) = (&proposed.submission.skill, proposed.submission.base_version);
    if proposed.submission.kind == SubmissionKind::Share {
        let base = library::find_version(tx, name, version).await?;
        return Ok(base.map_or_else(nothing, |base| StateToCompare {
            label: format!("version {version} of the library"),
            document: base.document,
            resources: Vec::new(),
        }));
    }
    let base = match proposed.skill {
        Some(skill) => versions::find(tx, skill, version).await?,
        None => None,
    };
    Ok(base.map_or_else(nothing, |base| StateToCompare {
        label: format!("version {version}"),
        document: base.document,
        resources: base.resources,
    }))
}

fn nothing() -> StateToCompare {
    StateToCompare { label: "nothing".into(), document: String::new(), resources: Vec::new() }
}
