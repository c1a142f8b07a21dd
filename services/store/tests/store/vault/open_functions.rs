//! Schemas, functions and roles that are open to the service.

use super::catalogue::{VIEWS, assert_none, texts};
use crate::harness::Place;

/// Functions that run as their owner, each with the reason why it does not bypass the policies.
const DEFINER_FUNCTIONS: &[(&str, &str)] = &[
    (
        "app.digest_entries(uuid,uuid,uuid,integer)",
        "the system role alone may call it; it tells digests and counts of what that role may count itself",
    ),
    (
        "app.drop_partitions(date)",
        "the system role alone may call it; it drops months that are empty and were over 60 days before a day, and says how many",
    ),
    ("app.enqueue(text,jsonb,text)", "its job is the running transaction's own tenant's and user's"),
    ("app.enqueue(text,jsonb,text,boolean)", "the same"),
    (
        "app.enqueue_for(uuid,uuid,text,jsonb,text)",
        "the system role alone may call it; it adds a job and shows nothing",
    ),
    ("app.enqueue_for(uuid,uuid,text,jsonb,text,boolean)", "the same"),
    ("app.ensure_partitions(date)", "the system role alone may call it; it makes tables that nobody has a grant on"),
    ("app.erase_step(uuid,uuid,integer)", "the system role alone may call it; it removes rows of whom the ledger says"),
    ("app.is_sealed(text,jsonb)", "the system role alone may call it; it says yes or no of what its caller shows"),
    ("app.look_at_partitions(date)", "the system role alone may call it; it tells how many months there are"),
    ("app.require_here()", "it tells whether the running transaction's own tenant lives here"),
    ("app.shown_actor(text)", "it tells the name of a user of the running tenant to who shows that user's id"),
    ("app.shown_user(text)", "the same"),
    (
        "app.sum_up_step(date,integer,uuid,uuid)",
        "the system role alone may call it; it sums up rows of each user by itself and tells how many, and whose were the last",
    ),
    ("app.tables_to_take()", "an admin may call it; it tells names of tables"),
];

#[tokio::test]
async fn schemas_are_open_only_to_the_services_roles() {
    let schemas = "
        select n.nspname || ' ' || case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end || ': '
               || string_agg(lower(a.privilege_type), ', ' order by a.privilege_type)
        from pg_namespace n, lateral aclexplode(n.nspacl) a
        where n.nspname in ('public', 'app', 'graphile_worker') and a.grantee <> n.nspowner
          -- Another test's, at this moment.
          and not exists (select from pg_roles r where r.oid = a.grantee and r.rolname like 'knowhow_test_%')
        group by n.nspname, a.grantee
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, schemas).await,
        [
            "app knowhow_admin: usage",
            "app knowhow_login: usage",
            "app knowhow_system: usage",
            "app knowhow_tenant: usage",
            "graphile_worker knowhow_admin: usage",
            "graphile_worker knowhow_queue: usage",
            "graphile_worker knowhow_system: usage",
            "public PUBLIC: usage",
            "public knowhow_admin: usage",
            "public knowhow_login: usage",
            "public knowhow_owner: create, usage",
            "public knowhow_system: usage",
            "public knowhow_tenant: usage",
        ]
    );
}

/// Returns the functions that a role may call.
async fn functions_of(role: &str) -> Vec<String> {
    let functions = format!(
        "select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = 'app'::regnamespace and has_function_privilege('{role}', p.oid, 'execute')
        order by 1"
    );
    texts(&mut Place::shared().await.owner().await, &functions).await
}

#[tokio::test]
async fn few_functions_are_open_to_users() {
    assert_eq!(
        functions_of("knowhow_tenant").await,
        [
            "app.added_passages(uuid,integer,integer)",
            "app.admit(boolean,boolean)",
            "app.character_of(text)",
            "app.clear_deleted(uuid,uuid,timestamp with time zone,integer)",
            "app.current_lesson(text,timestamp with time zone)",
            "app.decoded(bytea)",
            "app.decoded_utf16(bytea,integer)",
            "app.enqueue(text,jsonb,text)",
            "app.enqueue(text,jsonb,text,boolean)",
            "app.find_session(text)",
            "app.find_taint(text[])",
            "app.folded(text)",
            "app.follow_text(uuid,text,text[],boolean,text,boolean,text)",
            "app.forget_versions(uuid,uuid,uuid[],integer[])",
            "app.has_tainted(bigint[])",
            "app.is_tainted(text)",
            "app.keep_passages(bigint[],uuid,integer)",
            "app.mark_copies(timestamp with time zone)",
            "app.mark_if_copied(uuid,timestamp with time zone)",
            "app.mark_session(uuid,text[],timestamp with time zone)",
            "app.mark_skill(uuid)",
            "app.mark_submissions(uuid)",
            "app.merge_some(text[],text[])",
            "app.most_compared()",
            "app.no_context()",
            "app.open_rows(text)",
            "app.origin(integer)",
            "app.passage(bytea)",
            "app.passages(bytea)",
            "app.put_back(jsonb,text)",
            "app.require_here()",
            "app.require_written(uuid)",
            "app.seen_passages(text)",
            "app.shown_actor(text)",
            "app.shown_user(text)",
            "app.spread_in_skill(uuid)",
            "app.submitted_passages(uuid)",
            "app.tenant_id()",
            "app.unescaped(text)",
            "app.user_id()",
            "app.weigh(text[],boolean,text[],text[],bytea[],bytea[],bytea,bytea[],uuid,integer)",
            "app.window_passages(text)",
            "app.without_punctuation(text,text)",
            "app.zone(text)",
        ]
    );
}

#[tokio::test]
async fn few_functions_are_open_to_the_system() {
    assert_eq!(
        functions_of("knowhow_system").await,
        [
            "app.audit_days(uuid)",
            "app.clear_deleted(uuid,uuid,timestamp with time zone,integer)",
            "app.digest_entries(uuid,uuid,uuid,integer)",
            "app.drop_partitions(date)",
            "app.enqueue_for(uuid,uuid,text,jsonb,text)",
            "app.enqueue_for(uuid,uuid,text,jsonb,text,boolean)",
            "app.ensure_partitions(date)",
            "app.erase_step(uuid,uuid,integer)",
            "app.flag_setting(jsonb,boolean)",
            "app.forget_versions(uuid,uuid,uuid[],integer[])",
            "app.is_reflected(text,integer,timestamp with time zone,timestamp with time zone)",
            "app.is_sealed(text,jsonb)",
            "app.look_at_partitions(date)",
            "app.no_context()",
            "app.origin(integer)",
            "app.require_here()",
            "app.retention_days(jsonb,integer,integer)",
            "app.sum_up_step(date,integer,uuid,uuid)",
            "app.tenant_id()",
            "app.user_id()",
            "app.whole_setting(jsonb,integer,integer)",
            "app.zone(text)",
        ]
    );
}

#[tokio::test]
async fn policies_cannot_be_bypassed() {
    // Views and materialized views run as their owner by default. Partitions have separate policies, which other
    // tests compare, and are read only through their table.
    let parts = "select inhrelid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where c.relkind = 'r' and (i.inhparent <> 'usage_events'::regclass or c.relacl is distinct from null
            and exists (select from aclexplode(c.relacl) a where a.grantee <> c.relowner))";
    assert_none(parts).await;
    let views = "select c.relname::text from pg_class c
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and 'security_invoker=true' = any (c.reloptions)
         order by 1";
    assert_eq!(texts(&mut Place::shared().await.owner().await, views).await, VIEWS);
    assert_none(
        "select c.relname || ' ' || c.relkind::text from pg_class c
         where c.relnamespace in ('public'::regnamespace, 'app'::regnamespace)
           and (c.relkind in ('v', 'm', 'f') or c.relkind = 'p' and c.relname <> 'usage_events')
           and not (c.relkind = 'v' and 'security_invoker=true' = any (coalesce(c.reloptions, '{}')))
           and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')",
    )
    .await;
    assert_none(
        "select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace in ('public'::regnamespace, 'app'::regnamespace)
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
           -- A body of standard SQL was resolved when the function was made.
           and p.prosqlbody is null
           and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')",
    )
    .await;
    let definers = "select p.oid::regprocedure::text from pg_proc p
         where p.prosecdef and p.pronamespace in ('public'::regnamespace, 'app'::regnamespace)
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1";
    let excused: Vec<&str> = DEFINER_FUNCTIONS.iter().map(|(function, _)| *function).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, definers).await, excused);
    assert!(DEFINER_FUNCTIONS.iter().all(|(_, reason)| !reason.is_empty()));
    assert_none(
        "select t.tgname::text from pg_trigger t join pg_class c on c.oid = t.tgrelid
         where c.relnamespace = 'public'::regnamespace and not t.tgisinternal",
    )
    .await;
    assert_none("select evtname::text from pg_event_trigger").await;
}

#[tokio::test]
async fn roles_have_only_the_granted_rights() {
    let roles = "
        select rolname || concat(
            case when rolcanlogin then ' login' end, case when rolinherit then ' inherit' end,
            case when rolsuper then ' superuser' end, case when rolbypassrls then ' bypassrls' end,
            case when rolcreaterole then ' createrole' end, case when rolcreatedb then ' createdb' end,
            case when rolreplication then ' replication' end)
        from pg_roles where rolname in ('knowhow_owner', 'knowhow_login', 'knowhow_tenant', 'knowhow_admin', 'knowhow_system',
                                            'knowhow_queue')
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, roles).await,
        ["knowhow_admin", "knowhow_login login", "knowhow_owner", "knowhow_queue", "knowhow_system", "knowhow_tenant"]
    );
    // Each migrated database of this server grants the memberships again, so they may occur more than once.
    let memberships = "
        select distinct m.member::regrole::text || ' in ' || m.roleid::regrole::text
               || concat(case when m.inherit_option then ' inherit' end, case when m.set_option then ' set' end,
                         case when m.admin_option then ' admin' end)
        from pg_auth_members m
        where m.member in ('knowhow_owner'::regrole, 'knowhow_login'::regrole, 'knowhow_tenant'::regrole,
                           'knowhow_admin'::regrole, 'knowhow_system'::regrole, 'knowhow_queue'::regrole)
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, memberships).await,
        [
            "knowhow_login in knowhow_admin set",
            "knowhow_login in knowhow_queue set",
            "knowhow_login in knowhow_system set",
            "knowhow_login in knowhow_tenant set"
        ]
    );
    let timeout = "select unnest(setconfig) from pg_db_role_setting where setrole = 'knowhow_login'::regrole";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, timeout).await,
        ["idle_in_transaction_session_timeout=10s"]
    );
}

#[tokio::test]
async fn everything_belongs_to_the_owner_role() {
    assert_none(
        "select c.relname::text from pg_class c
         where c.relnamespace in ('public'::regnamespace, 'app'::regnamespace, 'graphile_worker'::regnamespace)
           and c.relkind in ('r', 'S', 'v')
           and c.relname <> '_sqlx_migrations' and c.relowner <> 'knowhow_owner'::regrole
         union all
         select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace = 'app'::regnamespace and p.proowner <> 'knowhow_owner'::regrole",
    )
    .await;
}
