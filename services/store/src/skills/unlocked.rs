//! A change that was composed before anything was asked: the statements that lock the user's catalogue row and refuse the
//! change where the skill is not as it was composed for.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::write::Planned;
use crate::WriteTx;
use crate::vault::statement;
use crate::vault::write_tx::Counts;

// A statement of its own behind the lock, so that it sees what was committed before. A version keeps its text; what may
// change without a new one (pin, made summary, enrichment) is compared too. A patch that made the current version is not made again.
statement! {
    read ExpectBase {
        skill: Uuid,
        version: i32,
        updated_at: DateTime<Utc>,
        pinned: bool,
        made_summary: Option<String>,
        request_digest: Option<Vec<u8>>,
        most_bytes: i64,
        most_stored_bytes: i64,
        uses: Option<i64>,
        last_used_at: Option<DateTime<Utc>>,
        made_by: Option<&'static str>,
    } -> (),
    "-- skills.expect_base
    with base as materialized (
        select s.skill_id
        from skills s
        join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.version = $4 and s.updated_at = $5
          and s.pinned = $6 and s.made_summary is not distinct from $7
          and c.starters_at is null and c.byte_count <= $9 and c.stored_bytes <= $10
          and not exists (
              select from (select v.request_digest from skill_versions v
                           where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.change <> 'enrich'
                           order by v.version desc
                           limit 1) authored
              where authored.request_digest = $8)
          and case when s.enriched then s.made_by end is not distinct from $13
          and ($11::bigint is null or exists (
              select from skill_usage u
              where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3 and u.times_used = $11
                and u.last_used_at is not distinct from $12::timestamptz))
    )
    select app.require_written(base.skill_id) from (select 1) one left join base on true"
}

/// What must still be true of the user's data when a change arrives that was composed without reading them.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// Most bytes of the user's skills that the quota allows.
    pub most_bytes: u64,
    /// Most bytes of all that is kept of the user's skills.
    pub most_stored_bytes: u64,
    /// The skill's uses and the last of them, where the answer that is kept tells them.
    pub used: Option<(i64, Option<DateTime<Utc>>)>,
}

impl WriteTx {
    /// Locks the user's catalogue row with what is sent next, without reading it: the change is checked by
    /// [`Planned::expect_base`].
    pub fn lock_unread(&mut self) {
        self.lock_user();
        self.set_counts(Counts { skills: 0, bytes: 0, stored_bytes: 0 });
    }
}

impl Planned<'_> {
    /// Has the change refused, ahead of it, where the skill is not at its base or the user has too much already.
    pub fn expect_base(&self, tx: &mut WriteTx, expected: &Expected) {
        let Some(base) = self.change.base else { return };
        let room = |most: u64, added: i64| i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(added);
        let (uses, last_used_at) = expected.used.unzip();
        tx.send_ahead(ExpectBase {
            skill: base.id.0,
            version: base.version,
            updated_at: base.updated_at,
            pinned: base.pinned,
            made_summary: base.made_summary.clone(),
            request_digest: self.change.request_digest.map(Vec::from),
            // A user who is over the quota can still make skills smaller.
            most_bytes: if self.added_bytes > 0 { room(expected.most_bytes, self.added_bytes) } else { i64::MAX },
            most_stored_bytes: room(expected.most_stored_bytes, self.most_stored_bytes),
            uses,
            last_used_at: last_used_at.flatten(),
            made_by: base.discovery.as_ref().map(|made| made.made_by.as_str()),
        });
    }
}
