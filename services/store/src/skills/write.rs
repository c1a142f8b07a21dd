//! Applies a change: checks first what it comes to, then sends the statements that carry it out, all or nothing.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, ResourceEntry, Result, SkillId, manifest, new_id};
use serde_json::json;

use super::SkillState;
use super::change::{Change, Written};
use super::columns::size;
use super::unlocked::Expected;
use super::{insert, update};
use crate::WriteTx;
use crate::vault::queued::Answer;
use crate::vault::row;
use crate::vault::write_tx::Counts;

row! {
    struct WrittenRow {
        tainted: bool, times_used: i64, last_used_at: Option<DateTime<Utc>>, revision: i64, stamp: i64,
    }
}

/// A change that nothing was sent of yet, with what it comes to.
pub struct Planned<'a> {
    /// The skill.
    pub id: SkillId,
    /// Its version.
    pub version: i32,
    /// Skills the user will have.
    pub skill_count: i32,
    /// Bytes of the user's skills.
    pub byte_count: i64,
    /// Bytes of all that is kept of the user's skills, with history and archive: at most so many.
    pub most_stored_bytes: i64,
    pub(super) change: Change<'a>,
    pub(super) actor: String,
    /// Files that may not be stored yet: digest and bytes.
    pub(super) files: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) resource_bytes: i64,
    /// Bytes by which the skill grows.
    pub added_bytes: i64,
    /// What the statement itself is to check, where nothing was read under the lock.
    pub(super) expected: Option<Expected>,
}

/// Works out what a change comes to. The numbers are those of the transaction, which has locked the user's catalogue row.
///
/// # Errors
/// `Internal` for sizes that no limit lets through, and where the skill was not locked.
pub fn plan<'a>(tx: &WriteTx, change: Change<'a>) -> Result<Planned<'a>> {
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
    Ok(Planned {
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

impl Planned<'_> {
    /// Has the change applied together with COMMIT. Its outcome is known before, as the user's catalogue row is locked, except
    /// for the taint, which [`Written::outcome`] returns after the commit. If the skill is not at its base any more, the
    /// transaction fails and nothing is kept.
    ///
    /// # Errors
    /// `Internal` for sizes that no limit lets through.
    pub fn write(self, tx: &mut WriteTx) -> Result<Written> {
        let counts = Counts { skills: self.skill_count, bytes: self.byte_count, stored_bytes: self.most_stored_bytes };
        let answer: Answer<WrittenRow> = match self.change.base {
            Some(base) => update::send(tx, &self, base)?,
            None => insert::send(tx, &self)?,
        };
        tx.set_counts(counts);
        let Self { id, version, skill_count, byte_count, most_stored_bytes, .. } = self;
        Ok(Written { id, version, skill_count, byte_count, most_stored_bytes, answer })
    }
}

/// The most by which a change may add to what is kept of the user: files may be there already.
fn most_added(files: &[(Vec<u8>, Vec<u8>)], change: &Change<'_>, actor: &str) -> i64 {
    // As Postgres prints the list, it has a blank behind each sign between members.
    let list: usize = json!(change.resources).to_string().len() + 16 * (change.resources.len() + 1);
    let session = change.session.map_or(0, str::len);
    let bytes = files.iter().map(|(_, file)| file.len()).sum::<usize>() + 300 + list + actor.len() + session;
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Digests (hex) of the files of the first that the second does not have, each once.
pub(super) fn list_new(of: &[ResourceEntry], besides: &[ResourceEntry]) -> Vec<String> {
    let known: HashSet<&str> = besides.iter().map(|entry| entry.digest.as_str()).collect();
    let new: BTreeSet<&String> =
        of.iter().map(|r| &r.digest).filter(|digest| !known.contains(digest.as_str())).collect();
    new.into_iter().cloned().collect()
}
