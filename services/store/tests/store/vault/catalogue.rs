//! Assertions about the schema in `pg_catalog`: every table has the same policies, every key begins with tenant and
//! user, and all exceptions are listed.

use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::harness::Place;
use crate::vault::matrix::{OPEN_TO_SYSTEM, SHARED};

/// Policies for the owner role, as which some functions run, in addition to the common form of policies.
const OF_OWNER: &[(&str, &str)] = &[
    ("audit_log", "sealing SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
    ("erasures", "ledger SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
    ("usage_days", "rolls_up ALL {knowhow_owner} using app.rolls_up() check app.rolls_up()"),
    ("usage_events", "rolls_up ALL {knowhow_owner} using app.rolls_up() check app.rolls_up()"),
    ("users", "names SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
];

/// Tables without rows of a tenant, each with the reason.
const WITHOUT_TENANT: &[(&str, &str)] = &[
    ("_sqlx_migrations", "the schema is one for all"),
    ("builtin_releases", "which starters the binary brought"),
    ("builtin_texts", "the built-in skills, which everybody has in the binary; no tenant's role can write them"),
    ("builtin_vectors", "vectors of the built-in skills; no tenant's role can write them"),
    ("processes", "which processes run, for all tenants together; no tenant's role can read them"),
    ("reconciliations", "what was repaired of the graph of all tenants together; no tenant's role can read them"),
    (
        "tenants_elsewhere",
        "which tenants live at another place; it does not go along with one, and no tenant's role can read it",
    ),
];

/// Views. Each runs as its caller, so that the policies of its tables apply.
pub(super) const VIEWS: &[&str] = &[
    "session_judgements",
    "skill_states",
    "starter_releases",
    "starter_texts",
    "starter_vectors",
    "trusted_relations",
];

/// Unique indexes that do not begin with the owner's keys, each with the reason why it discloses nothing.
const OTHER_UNIQUES: &[(&str, &str)] = &[
    ("tenants_slug_key", "operators name tenants; no tenant's role can write here"),
    ("users_tenant_id_external_id_key", "users are made by the system role alone, within their tenant"),
];

/// Returns the first column of all rows of a query, as texts.
pub(super) async fn texts(conn: &mut PgConnection, sql: &str) -> Vec<String> {
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(conn).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.iter().map(|row| row.get(0)).collect()
}

/// Asserts that a query for violations finds none.
pub(super) async fn assert_none(sql: &str) {
    let found = texts(&mut Place::shared().await.owner().await, sql).await;
    assert_eq!(found, Vec::<String>::new());
}

/// Common table expressions: the tables with a `tenant_id`, whether they have a `user_id`, and their indexes.
const TENANT_TABLES: &str = "
    with tenant_tables as (
        select c.oid, c.relname::text as name, c.relrowsecurity, c.relforcerowsecurity,
               exists (select from pg_attribute a
                       where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped) as of_users
        from pg_class c
        join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id' and not t.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    ), keys as (
        select i.indexrelid, i.indrelid, i.indisprimary, i.indisunique,
               array(select a.attname::text from unnest(i.indkey::smallint[]) with ordinality k (attnum, at)
                     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                     order by k.at) as columns
        from pg_index i
    )";

#[tokio::test]
async fn every_table_has_a_tenant_and_forced_row_level_security() {
    let sql = "select c.relname::text from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'f')
          and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')
        order by 1";
    let expected: Vec<&str> = WITHOUT_TENANT.iter().map(|(table, _)| *table).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, expected);
    assert!(WITHOUT_TENANT.iter().all(|(_, reason)| !reason.is_empty()));
    assert_none(&format!(
        "{TENANT_TABLES} select name from tenant_tables where not (relrowsecurity and relforcerowsecurity)"
    ))
    .await;
}

#[tokio::test]
async fn every_table_has_the_common_form_of_policies() {
    let owner = "(tenant_id = app.tenant_id()) AND (user_id = app.user_id())";
    let tenant = "(tenant_id = app.tenant_id())";
    let of_users = format!(
        "owner ALL {{knowhow_admin,knowhow_tenant}} using (({owner})) check (({owner})); tenant_admin SELECT {{knowhow_admin}} using ({tenant})"
    );
    let of_tenant = format!("tenant_admin ALL {{knowhow_admin}} using ({tenant}) check ({tenant})");
    let of_tenant_shared = format!("shared SELECT {{knowhow_tenant}} using ({tenant}); {of_tenant}");
    assert!(SHARED.iter().all(|(_, reason)| !reason.is_empty()));
    let sql = format!(
        "{TENANT_TABLES}
        select t.name, t.of_users, coalesce(string_agg(
            p.policyname || ' ' || p.cmd || ' ' || (select array_agg(r order by r) from unnest(p.roles) r)::text
                || ' using (' || p.qual || ')' || coalesce(' check (' || p.with_check || ')', ''),
            '; ' order by p.policyname) filter (where p.permissive = 'PERMISSIVE'), '') as policies
        from tenant_tables t
        left join pg_policies p on p.schemaname = 'public' and p.tablename = t.name and p.policyname <> 'system'
            and p.roles <> array['knowhow_owner']::name[]
        group by t.name, t.of_users"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut Place::shared().await.owner().await).await.unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let name = row.get::<&str, _>(0);
        let is_shared = SHARED.iter().any(|(table, _)| *table == name);
        let expected = match row.get::<bool, _>(1) {
            true => &of_users,
            false if is_shared => &of_tenant_shared,
            false => &of_tenant,
        };
        // Postgres prints another pair of parentheses around each expression.
        let policies = row.get::<String, _>(2);
        assert_eq!(policies.replace("((", "(").replace("))", ")"), expected.replace("((", "(").replace("))", ")"));
    }
}

/// No login can take the owner's role. Only functions run as it.
#[tokio::test]
async fn the_owner_sees_only_the_rows_of_users_that_its_functions_need() {
    let sql = "select tablename || ': ' || policyname || ' ' || cmd || ' ' || roles::text || ' using ' || qual
                   || coalesce(' check ' || with_check, '')
        from pg_policies where schemaname = 'public' and 'knowhow_owner' = any (roles) and policyname <> 'erasure' order by 1";
    let expected: Vec<String> = OF_OWNER.iter().map(|(table, policy)| format!("{table}: {policy}")).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, expected);
    let of_one = "((tenant_id = app.tenant_id()) AND (user_id = app.erased_user()))";
    assert_none(&format!(
        "{TENANT_TABLES} select t.name from tenant_tables t
        where t.of_users and not exists (
            select from pg_policies p where p.schemaname = 'public' and p.tablename = t.name and p.policyname = 'erasure'
            and p.cmd = 'ALL' and p.roles = array['knowhow_owner']::name[] and p.qual = '{of_one}' and p.with_check = p.qual)"
    ))
    .await;
}

#[tokio::test]
async fn only_the_listed_tables_are_open_to_statements_across_tenants() {
    let sql = "select tablename::text from pg_policies
        where schemaname = 'public' and permissive = 'PERMISSIVE' and (policyname = 'system' or 'knowhow_system' = any (roles) or 'public' = any (roles))
        order by 1";
    let mut open: Vec<&str> = OPEN_TO_SYSTEM.iter().map(|(table, _)| *table).collect();
    open.sort_unstable();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, open);
    assert!(OPEN_TO_SYSTEM.iter().all(|(_, reason)| !reason.is_empty()));
}

#[tokio::test]
async fn every_key_starts_with_the_tenant_and_the_user() {
    let other: Vec<String> = OTHER_UNIQUES.iter().map(|(index, _)| format!("'{index}'")).collect();
    assert_none(&format!(
        "{TENANT_TABLES}
        select k.indexrelid::regclass::text || ' ' || k.columns::text
        from keys k join tenant_tables t on t.oid = k.indrelid
        where k.indisunique and k.indexrelid::regclass::text not in ({})
          and (k.columns[1] <> 'tenant_id' or (t.of_users and k.columns[2] is distinct from 'user_id'))",
        other.join(", ")
    ))
    .await;
    assert_none(&format!(
        "{TENANT_TABLES} select name from tenant_tables t
        where not exists (select from keys k where k.indrelid = t.oid and k.indisprimary)"
    ))
    .await;
}

#[tokio::test]
async fn every_foreign_key_carries_the_tenant_and_the_user() {
    assert_none(&format!(
        "{TENANT_TABLES}, foreign_keys as (
            select f.conname::text as name, f.conrelid, f.confrelid, f.confdeltype,
                   array(select a.attname::text from unnest(f.conkey) with ordinality k (attnum, at)
                         join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.attnum order by k.at) as mine,
                   array(select a.attname::text from unnest(f.confkey) with ordinality k (attnum, at)
                         join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.attnum order by k.at) as theirs
            from pg_constraint f where f.contype = 'f'
        )
        select f.name || ' ' || f.mine::text || ' ' || f.theirs::text
        from foreign_keys f
        join tenant_tables t on t.oid = f.confrelid
        where f.mine[1] <> 'tenant_id' or f.theirs[1] <> 'tenant_id'
           or (t.of_users and (f.mine[2] is distinct from 'user_id' or f.theirs[2] is distinct from 'user_id'))"
    ))
    .await;
}
