//! Size limits of a skill and of all skills of a user.

use knowhow_domain::skills::resource::find_clash;
use knowhow_domain::{Error, FieldError, ResourceEntry, Result, TenantSettings};
use knowhow_store::skills::history;
use knowhow_store::skills::{PlannedChange, QueuedChange, SkillState};
use knowhow_store::{Principal, WriteTx};

use crate::Ctx;

/// Deletes the oldest versions if the skill has too many, or if the user's skills and their history are too large.
pub(crate) async fn keep_history_within(ctx: &Ctx, tx: &mut WriteTx, written: &QueuedChange) -> Result<()> {
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

/// Checks the quotas of a change that creates or grows a skill. A user over a quota can still shrink and delete
/// skills.
pub(crate) fn check_quotas(
    principal: &Principal,
    before: Option<&SkillState>,
    planned: &PlannedChange<'_>,
) -> Result<()> {
    let settings = principal.settings();
    if before.is_none() && i64::from(planned.skill_count) > i64::from(settings.skills_per_user) {
        return Err(Error::Quota(format!(
            "the user has {} skills, the tenant's limit; delete one or merge two, or ask for a larger quota",
            settings.skills_per_user
        )));
    }
    if planned.added_bytes > 0 && planned.byte_count.unsigned_abs() > settings.bytes_per_user {
        return Err(Error::TooLarge { what: "the user's skills together".into(), limit: settings.bytes_per_user });
    }
    Ok(())
}

/// Checks the number, sizes and paths of one skill's files.
pub(crate) fn check_resources(settings: &TenantSettings, resources: &[ResourceEntry]) -> Result<()> {
    let TenantSettings { files_per_skill, bytes_per_file, bytes_per_skill, .. } = *settings;
    if resources.len() > files_per_skill as usize {
        let detail = format!("a skill has at most {files_per_skill} resources, this one has {}", resources.len());
        return Err(Error::Invalid(vec![FieldError::new("/resources", detail)]));
    }
    if let Some(clash) = find_clash(resources.iter().map(|resource| resource.path.as_str())) {
        return Err(Error::invalid("/path", clash.to_string()));
    }
    if let Some(large) = resources.iter().find(|resource| resource.size > bytes_per_file) {
        return Err(Error::TooLarge { what: format!("the resource '{}'", large.path), limit: bytes_per_file });
    }
    if resources.iter().map(|resource| resource.size).sum::<u64>() > bytes_per_skill {
        return Err(Error::TooLarge { what: "the skill's resources together".into(), limit: bytes_per_skill });
    }
    Ok(())
}
