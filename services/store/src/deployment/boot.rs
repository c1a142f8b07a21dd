//! Checks before the service starts: the login role has no rights of its own, and every tenant table has forced
//! row-level security.

mod queue;

use knowhow_domain::{Error, Result};
use sqlx::{Connection, PgConnection};

use crate::Database;
use crate::deployment::migrate;
use crate::deployment::pooler;
use crate::vault::error::{refuse, refuse_pool};
use crate::vault::tx::SystemTx;

/// Advice if the login role has too many rights.
const CONNECT: &str = "connect as knowhow_login, or as another login role created by knowhow migrate";

/// Checks the login role and the tables. Returns all problems, each as a sentence; empty if the checks pass.
///
/// # Errors
/// `Unavailable` if the database is unreachable.
pub async fn inspect(db: &Database) -> Result<Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "looks at the login role itself, so it must not take another one")]
    let mut conn = db.writes.get().await.map_err(refuse_pool)?;
    let mut tx = conn.begin().await.map_err(refuse)?;
    let mut findings = inspect_login(&mut tx).await?;
    findings.extend(inspect_tables(&mut tx).await?);
    tx.rollback().await.map_err(refuse)?;
    if findings.is_empty() {
        findings.extend(inspect_migrations(db).await?);
        findings.extend(pooler::inspect(db).await?);
    }
    Ok(findings)
}

async fn inspect_login(conn: &mut PgConnection) -> Result<Vec<String>> {
    let login = sqlx::query!(
        r#"-- boot.inspect_login
        select r.rolname as "name!", r.rolsuper as "superuser!", r.rolbypassrls as "bypasses!", r.rolinherit as "inherits!",
               exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                       where c.relowner = r.oid and n.nspname in ('public', 'graphile_worker')) as "owns!",
               exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace,
                       lateral (select grantee from aclexplode(c.relacl)
                                union all
                                select x.grantee from pg_attribute t, lateral aclexplode(t.attacl) x
                                where t.attrelid = c.oid) a
                       where n.nspname in ('public', 'graphile_worker')
                         and (a.grantee = r.oid or a.grantee = 0 and c.relowner = to_regrole('knowhow_owner'))) as "granted!",
               coalesce(pg_has_role(r.oid, to_regrole('knowhow_owner'), 'member'), false) as "may_own!",
               coalesce((select bool_and(pg_has_role(r.oid, w.oid, 'set')) and count(*) = 4 from pg_roles w
                where w.rolname in ('knowhow_tenant', 'knowhow_admin', 'knowhow_system', 'knowhow_queue')), false)
               and coalesce(has_schema_privilege(r.oid, to_regnamespace('app'), 'usage'), false) as "member!"
        from pg_roles r
        where r.rolname = session_user"#
    )
    .fetch_one(conn)
    .await
    .map_err(refuse)?;
    let mut findings = Vec::new();
    let mut find = |wrong: bool, sentence: String| {
        if wrong {
            findings.push(sentence);
        }
    };
    let role = &login.name;
    find(login.superuser, format!("the role '{role}' is a superuser; {CONNECT}"));
    find(login.bypasses, format!("the role '{role}' bypasses row-level security; {CONNECT}"));
    find(login.inherits, format!("the role '{role}' inherits its grants: alter role {role} noinherit"));
    find(login.owns, format!("the role '{role}' owns tables; only knowhow_owner may"));
    find(login.granted, format!("the role '{role}' has grants on tables, directly or through public: revoke them"));
    find(login.may_own && !login.superuser, format!("the role '{role}' can become knowhow_owner: revoke it"));
    find(!login.member, format!("the role '{role}' cannot take the roles of the service: run knowhow migrate"));
    Ok(findings)
}

async fn inspect_tables(conn: &mut PgConnection) -> Result<Vec<String>> {
    let mut findings = list_unprotected_tables(conn).await?;
    findings.extend(inspect_policies(conn).await?);
    Ok(findings)
}

/// Returns a finding for each table with tenant rows that has no forced row-level security.
async fn list_unprotected_tables(conn: &mut PgConnection) -> Result<Vec<String>> {
    let open = sqlx::query_scalar!(
        r#"-- boot.inspect_tables
        select c.relname::text as "name!"
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind in ('r', 'p')
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
          and not (c.relrowsecurity and c.relforcerowsecurity)
        order by 1"#
    )
    .fetch_all(conn)
    .await
    .map_err(refuse)?;
    let open = open.iter().map(|table| format!("the table '{table}' is not under forced row-level security"));
    Ok(open.collect())
}

/// Returns a finding for each policy, role or view that exposes rows of other users.
async fn inspect_policies(conn: &mut PgConnection) -> Result<Vec<String>> {
    // `to_regclass` returns null for a missing name instead of an error. The planner may evaluate it before the
    // schema condition.
    sqlx::query_scalar!(
        r#"-- boot.inspect_policies
        select format('the policy ''%s'' on ''%s'' lets rows of others through', p.policyname, p.tablename) as "finding!"
        from pg_policies p
        where p.schemaname = 'public' and p.permissive = 'PERMISSIVE' and p.roles <> array['knowhow_system']::name[]
          and exists (select from pg_attribute a where a.attrelid = to_regclass(format('%I.%I', p.schemaname, p.tablename))
                      and a.attname = 'tenant_id' and not a.attisdropped)
          and (coalesce(p.qual, p.with_check) not like '%tenant_id = app.tenant_id()%'
               or coalesce(p.with_check, p.qual) not like '%tenant_id = app.tenant_id()%'
               or ('knowhow_tenant' = any (p.roles) or 'public' = any (p.roles))
                  and (p.qual not like '%user_id = app.user_id()%' or p.with_check not like '%user_id = app.user_id()%')
                  -- What a tenant gives to all of its users, and says to models for them; of webhooks, that there is one.
                  and not (p.policyname = 'shared' and p.cmd = 'SELECT'
                           and p.tablename in ('library_texts', 'library_releases', 'library_vectors', 'directives',
                                               'webhooks')))
          -- For the owner's own functions, which sum up what all users used; nobody can become the owner.
          and not (p.policyname = 'rolls_up' and p.roles = array['knowhow_owner']::name[]
                   and p.tablename in ('usage_days', 'usage_events')
                   and p.qual = 'app.rolls_up()' and p.with_check = 'app.rolls_up()')
        union all
        select 'entries of the audit log can be removed before their time: the policy ''past_its_time'' is missing'
        where not exists (select from pg_policies p
                          where p.schemaname = 'public' and p.tablename = 'audit_log' and p.policyname = 'past_its_time'
                            and p.permissive = 'RESTRICTIVE' and p.cmd = 'DELETE'
                            and p.qual like '%at <%app.audit_days(tenant_id)%')
          and exists (select from pg_tables t where t.schemaname = 'public' and t.tablename = 'audit_log')
        union all
        select format('the role ''%s'' must be neither superuser nor bypass row-level security', r.rolname)
        from pg_roles r
        where r.rolname in ('knowhow_owner', 'knowhow_tenant', 'knowhow_admin', 'knowhow_system', 'knowhow_queue')
          and (r.rolsuper or r.rolbypassrls)
        union all
        select format('the view ''%s'' is readable and not under row-level security: drop it', c.relname)
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace,
        lateral aclexplode(c.relacl) a
        join pg_roles g on g.oid = a.grantee
        where n.nspname = 'public' and c.relkind in ('v', 'm') and g.rolname in ('knowhow_tenant', 'knowhow_admin')
          and not coalesce('security_invoker=true' = any (c.reloptions), false)"#
    )
    .fetch_all(conn)
    .await
    .map_err(refuse)
}

/// Returns a description of missing or changed migrations; `None` if the schema is up to date.
pub async fn inspect_migrations(db: &Database) -> Result<Option<String>> {
    let mut tx = SystemTx::begin(db, "boot.inspect_migrations").await?;
    let applied = match migrate::list_applied(tx.conn()).await {
        Ok(applied) => applied,
        Err(Error::Internal(_)) => return Ok(Some("the schema is missing: run knowhow migrate".into())),
        Err(other) => return Err(other),
    };
    let queue = queue::inspect(&mut tx).await?;
    tx.commit().await?;
    Ok(migrate::compare(&applied).or(queue))
}
