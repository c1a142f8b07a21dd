//! Logical replication of one tenant's rows (PostgreSQL documentation, chapters 29.1 to 29.4): from a publication at
//! the old place to a subscription at the new one.

use std::time::{Duration, Instant};

use knowhow_domain::{Result, TenantId};
use tokio::time::sleep;

use super::side::{MoveSide, cannot};

/// Interval between two checks of the progress.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Maximum size in bytes of unreplicated changes before the tenant's requests are rejected. Changes of this size
/// arrive within a moment.
const NEARLY: i64 = 256 * 1024;

/// Time limit for the last changes to arrive, while requests are rejected.
const LONGEST_DRAIN: Duration = Duration::from_secs(20);

/// Maximum number of replication failures. Until then, the other server retries every few seconds.
const MOST_FAILURES: i64 = 3;

/// Replication of one tenant.
pub(super) struct Stream {
    tenant: TenantId,
    /// Name of the publication, the slot and the subscription.
    name: String,
}

impl Stream {
    pub(super) fn of(tenant: TenantId) -> Self {
        Self { tenant, name: format!("knowhow_move_{}", tenant.0.simple()) }
    }

    /// Rejects the move if the tenant is already being moved to another place.
    pub(super) async fn require_own(&self, from: &mut MoveSide, to: &MoveSide) -> Result<()> {
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
            "the tenant is being moved to place '{other}': run that command again, or cancel it with --abort"
        )))
    }

    /// Starts copying rows and replicating changes.
    pub(super) async fn begin(&self, from: &mut MoveSide, to: &mut MoveSide, tables: &[String]) -> Result<()> {
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
        // The publication is created in a separate statement, so that a later attempt finds it if the next statement
        // does not run.
        if !self.has_slot(from).await? {
            // Creating the slot waits for all writing transactions of the server, however long they take.
            from.run(&format!(
                "set lock_timeout = 0; select pg_create_logical_replication_slot('{name}', 'pgoutput'); set lock_timeout = '10s'"
            ))
            .await?;
        }
        let url = from.url.replace('\'', "''");
        // The subscription runs as its owner, a superuser, because row-level security would reject the copies.
        // Commits are flushed. PostgreSQL drops a table's slot at the old place after this server has committed that
        // the table is copied. If a crash lost that commit, the slot would be missing and the copy would never
        // finish.
        to.run(&format!(
            "create subscription {name} connection '{url}' publication {name}
             with (create_slot = false, slot_name = '{name}', run_as_owner = true, copy_data = true, synchronous_commit = 'local')"
        ))
        .await
    }

    pub(super) async fn is_subscribed(&self, to: &mut MoveSide) -> Result<bool> {
        to.value(&format!(
            "-- stream.is_subscribed
             select exists (select from pg_subscription where subname = '{}'
                            and subdbid = (select oid from pg_database where datname = current_database()))",
            self.name
        ))
        .await
    }

    async fn has_slot(&self, from: &mut MoveSide) -> Result<bool> {
        from.value(&format!(
            "-- stream.has_slot\nselect exists (select from pg_replication_slots where slot_name = '{}')",
            self.name
        ))
        .await
    }

    /// Waits until all tables are copied and nearly all changes have arrived. Calls `report` with the number of
    /// copied tables.
    pub(super) async fn follow(&self, from: &mut MoveSide, to: &mut MoveSide, report: &dyn Fn(&str)) -> Result<()> {
        let name = &self.name;
        // Resets the failure counts of an earlier attempt.
        to.run(&format!(
            "-- stream.forget_failures
             select pg_stat_reset_subscription_stats(oid) from pg_subscription where subname = '{name}'"
        ))
        .await?;
        let mut before = -1;
        loop {
            let (copied, all) = self.count_copied(to).await?;
            if copied != before {
                report(&format!("copied {copied} of {all} tables"));
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
                    "the server of place '{}' failed {failures} times to store the rows; see its log (subscription {name}). Fix \
                     it and run the command again, or cancel it with --abort",
                    to.name
                )));
            }
            sleep(LOOK_EVERY * 5).await;
        }
    }

    /// Returns the number of copied tables and of all tables.
    async fn count_copied(&self, to: &mut MoveSide) -> Result<(i64, i64)> {
        let sql = format!(
            "-- stream.count_copied
             select count(*) filter (where r.srsubstate = 'r'), count(*)
             from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
             where s.subname = '{}'",
            self.name
        );
        to.row(&sql).await
    }

    async fn lag(&self, from: &mut MoveSide) -> Result<i64> {
        let lag = format!(
            "-- stream.lag
             select coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn), 9e18)::bigint from pg_replication_slots
             where slot_name = '{}'",
            self.name
        );
        from.value(&lag).await
    }

    /// Waits until all committed changes have arrived. The tenant has no writers now, so this adds a final write:
    /// when it has arrived, all earlier writes have arrived.
    pub(super) async fn drain(&self, from: &mut MoveSide, to: &mut MoveSide) -> Result<()> {
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
                return Err(cannot(
                    "the last changes did not arrive in time; the tenant stays at its old place".into(),
                ));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Ends the replication in any of its states.
    pub(super) async fn end(&self, from: &mut MoveSide, to: &mut MoveSide) -> Result<()> {
        let name = &self.name;
        if self.is_subscribed(to).await? {
            // Detaches the slot first. Dropping the subscription with its slot would need a connection to the old
            // place, which may be unreachable. Both run in one transaction, because a disabled subscription would be
            // mistaken for an active one.
            to.run(&format!(
                "begin; alter subscription {name} disable; alter subscription {name} set (slot_name = none);
                 drop subscription {name}; commit"
            ))
            .await?;
        }
        while self.has_slot(from).await? {
            // The process that reads the slot may still be disconnecting.
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
