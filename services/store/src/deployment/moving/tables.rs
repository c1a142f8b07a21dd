//! Lists the tables with tenant rows from the Postgres catalogue, so that tables added by later releases are included.

use futures_util::future::try_join;
use knowhow_domain::{Result, TenantId};

use super::side::{MoveSide, cannot};

/// Maximum number of rows that one statement deletes, so that other users of the table do not wait for long.
const BATCH: u32 = 20_000;

/// Lists the tables, with their names quoted for use in statements.
pub(super) async fn list(side: &mut MoveSide) -> Result<Vec<String>> {
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

/// Number of a tenant's rows in a table, and a checksum that does not depend on their order.
type Digest = (i64, String);

async fn digest(side: &mut MoveSide, table: &str, tenant: TenantId) -> Result<Digest> {
    let sql = format!(
        "-- tables.digest
        select count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text from {table} t where t.tenant_id = '{}'",
        tenant.0
    );
    side.row(&sql).await
}

/// Compares all of the tenant's rows and returns their number.
///
/// # Errors
/// `Conflict` with the first table that differs.
pub(super) async fn compare(
    from: &mut MoveSide,
    to: &mut MoveSide,
    tables: &[String],
    tenant: TenantId,
) -> Result<i64> {
    let mut rows = 0;
    for table in tables {
        let ((left, sum), (arrived, arrived_sum)) =
            try_join(digest(from, table, tenant), digest(to, table, tenant)).await?;
        if left != arrived {
            return Err(cannot(format!("{table}: {arrived} rows have arrived instead of {left}")));
        }
        if sum != arrived_sum {
            return Err(cannot(format!("{table}: {arrived} rows have arrived, with different contents")));
        }
        rows += left;
    }
    Ok(rows)
}

/// Returns whether any table has a row of the tenant.
pub(super) async fn has_any(side: &mut MoveSide, tables: &[String], tenant: TenantId) -> Result<bool> {
    let any = tables.iter().map(|table| format!("exists (select from {table} where tenant_id = '{}')", tenant.0));
    side.value(&format!("-- tables.has_any\nselect {}", any.collect::<Vec<_>>().join(" or "))).await
}

/// Deletes the tenant's rows in batches. The tenant's own row is deleted last, because the other rows are found
/// through it. Its jobs are deleted with it, because scheduled work enqueues jobs for its users until then.
pub(super) async fn clear(side: &mut MoveSide, tenant: TenantId) -> Result<()> {
    let leaves = side.names(
        "-- tables.leaves
        select format('public.%I', c.relname) from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
          and c.relname <> 'tenants'
        order by 1",
    )
    .await?;
    // Disables foreign keys and triggers. They are not needed, because all rows are deleted.
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
