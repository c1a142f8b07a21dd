//! The tenant's rows on their way: PostgreSQL's logical replication of the rows of one tenant, from a publication at the one place to
//! a subscription at the other (its documentation, chapters 29.1 to 29.4).

use std::time::{Duration, Instant};

use knowhow_domain::{Result, TenantId};
use tokio::time::sleep;

use super::side::{Side, cannot};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Bytes of changes that may be on their way when the tenant's writes begin to be refused: a moment's.
const NEARLY: i64 = 256 * 1024;

/// The longest wait for the last of them, while requests are refused.
const LONGEST_DRAIN: Duration = Duration::from_secs(20);

/// Failures of the other server to copy or apply, after which it is given up: it tries again by itself every few seconds.
const MOST_FAILURES: i64 = 3;

/// The replication of one tenant.
pub(super) struct Stream {
    tenant: TenantId,
    /// The name of the publication, the slot and the subscription.
    name: String,
}

impl Stream {
    pub(super) fn of(tenant: TenantId) -> Self {
        Self { tenant, name: format!("knowhow_move_{}", tenant.0.simple()) }
    }

    /// Refuses where the tenant is on its way to another place already.
    pub(super) async fn require_own(&self, from: &mut Side, to: &Side) -> Result<()> {
        let sql = format!(
            "-- stream.goes_to
             select coalesce((select obj_description(oid, 'pg_publication') from pg_publication where pubname = '{}'), '')",
            self.name
        );
        let other = from.value::<String>(&sql).await?;
        if other.is_empty() || other == to.name {
            return Ok(());
        }
        Err(cannot(format!(
            "a move of the tenant to place '{other}' was begun: give that command again, or end it with --abort"
        )))
    }

    /// Begins to copy, and then to follow.
    pub(super) async fn begin(&self, from: &mut Side, to: &mut Side, tables: &[String]) -> Result<()> {
        let name = &self.name;
        if !from
            .value::<bool>(&format!(
                "-- stream.has_publication\nselect exists (select from pg_publication where pubname = '{name}')"
            ))
            .await?
        {
            let rows = tables.iter().map(|table| format!("table {table} where (tenant_id = '{}')", self.tenant.0));
            let rows = rows.collect::<Vec<_>>().join(", ");
            from.run(&format!(
                "begin; create publication {name} for {rows} with (publish_via_partition_root = true);
                 comment on publication {name} is '{}'; commit",
                to.name
            ))
            .await?;
        }
        // Made first and by itself, so that it is found again where the next statement is not reached.
        if !self.has_slot(from).await? {
            // It waits for every transaction of the server that has written, be it long.
            from.run(&format!(
                "set lock_timeout = 0; select pg_create_logical_replication_slot('{name}', 'pgoutput'); set lock_timeout = '10s'"
            ))
            .await?;
        }
        let url = from.url.replace('\'', "''");
        // As its owner, a superuser: row-level security would refuse the copies. With commits that are flushed: PostgreSQL drops a
        // table's slot at the old place once it has committed here that the table is copied. Where a crash takes that commit
        // back, nothing finds the slot, and the table would be waited for without end.
        to.run(&format!(
            "create subscription {name} connection '{url}' publication {name}
             with (create_slot = false, slot_name = '{name}', run_as_owner = true, copy_data = true, synchronous_commit = 'local')"
        ))
        .await
    }

    pub(super) async fn is_subscribed(&self, to: &mut Side) -> Result<bool> {
        to.value(&format!(
            "-- stream.is_subscribed
             select exists (select from pg_subscription where subname = '{}'
                            and subdbid = (select oid from pg_database where datname = current_database()))",
            self.name
        ))
        .await
    }

    async fn has_slot(&self, from: &mut Side) -> Result<bool> {
        from.value(&format!(
            "-- stream.has_slot\nselect exists (select from pg_replication_slots where slot_name = '{}')",
            self.name
        ))
        .await
    }

    /// Waits until all tables are copied and what has changed since has nearly arrived. `told` hears how many are copied.
    pub(super) async fn follow(&self, from: &mut Side, to: &mut Side, told: &dyn Fn(&str)) -> Result<()> {
        let name = &self.name;
        // Failures of an earlier try were mended meanwhile.
        to.run(&format!(
            "-- stream.forget_failures
             select pg_stat_reset_subscription_stats(oid) from pg_subscription where subname = '{name}'"
        ))
        .await?;
        let mut before = -1;
        loop {
            let (copied, all) = self.count_copied(to).await?;
            if copied != before {
                told(&format!("copied {copied} of {all} tables"));
                before = copied;
            }
            if copied == all && self.lag(from).await? < NEARLY {
                return Ok(());
            }
            let failures = to
                .value::<i64>(&format!(
                    "-- stream.count_failures
                     select coalesce(sum(apply_error_count + sync_error_count), 0)::bigint from pg_stat_subscription_stats
                     where subname = '{name}'"
                ))
                .await?;
            if failures >= MOST_FAILURES {
                return Err(cannot(format!(
                    "the server of place '{}' could not take the rows {failures} times; its log says why (subscription {name}). Mend \
                     it and give the command again, or end it with --abort",
                    to.name
                )));
            }
            sleep(LOOK_EVERY * 5).await;
        }
    }

    /// How many tables are copied, of how many.
    async fn count_copied(&self, to: &mut Side) -> Result<(i64, i64)> {
        let sql = format!(
            "-- stream.count_copied
             select count(*) filter (where r.srsubstate = 'r'), count(*)
             from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
             where s.subname = '{}'",
            self.name
        );
        to.row(&sql).await
    }

    async fn lag(&self, from: &mut Side) -> Result<i64> {
        let lag = format!(
            "-- stream.lag
             select coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn), 9e18)::bigint from pg_replication_slots
             where slot_name = '{}'",
            self.name
        );
        from.value(&lag).await
    }

    /// Waits until everything has arrived that was committed before. Nobody writes the tenant's rows any more, so one is written here,
    /// behind all others: once it is there, so are they.
    pub(super) async fn drain(&self, from: &mut Side, to: &mut Side) -> Result<()> {
        if !self.is_subscribed(to).await? {
            return Ok(());
        }
        let upto: String = from.value("select pg_current_wal_insert_lsn()::text").await?;
        from.run(&format!(
            "-- stream.write_last\nupdate tenants set name = name where tenant_id = '{}'",
            self.tenant.0
        ))
        .await?;
        let arrived = format!(
            "-- stream.has_arrived
             select coalesce(pg_replication_origin_progress('pg_' || s.oid, true) >= '{upto}', false) from pg_subscription s
             where s.subname = '{}'",
            self.name
        );
        let since = Instant::now();
        while !to.value::<bool>(&arrived).await? {
            if since.elapsed() > LONGEST_DRAIN {
                return Err(cannot("the last changes did not arrive in time; the tenant goes on where it was".into()));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Ends it, however far it had come.
    pub(super) async fn end(&self, from: &mut Side, to: &mut Side) -> Result<()> {
        let name = &self.name;
        if self.is_subscribed(to).await? {
            // Without its slot, which it would drop through a connection that may not be there. All or none: one that is disabled alone
            // would be taken for one that follows.
            to.run(&format!(
                "begin; alter subscription {name} disable; alter subscription {name} set (slot_name = none);
                 drop subscription {name}; commit"
            ))
            .await?;
        }
        while self.has_slot(from).await? {
            // Whoever read from it is leaving.
            from.run(&format!(
                "-- stream.end_reader
                 select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '{name}' and active"
            ))
            .await?;
            sleep(LOOK_EVERY).await;
            from.run(&format!(
                "-- stream.drop_slot
                 select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '{name}' and not active"
            ))
            .await?;
        }
        from.run(&format!("drop publication if exists {name}")).await
    }
}
