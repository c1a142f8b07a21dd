//! What a skill and all skills of a user may grow to.

use std::collections::HashSet;

use knowhow_domain::{Error, FieldError, Limits, ResourceEntry, Result};
use knowhow_store::skills::{Planned, SkillState, Written};
use knowhow_store::{Principal, WriteTx, history};

use crate::Ctx;

/// The oldest versions leave where the skill has too many, or all that is kept of the user's skills is too large.
pub(super) async fn keep_history_within(ctx: &Ctx, tx: &mut WriteTx, written: &Written) -> Result<()> {
    let settings = ctx.principal.settings();
    let keep = i32::try_from(settings.versions_per_skill).unwrap_or(i32::MAX);
    if written.version > keep {
        history::trim(tx, written.id, written.version, keep);
    }
    let most = settings.most_stored_bytes();
    if written.most_stored_bytes.unsigned_abs() > most && !history::make_room(tx, most, ctx.now()).await? {
        return Err(Error::TooLarge { what: "the user's skills with their history".into(), limit: most });
    }
    Ok(())
}

/// Checks the quotas of a change that makes or grows a skill. A user over a quota can still shrink and delete skills.
pub(super) fn check_quotas(principal: &Principal, before: Option<&SkillState>, planned: &Planned<'_>) -> Result<()> {
    let settings = principal.settings();
    if before.is_none() && i64::from(planned.skill_count) > i64::from(settings.skills_per_user) {
        return Err(Error::Quota(format!(
            "the user keeps {} skills, the tenant's limit; delete one or merge two, or ask for a larger quota",
            settings.skills_per_user
        )));
    }
    if planned.added_bytes > 0 && planned.byte_count.unsigned_abs() > settings.bytes_per_user {
        return Err(Error::TooLarge { what: "the user's skills together".into(), limit: settings.bytes_per_user });
    }
    Ok(())
}

/// Limits of one skill's other files.
pub(super) fn check_resources(limits: &Limits, resources: &[ResourceEntry]) -> Result<()> {
    if resources.len() > limits.resources {
        let detail = format!("a skill has at most {} resources, this one has {}", limits.resources, resources.len());
        return Err(Error::Invalid(vec![FieldError::new("/resources", detail)]));
    }
    if let Some(path) = find_file_that_is_a_folder(resources) {
        let detail = format!("'{path}' would be a file and a folder; name one of them otherwise");
        return Err(Error::invalid("/path", detail));
    }
    if let Some(large) = resources.iter().find(|r| r.size > limits.resource_bytes as u64) {
        let what = format!("the resource '{}'", large.path);
        return Err(Error::TooLarge { what, limit: limits.resource_bytes as u64 });
    }
    if resources.iter().map(|r| r.size).sum::<u64>() > limits.resources_total_bytes as u64 {
        let what = "the skill's resources together".into();
        return Err(Error::TooLarge { what, limit: limits.resources_total_bytes as u64 });
    }
    Ok(())
}

/// Such a skill could not be unpacked again.
fn find_file_that_is_a_folder(resources: &[ResourceEntry]) -> Option<&str> {
    let paths: HashSet<&str> = resources.iter().map(|r| r.path.as_str()).collect();
    let folders = resources.iter().flat_map(|r| r.path.match_indices('/').map(|(at, _)| &r.path[..at]));
    folders.into_iter().find(|folder| paths.contains(folder))
}
