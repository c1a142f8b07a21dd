//! The tables that hold rows of tenants, found in the catalogue: one that a later release adds is moved like the others.

use futures_util::future::try_join;
use knowhow_domain::{Result, TenantId};

use super::side::{Side, cannot};

/// Rows that are removed at once: others of the table need not wait for long.
const BATCH: u32 = 20_000;

/// The tables, as statements write them.
pub(super) async fn list(side: &mut Side) -> Result<Vec<String>> {
    let unfit = "-- tables.unfit
        select c.relname::text from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and (c.relpersistence <> 'p' or not exists (
              select from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)))";
    if let Some(table) = side.names(unfit).await?.first() {
        return Err(cannot(format!(
            "the rows of '{table}' cannot be replicated by tenant: it has no primary key with tenant_id"
        )));
    }
    side.names(
        "-- tables.list
        select format('public.%I', c.relname) from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
        order by 1",
    )
    .await
}

/// How many rows of a table are the tenant's, and a sum over them that does not depend on their order.
type Digest = (i64, String);

async fn digest(side: &mut Side, table: &str, tenant: TenantId) -> Result<Digest> {
    let sql = format!(
        "-- tables.digest
        select count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text from {table} t where t.tenant_id = '{}'",
        tenant.0
    );
    side.row(&sql).await
}

/// Compares all of the tenant's rows; says how many there are.
///
/// # Errors
/// `Conflict` naming the first table that differs.
pub(super) async fn compare(from: &mut Side, to: &mut Side, tables: &[String], tenant: TenantId) -> Result<i64> {
    let mut rows = 0;
    for table in tables {
        let ((left, sum), (arrived, arrived_sum)) =
            try_join(digest(from, table, tenant), digest(to, table, tenant)).await?;
        if left != arrived {
            return Err(cannot(format!("of {table} {arrived} rows have arrived, not {left}")));
        }
        if sum != arrived_sum {
            return Err(cannot(format!("of {table} {arrived} rows have arrived, with other contents")));
        }
        rows += left;
    }
    Ok(rows)
}

/// Whether any row of the tenant is there.
pub(super) async fn has_any(side: &mut Side, tables: &[String], tenant: TenantId) -> Result<bool> {
    let any = tables.iter().map(|table| format!("exists (select from {table} where tenant_id = '{}')", tenant.0));
    side.value(&format!("-- tables.has_any\nselect {}", any.collect::<Vec<_>>().join(" or "))).await
}

/// Removes the tenant's rows, a batch at a time, and last its jobs with the row of the tenant itself: until then the rest can be found,
/// and the clock enqueues jobs of its users.
pub(super) async fn clear(side: &mut Side, tenant: TenantId) -> Result<()> {
    let leaves = side.names(
        "-- tables.leaves
        select format('public.%I', c.relname) from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
          and c.relname <> 'tenants'
        order by 1",
    )
    .await?;
    // Neither foreign keys nor triggers: all of it goes, and nothing follows from that.
    side.run("set session_replication_role = 'replica'").await?;
    for table in leaves {
        loop {
            let removed = format!(
                "-- tables.clear
                with gone as (
                    delete from {table} where ctid = any (array(
                        select ctid from {table} where tenant_id = '{}' limit {BATCH}))
                    returning 1
                )
                select count(*) from gone",
                tenant.0
            );
            if side.value::<i64>(&removed).await? < i64::from(BATCH) {
                break;
            }
        }
    }
    side.run(&format!(
        "begin;
         delete from graphile_worker._private_jobs where coalesce(payload ->> 'tenant_id', '') = '{id}';
         delete from public.tenants where tenant_id = '{id}';
         commit; reset session_replication_role",
        id = tenant.0
    ))
    .await
}
