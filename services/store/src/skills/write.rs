//! Applies a change: first computes the resulting totals, then sends its statements in one transaction.

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, SkillId, new_id};
use serde_json::json;

use super::SkillState;
use super::change::{NewSkillState, QueuedChange, WrittenRow};
use super::columns::size;
use super::planned_change::PlannedChange;
use super::{insert, update};
use crate::WriteTx;
use crate::vault::batch::PendingRows;
use crate::vault::write_tx::CatalogueCounts;

/// Computes the totals that result from a change. They are based on the totals of the transaction, which has locked
/// the user's catalogue row.
///
/// # Errors
/// `Internal` if a size exceeds the type of its column, or if the row was not locked.
pub fn plan<'a>(tx: &WriteTx, change: NewSkillState<'a>) -> Result<PlannedChange<'a>> {
    let counts = tx.counts()?;
    let document = change.document.raw().as_bytes();
    let resource_bytes: u64 = change.resources.iter().map(|r| r.size).sum();
    let resource_bytes = i64::try_from(resource_bytes).map_err(Error::internal)?;
    let mut files: Vec<(Vec<u8>, Vec<u8>)> =
        change.new_files.iter().map(|file| (manifest::digest(file).to_vec(), file.clone())).collect();
    files.push((change.document.digest().to_vec(), document.to_vec()));
    files.sort_unstable();
    files.dedup();
    let actor = change.author.map_or_else(|| tx.actor(), str::to_owned);
    let added_bytes = i64::from(size(document.len())?) + resource_bytes - change.base.map_or(0, SkillState::bytes);
    Ok(PlannedChange {
        id: change.base.map_or_else(|| SkillId(new_id()), |base| base.id),
        version: change.base.map_or(0, |base| base.version) + 1,
        skill_count: counts.skills + i32::from(change.base.is_none()),
        byte_count: counts.bytes + added_bytes,
        most_stored_bytes: counts.stored_bytes + most_added(&files, &change, &actor),
        change,
        actor,
        files,
        resource_bytes,
        added_bytes,
        expected: None,
    })
}

impl PlannedChange<'_> {
    /// Queues the change for COMMIT. The result is known before, because the user's catalogue row is locked. Only the
    /// taint is unknown: [`QueuedChange::outcome`] returns it after the commit. If the skill differs from its base,
    /// the transaction fails and is rolled back.
    ///
    /// # Errors
    /// `Internal` if a size exceeds the type of its column.
    pub fn write(self, tx: &mut WriteTx) -> Result<QueuedChange> {
        let counts =
            CatalogueCounts { skills: self.skill_count, bytes: self.byte_count, stored_bytes: self.most_stored_bytes };
        let answer: PendingRows<WrittenRow> = match self.change.base {
            Some(base) => update::send(tx, &self, base)?,
            None => insert::send(tx, &self)?,
        };
        tx.set_counts(counts);
        let Self { id, version, skill_count, byte_count, most_stored_bytes, .. } = self;
        Ok(QueuedChange { id, version, skill_count, byte_count, most_stored_bytes, answer })
    }
}

/// Returns an upper bound on the number of stored bytes that a change adds. The actual number may be lower, because
/// some files may already be stored.
fn most_added(files: &[(Vec<u8>, Vec<u8>)], change: &NewSkillState<'_>, actor: &str) -> i64 {
    // Postgres prints a blank after each separator of the list.
    let list: usize = json!(change.resources).to_string().len() + 16 * (change.resources.len() + 1);
    let session = change.session.map_or(0, str::len);
    let bytes = files.iter().map(|(_, file)| file.len()).sum::<usize>() + 300 + list + actor.len() + session;
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
